import { eq, sql } from 'drizzle-orm'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { users } from '../../db/accounts/users.ts'
import { addBook } from '../fixtures/books.ts'
import { createFetch } from '../fixtures/http.ts'
import { serveWithLog } from '../fixtures/logged-server.ts'
import { startService } from '../fixtures/marks-service.ts'
import { PATIENCE } from '../fixtures/patience.ts'

const service = await startService()
const { db } = service.services
const { lines, origin } = await serveWithLog(service.services, 'info')
const call = createFetch({ origin })
const bookId = await addBook(service)

const errors = () =>
  lines.map((line) => JSON.parse(line) as { level: number }).filter(({ level }) => level >= 50)
afterEach(() => {
  lines.length = 0
})

const isWaiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`

async function person() {
  const cookie = await service.signIn(`${crypto.randomUUID()}@example.com`)
  const { id } = await service.client({ cookie }).account.get()
  return { id, post: (path: string, body: object) => call('POST', path, body, { cookie }) }
}

const internalError = {
  status: 500,
  body: { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' },
}

describe('a change whose row refers to a missing row', () => {
  test('is an internal error, and the log names the constraint', async () => {
    const { post } = await person()

    expect(await post('/api/marks', { bookId: 'no-such-book' })).toMatchObject(internalError)

    expect(errors()).toMatchObject([{ procedure: 'marks.borrow', err: { code: '23503' } }])
    expect(lines.join()).toContain('loans_book_id_books_id_fk')
    expect(lines.join()).not.toContain('no-such-book')
  })

  test('is an internal error if the row refers to another account that is missing', async () => {
    const { post } = await person()

    expect(await post('/api/marks', { bookId, userId: 'nobody' })).toMatchObject(internalError)
  })

  test('is an internal error if other rows refer to the row that it deletes', async () => {
    const { post } = await person()
    await post('/api/marks', { bookId })

    expect(await post('/api/marks/discard', { bookId })).toMatchObject(internalError)
  })

  test('is 401 if the account of the caller was deleted during the call', async () => {
    const { id, post } = await person()
    // The foreign key waits for the uncommitted deletion of the account.
    const borrowed = await db.transaction(async (tx) => {
      await tx.delete(users).where(eq(users.id, id))
      const answer = post('/api/marks', { bookId })
      await vi.waitFor(async () => {
        expect(await db.execute(isWaiting)).toHaveLength(1)
      }, PATIENCE)
      return { answer }
    })

    expect(await borrowed.answer).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    expect(errors()).toEqual([])
  })
})
