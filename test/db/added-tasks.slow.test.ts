import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'

import { createTallystick } from '../../src/testing.ts'
import { texts } from '../../engine/test/fixtures/texts.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const server = await startService()
const embedded = await createTallystick({ DATABASE_URL: 'memory:' })
afterAll(() => embedded.close())

describe.each([
  ['a server', server],
  ['the embedded database', embedded],
])('on %s', (_, { person }) => {
  test('tasks that are added together come back to their own callers, with consecutive ids', async () => {
    const people = await Promise.all([person(newEmail()), person(newEmail())])
    const added = fc.record({
      caller: fc.constantFrom(...people),
      taskTitle: texts,
      taskDesc: fc.option(texts, { nil: undefined }),
    })

    const law = fc.asyncProperty(fc.array(added, { minLength: 1, maxLength: 80 }), async (all) => {
      const tasks = await Promise.all(all.map(({ caller, ...task }) => caller.tasks.create(task)))

      expect(tasks.map(({ title, description }) => ({ title, description }))).toEqual(
        all.map(({ taskTitle, taskDesc = null }) => ({ title: taskTitle, description: taskDesc })),
      )
      const ids = tasks.map(({ id }) => id).sort((a, b) => a - b)
      expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index))
    })

    await fc.assert(law, { numRuns: 20 })
  })
})
