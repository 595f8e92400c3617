import { eq, getTableColumns, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'

import { users } from '../../db/accounts/users.ts'
import { createTallystick, newEmail, startService } from '../fixtures/service.ts'
import { shelfRows, shelves } from '../library/db.ts'

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
    await ada.shelves.create({ name: 'Name' })
    await ada.shelves.create({ name: 'Ünïcode 🙂' })
    const decode = vi.spyOn(shelves.createdAt, 'mapFromDriverValue')
    const select = () =>
      db
        .select({ upper: sql<string>`upper(${shelves.name})`.as('upper'), ...getTableColumns(shelves) })
        .from(shelves)

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
      await db.delete(shelves).where(eq(shelves.userId, user.id))
      const values = times.map((createdAt) => ({ userId: user.id, name: 'Name', createdAt }))
      const inserted = await db.insert(shelves).values(values).returning()
      const listed = await shelfRows.list(db, user, { limit: 1000 })

      const createdAt = new Map(listed.map((shelf) => [shelf.id, shelf.createdAt]))
      expect(inserted.map(({ id }) => createdAt.get(id))).toEqual(times)
    }),
    { numRuns: 20 },
  )
  await tallystick.close()
})
