import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'

import { addBook } from '../fixtures/books.ts'
import { createTallystick, newEmail, startService } from '../fixtures/service.ts'
import { texts } from '../fixtures/texts.ts'

const server = await startService()
const embedded = await createTallystick({ DATABASE_URL: 'memory:' })
afterAll(() => embedded.close())

describe.each([
  ['a server', server],
  ['the embedded database', embedded],
])('on %s', (_, { services, person }) => {
  test('texts come back as they were sent, also after a failed statement', async () => {
    const ada = await person(newEmail())
    const shelf = await ada.shelves.create({ name: '\ufeff' })
    expect(shelf.name).toBe('\ufeff')
    const bookId = await addBook({ services })
    await expect(services.db.execute(sql`select 1 / 0`)).rejects.toThrow()

    const law = fc.asyncProperty(texts, async (text) => {
      const { name } = await ada.shelves.create({ name: text })
      const { id, remark } = await ada.loans.create({ bookId, remark: text })
      expect({ name, remark }).toEqual({ name: text, remark: text })
      expect(await ada.loans.get({ id })).toMatchObject({ remark: text })
    })

    await fc.assert(law, { numRuns: 50 })
  })

  test('live updates contain texts as they were sent', async () => {
    const ada = await person(newEmail())
    const { id } = await ada.shelves.create({ name: 'Old' })
    const updates = await ada.live.watch({ topics: ['shelves'] })
    await updates.next()

    await ada.shelves.rename({ id, name: '\ufeffNew' })

    const { value } = await updates.next()
    expect(value).toMatchObject({ topic: 'shelves', state: { shelves: [{ name: '\ufeffNew' }] } })
    await updates.return()
  })
})
