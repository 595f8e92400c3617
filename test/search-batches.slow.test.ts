import { PGlite } from '@electric-sql/pglite'
import { ilike, sql } from 'drizzle-orm'
import { pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/pglite'
import fc from 'fast-check'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { pages } from '../contract/client.ts'
import { notes } from '../db/notes.ts'
import { tasks } from '../db/tasks.ts'
import type { Database } from '../engine/db/connection/database.ts'
import { containsText, searchPattern } from '../engine/db/search.ts'
import { createFetch } from '../engine/test/fixtures/http.ts'
import { newEmail, startService } from './fixtures/service.ts'

const service = await startService()
const call = createFetch(service)
const { db } = service.services

async function person() {
  const cookie = await service.signIn(newEmail())
  const client = service.client({ cookie })
  return { cookie, client, userId: (await client.account.get()).id }
}

// The first statement of a process also opens the connection.
beforeAll(async () => {
  const { client } = await person()
  await Promise.all([client.tasks.list({ q: 'milk' }), client.notes.list({ q: 'milk' })])
})

/** More rows than the first batches of a search have. Many rows have the same time. */
const ROWS = 700

describe('a search of more rows than one batch', () => {
  const isMatch = (number: number) => number % 7 === 0 || (number > 300 && number < 330)
  const titleOf = (number: number) => (isMatch(number) ? `Milk ${number}` : `Bread ${number}`)
  const numbers = Array.from({ length: ROWS }, (_, number) => number)
  /** The titles of the matches in the order of the list: newest first. */
  const expected = numbers.filter(isMatch).map(titleOf).reverse()
  const timeOf = (number: number) => new Date(1_700_000_000_000 + Math.floor(number / 90) * 1000)

  test.each([1000, 100, 40, 7])('of tasks has the same pages of %d, with the same total', async (limit) => {
    const { client, userId } = await person()
    const rows = numbers.map((number) => ({ userId, title: titleOf(number), createdAt: timeOf(number) }))
    await db.insert(tasks).values(rows)

    const found: string[][] = []
    for await (const page of pages(client.tasks.list, { q: 'mILK', limit })) {
      expect(page.taskCount).toBe(expected.length)
      found.push(page.tasks.map(({ title }) => title))
    }

    expect(found.flat()).toEqual(expected)
    expect(found.map(({ length }) => length)).toEqual(
      Array.from({ length: Math.ceil(expected.length / limit) }, (_, index) =>
        Math.min(limit, expected.length - index * limit),
      ),
    )
  })

  test('of notes has the same pages', async () => {
    const { client, userId } = await person()
    const rows = numbers.map((number) => ({
      uuid: crypto.randomUUID(),
      userId,
      title: titleOf(number),
      body: '',
      createdAt: timeOf(number),
    }))
    await db.insert(notes).values(rows)

    const found: string[] = []
    for await (const page of pages(client.notes.list, { q: 'milk', limit: 30 }))
      found.push(...page.notes.map(({ title }) => title))

    expect(found).toEqual(expected)
  })

  test('ends each page before 1 MiB of texts', async () => {
    const { client, userId } = await person()
    const description = 'x'.repeat(9900)
    const rows = numbers.slice(0, 300).map((number) => ({ userId, title: titleOf(number), description }))
    await db.insert(tasks).values(rows)

    const counts: number[] = []
    for await (const { tasks, taskCount } of pages(client.tasks.list, { q: 'X' })) {
      expect(JSON.stringify(tasks).length).toBeLessThan(1.1 * 2 ** 20)
      expect(taskCount).toBe(300)
      counts.push(tasks.length)
    }

    expect(counts).toEqual([105, 105, 90])
  })
})

test('a search that takes longer than a second is refused, and the next search works', async () => {
  const { cookie, client, userId } = await person()
  await db.insert(tasks).values(Array.from({ length: 60 }, () => ({ userId, title: 'Bread' })))
  const connection = postgres(service.databaseUrl, { max: 1 })
  const answer = await connection.begin(async (tx) => {
    await tx`lock table tasks in access exclusive mode`
    const answer = call('GET', '/api/tasks?q=milk', undefined, { cookie })
    // Longer than the work that a search may cause. The first batch waits for the lock.
    await tx`select pg_sleep(1.2)`
    return { answer }
  })
  await connection.end()

  expect(await answer.answer).toMatchObject({
    status: 400,
    body: {
      code: 'SEARCH_TOO_LONG',
      defined: false,
      message: 'The search takes too long: use a longer or another text',
    },
  })
  expect(await client.tasks.list({ q: 'milk' })).toEqual({ tasks: [], taskCount: 0 })
})

describe('the condition of a search selects the same texts as ILIKE', () => {
  const { x } = pgTable('texts', { x: text() })
  const compare = (database: Database) =>
    database
      .select({ found: containsText([x]), expected: ilike(x, sql.placeholder('pattern')) })
      .from(sql`(select ${sql.placeholder('value')}::text as x) as texts`)
      .prepare('compare')
  const embedded = new PGlite()
  afterAll(() => embedded.close())
  const characters = Array.from('aAzZ%_\\ äÄßẞıIiİσςΣǅǆÅåKkﬁжЖ👍\u0301')
  const unit = fc.constantFrom(...characters)

  test.each([
    ['a server', compare(db)],
    ['the embedded database', compare(drizzle(embedded))],
  ])('in %s', async (_, statement) => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit, maxLength: 8 }),
        fc.string({ unit, minLength: 1, maxLength: 3 }),
        async (value, q) => {
          const [row] = await statement.execute({ value, q, pattern: searchPattern(q) })

          expect(row?.found).toBe(row?.expected)
        },
      ),
      { numRuns: 1000 },
    )
  })
})
