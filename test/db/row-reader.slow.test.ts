import { getTableColumns, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'

import { users } from '../../engine/db/users.ts'
import { clear, list, tasks } from '../../db/tasks.ts'
import { createTallystick } from '../../src/testing.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const server = await startService()

const databases = [
  ['a server', () => Promise.resolve({ ...server, close: () => Promise.resolve() })],
  ['the embedded database', () => createTallystick({ DATABASE_URL: 'memory:' })],
] as const

test.each(databases)(
  'a prepared statement on %s returns the same rows as an unprepared statement',
  async (_, open) => {
    const tallystick = await open()
    const { db } = tallystick.services
    const ada = await tallystick.person(newEmail())
    await ada.tasks.create({ taskTitle: 'Title' })
    await ada.tasks.create({ taskTitle: 'Ünïcode 🙂', taskDesc: 'Text' })
    const decode = vi.spyOn(tasks.createdAt, 'mapFromDriverValue')
    const select = () =>
      db
        .select({ task: sql<string>`upper(${tasks.title})`.as('upper'), ...getTableColumns(tasks) })
        .from(tasks)

    const prepared = await select().prepare('row_reader').execute()

    expect(prepared).toHaveLength(2)
    expect(prepared).toEqual(await select())
    expect(prepared[0]?.createdAt).toBeInstanceOf(Date)
    expect(decode).toHaveBeenCalledTimes(4)
    decode.mockRestore()
    await tallystick.close()
  },
)

test.each(databases)('a list on %s returns each time exactly', async (_, open) => {
  const tallystick = await open()
  const { db } = tallystick.services
  const user = { id: crypto.randomUUID(), name: '', email: newEmail() }
  await db.insert(users).values(user)
  const time = fc.date({ min: new Date(-1e12), max: new Date('9999-12-30'), noInvalidDate: true })

  await fc.assert(
    fc.asyncProperty(fc.array(time, { minLength: 1, maxLength: 500 }), async (times) => {
      await clear(db, user.id)
      const values = times.map((createdAt) => ({ userId: user.id, title: 'Title', createdAt }))
      const inserted = await db.insert(tasks).values(values).returning()
      const listed = await list(db, user.id, { limit: 1000 })

      const createdAt = new Map(listed.map((task) => [task.id, task.createdAt]))
      expect(inserted.map(({ id }) => createdAt.get(id))).toEqual(times)
    }),
    { numRuns: 20 },
  )
  await tallystick.close()
})
