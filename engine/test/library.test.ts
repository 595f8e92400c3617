import { eq } from 'drizzle-orm'
import { createRestClient, creating, responseSchemas } from 'tallystick-contract'
import { defineApp } from 'tallystick'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'

import { users } from '../db/accounts/users.ts'
import type { Items } from '../call/items.ts'
import { createDocument } from '../openapi/document.ts'
import { app } from './library/app.ts'
import { books } from './library/books.ts'
import { type Client, contract } from './library/contract.ts'
import * as query from './library/db.ts'
import { loans } from './library/loans.ts'
import { shelves } from './library/shelves.ts'
import { visits } from './library/visits.ts'

const library = await createTallystick(app, { RATE_LIMITS: 'on' })
const origin = await library.listen()
const { db } = library.services
afterAll(() => library.close())

async function administrator() {
  const email = `${crypto.randomUUID()}@example.com`
  const person = await library.person(email)
  await db.update(users).set({ role: 'admin' }).where(eq(users.email, email))
  return person
}

async function addBook(copies: number, id = crypto.randomUUID()) {
  await (await administrator()).books.create({ id, title: 'A book', copies })
  return id
}

/** Reads the first states of topics, and the next states after a change. The order of the topics is not defined. */
async function statesAfter(
  person: Client,
  topics: ('books' | 'loans' | 'shelves' | 'visits')[],
  change: () => Promise<unknown>,
) {
  const stream = await person.live.watch({ topics })
  const read = async () => {
    const result = await stream.next()
    if (result.done) throw new Error('The stream has ended')
    return [result.value.topic, result.value.state] as const
  }
  for (const _ of topics) await read()
  await change()
  const states = new Map<string, unknown>()
  while (topics.some((topic) => !states.has(topic))) states.set(...(await read()))
  await stream.return()
  return Object.fromEntries(states)
}

describe('a public resource', () => {
  test('changes for all callers, and has a limit by network', async () => {
    const statuses: number[] = []
    for (let count = 0; count < 4; count++)
      statuses.push((await fetch(`${origin}/api/visits/add`, { method: 'POST' })).status)

    expect(statuses).toEqual([200, 200, 200, 429])
    expect(await library.stranger.visits.get()).toEqual({ count: 3 })
  })

  test('answers a Datastar page with a patch', async () => {
    const answer = await fetch(`${origin}/api/visits`, { headers: { 'datastar-request': 'true' } })

    expect(await answer.text()).toContain('elements <output>')
  })
})

describe('a resource for administrators', () => {
  test('can be read by all callers, and changed by administrators', async () => {
    const id = await addBook(1)
    const ada = await library.person()

    expect(await library.stranger.books.get({ id })).toMatchObject({ id, lent: 0 })
    await expect(ada.books.update({ id, copies: 5 })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await (await administrator()).books.update({ id, copies: 5 })).toMatchObject({ copies: 5 })
  })

  test('has an entity tag without an action', async () => {
    const id = await addBook(1)
    const root = await administrator()
    const headers = { 'if-match': '"1"' }
    const update = (copies: number) => root.books.update({ id, copies }, { context: { headers } })

    expect(await update(2)).toMatchObject({ copies: 2 })
    await expect(update(3)).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' })
  })

  test.each(['..', 'none', ''])('has text ids, and an id cannot become another path: %o', async (id) => {
    const client = createRestClient(contract, origin)

    await expect(client.books.get({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a resource with an owner', () => {
  test('updates two topics in one operation, one of them public', async () => {
    const bookId = await addBook(1)
    const ada = await library.person()

    const states = await statesAfter(ada, ['loans', 'books'], () => ada.loans.create({ bookId }))

    expect(states).toMatchObject({
      loans: { loans: [{ bookId, title: 'A book' }] },
      books: { books: expect.arrayContaining([expect.objectContaining({ id: bookId, lent: 1 })]) as unknown },
    })
  })

  test('limits the bytes of a list that joins tables', async () => {
    const bookId = await addBook(1)
    const email = `${crypto.randomUUID()}@example.com`
    const ada = await library.person(email)
    const { id: userId } = await ada.account.get()
    const remark = 'x'.repeat(2000)
    await db.insert(query.loans).values(Array.from({ length: 600 }, () => ({ userId, bookId, remark })))
    const reply = new Map<string, string | string[]>()

    const page = await ada.loans.list({ bookId }, { context: { reply } })

    const bytes = 2000 + 'A book'.length + bookId.length
    expect(page.loans).toHaveLength(Math.floor((1024 * 1024) / bytes))
    expect(reply.get('link')).toContain(`/api/loans?bookId=${bookId}&limit=1000&cursor=`)
  })

  test('lends no more copies than there are, with data in the error', async () => {
    const bookId = await addBook(2)
    const people = await Promise.all([1, 2, 3, 4].map(() => library.person()))

    const results = await Promise.allSettled(people.map((person) => person.loans.create({ bookId })))

    const refused = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    )
    const noCopy = expect.objectContaining({ code: 'NO_COPY', data: { copies: 2 } }) as unknown
    expect(refused).toEqual([noCopy, noCopy])
  })
})

describe('a resource with roles', () => {
  test('permits an editor to rename and a reader to read, and shows the permissions', async () => {
    const [ada, email] = [await library.person(), `${crypto.randomUUID()}@example.com`]
    const bob = await library.person(email)
    const { id } = await ada.shelves.create({ name: 'To read' })

    await ada.shelves.share({ id, email, role: 'reader' })
    await expect(bob.shelves.rename({ id, name: 'Mine' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await ada.shelves.share({ id, email, role: 'editor' })

    expect(await bob.shelves.rename({ id, name: 'Ours' })).toEqual({
      id,
      name: 'Ours',
      isOwn: false,
      can: { RENAME_SHELF: true, SHARE_SHELF: false },
    })
  })

  test('updates the topic of the people who share the item', async () => {
    const [ada, email] = [await library.person(), `${crypto.randomUUID()}@example.com`]
    const bob = await library.person(email)
    const { id } = await ada.shelves.create({ name: 'To read' })
    await ada.shelves.share({ id, email, role: 'reader' })

    const states = await statesAfter(bob, ['shelves'], () => ada.shelves.rename({ id, name: 'Read' }))

    expect(states).toMatchObject({ shelves: { shelves: [{ name: 'Read', isOwn: false }] } })
  })
})

describe('an application', () => {
  const { resources: _, router: __, ...definition } = app
  const all = { visits, books, loans, shelves }

  const withoutExport = { ...all, loans: { ...loans, personalData: undefined } }
  const withExport = { ...all, visits: { ...visits, personalData: loans.personalData } }
  const confused = { ...all, loans: { ...loans, procedures: visits.procedures } }
  const permissions = { owner: ['EDIT_LOAN'] }

  // The compiler reports each mistake: without the mistake, the comment would be an error.
  test.each<[string, () => unknown]>([
    // @ts-expect-error Property 'shelves' is missing
    ['a missing resource', () => defineApp({ ...definition, resources: { visits, books, loans } })],
    // @ts-expect-error The property 'personalData' is undefined
    ['a missing part of the export', () => defineApp({ ...definition, resources: withoutExport })],
    // @ts-expect-error The property 'personalData' is not assignable to 'undefined'
    ['a needless part of the export', () => defineApp({ ...definition, resources: withExport })],
    // @ts-expect-error The procedures have other contracts
    ['procedures of another resource', () => defineApp({ ...definition, resources: confused })],
    // @ts-expect-error Property 'findRelation' is missing
    ['permissions without a relation', () => ({ permissions }) satisfies Items],
    // @ts-expect-error The text is not a topic
    ['a topic by its name', () => creating(['books'])],
  ])('cannot contain %s: the compiler reports the mistake', (_, define) => {
    expect(define).toBeTypeOf('function')
  })

  test('documents no schema of another application in the process', async () => {
    z.object({ foreign: z.string() }).register(responseSchemas, { id: 'Foreign', example: { foreign: '' } })

    const { components } = await createDocument(app, origin)

    expect(Object.keys(components?.examples ?? {})).toEqual(
      expect.arrayContaining(['Book', 'ShareShelf', 'AccountExport']),
    )
    expect(JSON.stringify(components)).not.toContain('Foreign')
  })

  test('is complete', () => {
    expect(defineApp({ ...definition, resources: all }).id).toBe('test-library')
  })
})
