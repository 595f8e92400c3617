import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { type CallContext, type Client, pages } from '../../contract/client.ts'
import { notes, shares } from '../../db/notes.ts'
import { sessions } from '../../engine/db/accounts/sessions.ts'
import { tasks } from '../../db/tasks.ts'
import { describeTransports, newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const { db } = service.services

/** Maximum total size of the texts on a page, in bytes of JSON. Equal to the limit in engine/db/pagination.ts. */
const PAGE_BYTES = 1024 * 1024

interface Person {
  id: string
  email: string
}

type Shown = Record<'id' | 'title' | 'description' | 'body' | 'text', string> & { userAgent: string | null }

/**
 * A list procedure. `of` returns the procedure from a client. `add` inserts one row for each number in `sizes`, with
 * texts of that length. `texts` returns the texts of a row that count toward the size of a page.
 */
interface List {
  of: (
    client: Client,
  ) => (
    input: { limit?: number; cursor?: string } | undefined,
    options: { context: CallContext },
  ) => Promise<object>
  add: (person: Person, sizes: number[]) => Promise<unknown>
  texts: (row: Shown) => string[]
}

const author = await service.client({ cookie: await service.signIn(newEmail()) }).account.get()

/** Returns a text of this length. If the length is odd, all characters are control characters, with six bytes each in JSON. */
const textOf = (length: number) => (length % 2 === 0 ? 'x' : '\u0001').repeat(length)

const note = (userId: string, size: number) => ({
  uuid: crypto.randomUUID(),
  userId,
  title: 'x',
  body: textOf(size),
})

const lists: Record<string, List> = {
  'tasks.list': {
    of: (client) => client.tasks.list,
    add: ({ id: userId }, sizes) =>
      db.insert(tasks).values(sizes.map((size) => ({ userId, title: 'x', description: textOf(size) }))),
    texts: ({ title, description }) => [title, description],
  },
  'notes.list': {
    of: (client) => client.notes.list,
    add: async ({ id, email }, sizes) => {
      const rows = sizes.map((size, index) => note(index % 2 ? author.id : id, size))
      const added = await db.insert(notes).values(rows).returning()
      const given = added.filter(({ userId }) => userId === author.id)
      const shared = given.map(({ id }) => ({ noteId: id, email, role: 'reader' as const }))
      if (shared.length > 0) await db.insert(shares).values(shared)
    },
    texts: ({ title, body }) => [title, body],
  },
  'legacyNotes.list': {
    of: (client) => client.legacyNotes.list,
    add: ({ id }, sizes) => db.insert(notes).values(sizes.map((size) => note(id, size))),
    texts: ({ text }) => [text],
  },
  'sessions.list': {
    of: (client) => client.sessions.list,
    add: ({ id: userId }, sizes) =>
      db.insert(sessions).values(
        sizes.map((size) => {
          const [id, token] = [crypto.randomUUID(), crypto.randomUUID()]
          return { id, token, userId, userAgent: textOf(size), expiresAt: new Date(Date.now() + 1e6) }
        }),
      ),
    texts: ({ userAgent }) => [userAgent ?? ''],
  },
}

const rowsOf = (page: object) => Object.values(page).find(Array.isArray) as Shown[]
const countOf = (page: object) => Object.values(page).find((value) => typeof value === 'number') as unknown
/**
 * Returns the size of a row in bytes, as counted toward the size of a page. A row above the limit counts as exactly the
 * limit, because such a row has a page of its own.
 */
const bytes = (texts: string[]) =>
  Math.min(
    texts.map(bytesOf).reduce((sum, each) => sum + each, 0),
    PAGE_BYTES,
  )
const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2

describe.each(Object.entries(lists))('%s', (name, { of, add, texts }) => {
  describeTransports(service, ({ person }) => {
    test('ends a page before its texts exceed 1 MiB, and continues on the next page', async () => {
      const sizes = fc.array(
        fc.constantFrom(0, 100, 10_000, 60_001, 200_001, 300_000, 1_000_000, 1_100_000),
        {
          minLength: 1,
          maxLength: 8,
        },
      )

      await fc.assert(
        fc.asyncProperty(sizes, async (sizes) => {
          const ada = await person()
          const { id, email } = await ada.account.get()
          await add({ id, email }, sizes)

          const found: object[] = []
          for await (const page of pages(of(ada), {})) found.push(page)

          const all = found.flatMap(rowsOf)
          expect(new Set(all.map(({ id }) => id)).size).toBe(
            sizes.length + (name === 'sessions.list' ? 1 : 0),
          )
          for (const [index, page] of found.entries()) {
            const rows = rowsOf(page)
            const size = rows.reduce((sum, row) => sum + bytes(texts(row)), 0)
            expect(size).toBeLessThanOrEqual(PAGE_BYTES)
            expect(countOf(page) ?? all.length).toBe(all.length)
            // Verifies that the page is full: with the first row of the next page, its size would exceed the limit.
            const [next] = found.slice(index + 1).flatMap(rowsOf)
            if (next) expect(size + bytes(texts(next))).toBeGreaterThan(PAGE_BYTES)
          }
        }),
        { numRuns: 6 },
      )
    })
  })
})
