import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject, onTestFinished } from 'vitest'

/** The path of a bundled program: the service (`main`) or the command line (`cli`). */
export const pathOf = (program: 'main' | 'cli') => join(inject('bundle'), `${program}.js`)

/**
 * Runs the command line as a process, and returns the output. The environment of the process is PATH and `environment`.
 */
export const runCommand = (environment: Record<string, string>, ...words: string[]) =>
  promisify(execFile)(process.execPath, [pathOf('cli'), ...words], {
    env: { PATH: process.env.PATH, ...environment },
  }).catch((error: unknown) => error as { code: number; stdout: string; stderr: string })

/** Starts the command line as a process, waits until it listens, and kills it after the test. */
export async function startCommand(environment: Record<string, string>, ...words: string[]) {
  const child = spawn(process.execPath, [pathOf('cli'), ...words], {
    env: { PATH: process.env.PATH, ...environment },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, ...(await waitUntilListening(child)) }
}

/** Waits until a process logs that it listens, or until it exits. `output` returns the output of the process so far. */
export async function waitUntilListening(child: ChildProcessWithoutNullStreams) {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)))
  const exit = once(child, 'exit')
  while (!text.includes('listens on') && child.exitCode === null && child.signalCode === null)
    await Promise.race([once(child.stdout, 'data'), exit])
  return { output: () => text, exit }
}
