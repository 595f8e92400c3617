import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

import { temporaryDatabase, waitUntilListening } from '../fixtures/programs.ts'

const program = fileURLToPath(new URL('../../engine/test/fixtures/started-app.ts', import.meta.url))

async function start(environment: Record<string, string>) {
  const child = spawn(process.execPath, ['--import', 'tsx', program], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATABASE_URL: await temporaryDatabase('template0'),
      SERVICE: 'test',
      AUTH_SECRET: 'a'.repeat(32),
      ...environment,
    },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, ...(await waitUntilListening(child)) }
}

test('onStart runs before the service listens, and its function before the database closes', async () => {
  const { child, output, exit } = await start({})
  child.kill('SIGTERM')

  expect(await exit).toEqual([0, null])
  expect(output().match(/started test|listens on|stopped test/g)).toEqual([
    'started test',
    'listens on',
    'stopped test',
  ])
})

test('an error of onStart ends the start', async () => {
  const { output, exit } = await start({ FAIL: 'start' })

  expect(await exit).toEqual([1, null])
  expect(output()).toContain('no such queue')
  expect(output()).not.toContain('listens on')
})

test('an error of the function that onStart returned is logged', async () => {
  const { child, output, exit } = await start({ FAIL: 'stop' })
  child.kill('SIGTERM')

  expect(await exit).toEqual([0, null])
  expect(output()).toContain('no such lock')
})
