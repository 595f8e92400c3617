import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const code = `
import { freePort } from './engine/dev/testing/postgres.ts'
const ports = await Promise.all(Array.from({ length: 150 }, freePort))
console.log(JSON.stringify(ports))
process.stdin.resume()
`

/** Starts a process that requests ports, and keeps the process until `end`. */
function requestPorts() {
  const words = ['--import', 'tsx', '--input-type=module', '-e', code]
  const running = promisify(execFile)(process.execPath, words)
  const ports = new Promise<number[]>((resolve) =>
    running.child.stdout?.once('data', (line: string) => {
      resolve(JSON.parse(line) as number[])
    }),
  )
  return { ports, end: () => (running.child.stdin?.end(), running) }
}

test('two processes request no port twice, and no port after it', async () => {
  const processes = [requestPorts(), requestPorts()]

  const ports = (await Promise.all(processes.map(({ ports }) => ports))).flat()

  // 300 of 6000 ports at random would repeat some.
  expect(new Set(ports.flatMap((port) => [port, port + 1])).size).toBe(600)
  await Promise.all(processes.map(({ end }) => end()))
})
