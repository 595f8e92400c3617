import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

/**
 * Enqueues four callbacks in one iteration of the event loop. The second callback adds a callback that runs after the
 * flush. The third callback throws. `afterFlush` calls its callback immediately only outside a flush, so `direct` in
 * the output proves that the flush has ended.
 */
const script = `
  import { afterFlush, enqueueForTick } from './src/http/tick.ts'
  const ran = []
  process.on('uncaughtException', ({ message }) => ran.push(message))
  enqueueForTick(false, () => ran.push('first'))
  enqueueForTick(false, () => afterFlush(() => ran.push('after')))
  enqueueForTick(false, () => { throw new Error('error') })
  enqueueForTick(false, () => ran.push('last'))
  process.on('exit', () => {
    afterFlush(() => ran.push('direct'))
    process.stdout.write(ran.join(' '))
  })
`

describe('tick batching', () => {
  test('runs all other callbacks if one throws, and leaves batching mode', async () => {
    const run = promisify(execFile)

    const { stdout } = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])

    expect(stdout).toBe('first after error last direct')
  })
})
