import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

/**
 * Enqueues four requests in one iteration of the event loop. The second request enqueues an answer after a promise, like
 * the last request. The third request throws.
 */
const script = `
  import { enqueueAnswer, enqueueRequest } from './engine/http/server/connection.ts'
  const ran = []
  process.on('uncaughtException', ({ message }) => ran.push(message))
  const answer = async (text) => {
    await undefined
    ran.push('handled')
    enqueueAnswer(() => ran.push(text))
  }
  enqueueRequest(false, () => ran.push('first'))
  enqueueRequest(false, () => answer('second'))
  enqueueRequest(false, () => { throw new Error('error') })
  enqueueRequest(false, () => { answer('third'); answer('fourth') })
  process.on('exit', () => process.stdout.write(ran.join(' ')))
`

describe('tick batching', () => {
  test('runs all other callbacks if one throws, and writes answers that are ready together after them', async () => {
    const run = promisify(execFile)

    const { stdout } = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])

    expect(stdout).toBe('first error handled handled handled second third fourth')
  })
})
