import { inArray, sql, type SQL } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'

import { type CallContext, type Client, pages, safe } from '../contract/client.ts'
import { firstForm } from '../contract/legacy-notes.ts'
import { users } from '../engine/db/accounts/users.ts'
import { notes, shares } from '../db/notes.ts'
import { sessions } from '../engine/db/accounts/sessions.ts'
import { tasks } from '../db/tasks.ts'
import { createFetch } from '../engine/test/fixtures/http.ts'
import { describeTransports, newEmail, startService } from './fixtures/service.ts'

const service = await startService()
const { db } = service.services
const call = createFetch(service)

interface Person {
  id: string
  email: string
  cookie: string
}
type Moment = Date | SQL
type Id = number | string

/**
 * A list procedure: its REST path, a function that returns the procedure of a client (`of`), and functions that add,
 * change and remove rows in the database.
 */
interface List {
  path: string
  headers?: Record<string, string>
  of: (
    client: Client,
  ) => (
    input: { limit?: number; cursor?: string } | undefined,
    options: { context: CallContext },
  ) => Promise<object>
  /** Adds `count` rows with one statement. */
  add: (person: Person, count: number, at?: Moment) => Promise<unknown>
  change: (ids: Id[]) => Promise<unknown>
  remove: (ids: Id[]) => Promise<unknown>
}

const times = <Row>(count: number, make: (index: number) => Row) =>
  Array.from({ length: count }, (_, index) => make(index))
const join = (parts: string[]) => parts.join('.')
const note = (userId: string, createdAt?: Moment) => ({
  ...{ uuid: crypto.randomUUID(), userId, title: 'Title', body: 'Body' },
  ...(createdAt && { createdAt }),
})
await db.insert(users).values({ id: 'friend', name: '', email: 'friend@example.com' })

const lists: Record<string, List> = {
  'tasks.list': {
    path: '/api/tasks',
    of: (client) => client.tasks.list,
    add: ({ id }, count, createdAt) =>
      db
        .insert(tasks)
        .values(times(count, () => ({ userId: id, title: 'Task', ...(createdAt && { createdAt }) }))),
    change: (ids) =>
      db
        .update(tasks)
        .set({ title: 'New' })
        .where(inArray(tasks.id, ids.map(Number))),
    remove: (ids) => db.delete(tasks).where(inArray(tasks.id, ids.map(Number))),
  },
  'notes.list': {
    path: '/api/notes',
    of: (client) => client.notes.list,
    // Every second note belongs to another person. This person shares the note with the caller.
    add: async ({ id, email }, count, at) => {
      const rows = times(count, (index) => note(index % 2 ? 'friend' : id, at))
      const added = await db.insert(notes).values(rows).returning()
      const given = added.filter(({ userId }) => userId === 'friend')
      const shared = given.map(({ id }) => ({ noteId: id, email, role: 'reader' as const }))
      if (shared.length > 0) await db.insert(shares).values(shared)
    },
    change: (ids) =>
      db
        .update(notes)
        .set({ title: 'New' })
        .where(inArray(notes.uuid, ids.map(String))),
    remove: (ids) => db.delete(notes).where(inArray(notes.uuid, ids.map(String))),
  },
  'legacyNotes.list': {
    path: '/api/notes',
    headers: { accept: firstForm.mediaType },
    of: (client) => client.legacyNotes.list,
    add: ({ id }, count, at) => db.insert(notes).values(times(count, () => note(id, at))),
    change: (ids) =>
      db
        .update(notes)
        .set({ title: 'New' })
        .where(inArray(notes.id, ids.map(Number))),
    remove: (ids) => db.delete(notes).where(inArray(notes.id, ids.map(Number))),
  },
  'sessions.list': {
    path: '/api/sessions',
    of: (client) => client.sessions.list,
    add: ({ id: userId }, count, updatedAt) =>
      db.insert(sessions).values(
        times(count, () => {
          const [id, token] = [crypto.randomUUID(), crypto.randomUUID()]
          return { id, token, userId, expiresAt: new Date(Date.now() + 1e6), ...(updatedAt && { updatedAt }) }
        }),
      ),
    change: (ids) =>
      db
        .update(sessions)
        .set({ userAgent: 'New' })
        .where(inArray(sessions.id, ids.map(String))),
    remove: (ids) => db.delete(sessions).where(inArray(sessions.id, ids.map(String))),
  },
}
const each = Object.entries(lists)

interface Shown {
  ids: Id[]
  /** The total number of rows in the response; `undefined` if the list returns no total. */
  count: number | undefined
}

const isCount = (value: unknown) => typeof value === 'number'

function parsePage(body: object): Shown {
  const values: unknown[] = Object.values(body)
  const rows = values.find(Array.isArray) as { id: Id }[]
  return { ids: rows.map(({ id }) => id), count: values.find(isCount) }
}

async function newPerson(): Promise<Person> {
  const email = newEmail()
  const cookie = await service.signIn(email)
  const { id } = await service.client({ cookie }).account.get()
  return { id, email, cookie }
}

const clientOf = ({ cookie }: Person) => service.client({ cookie })
const whole = async (list: List, person: Person) =>
  parsePage(await list.of(clientOf(person))(undefined, { context: {} }))

/** Reads every page over REST, following the Link headers. */
async function follow({ path, headers }: List, { cookie }: Person, query: string) {
  const found: Shown[] = []
  for (let at: string | undefined = path + query; at;) {
    const answer = await call('GET', at, undefined, { cookie, ...headers })
    expect(answer.status).toBe(200)
    found.push(parsePage(answer.body as object))
    const link = answer.headers.get('link')
    at = link === null ? undefined : /^<(\/[^>]+)>; rel="next"$/.exec(link)?.[1]
    expect(link === null || at !== undefined).toBe(true)
  }
  return found
}

describe.each(each)('%s', (name, list) => {
  describeTransports(service, ({ transport, person }) => {
    test('returns each row once and in order, page by page', async () => {
      const ada = await person()
      const { id, email } = await ada.account.get()
      await list.add({ id, email, cookie: '' }, 7)
      const all = parsePage(await list.of(ada)(undefined, { context: {} }))

      const found = []
      for await (const page of pages(list.of(ada), { limit: 3 })) found.push(parsePage(page))

      expect(
        found.flatMap(({ ids }) => ids),
        transport,
      ).toEqual(all.ids)
      expect(found.map(({ ids }) => ids.length)).toEqual(name === 'sessions.list' ? [3, 3, 2] : [3, 3, 1])
      expect(found.map(({ count }) => count)).toEqual(found.map(() => all.count))
    })
  })

  test('returns every row in full pages if the caller follows the Link headers of REST', async () => {
    const ada = await newPerson()
    await list.add(ada, 50)
    await list.add(ada, 50, sql`now() - interval '1 second' + random() * interval '3 milliseconds'`)
    const all = await whole(list, ada)

    const found = await follow(list, ada, '?limit=10')

    expect(all.ids.length).toBeGreaterThanOrEqual(100)
    expect(found.flatMap(({ ids }) => ids)).toEqual(all.ids)
    expect(found.slice(0, -1).every(({ ids }) => ids.length === 10)).toBe(true)
    expect(found.at(-1)?.ids.length).toBeGreaterThan(0)
  })

  test('returns 1,000 rows by default, and counts all rows', async () => {
    const ada = await newPerson()
    await list.add(ada, 1002)

    const found = await follow(list, ada, '')

    const total = found.flatMap(({ ids }) => ids).length
    expect(found.map(({ ids }) => ids.length)).toEqual([1000, total - 1000])
    expect(found.map(({ count }) => count ?? total)).toEqual([total, total])
  })

  let anyone: Person
  beforeAll(async () => {
    anyone = await newPerson()
  })

  test.each(['', '0', '-1', '1001', '010', '1.5', '1e2', '0x10', 'ten', '1&limit=2'])(
    'rejects a limit of %j',
    async (limit) => {
      const { cookie } = anyone
      const { status, body } = await call('GET', `${list.path}?limit=${limit}`, undefined, {
        cookie,
        ...list.headers,
      })

      expect(status).toBe(400)
      expect(body).toMatchObject({ code: 'BAD_REQUEST', data: { issues: [{ path: 'limit' }] } })
    },
  )

  test('accepts its own cursors, and rejects others', async () => {
    const client = clientOf(anyone)
    const number = fc.oneof(
      fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String),
      fc.constantFrom('-1', '1e3', '', 'NaN'),
    )
    const part = fc.oneof(number, fc.string({ unit: 'binary' }))
    const inside = fc.oneof(fc.string({ unit: 'binary' }), fc.tuple(number, part).map(join))
    const cursors = fc.oneof(
      inside.map((text) => Buffer.from(text).toString('base64url')),
      fc.string({ unit: 'binary', maxLength: 300 }),
    )

    await fc.assert(
      fc.asyncProperty(cursors, async (cursor) => {
        const { error } = await safe(list.of(client)({ cursor }, { context: {} }))

        const issues = [{ path: 'cursor', message: expect.stringMatching(/^Must be a cursor/) }]
        if (error) expect(error).toMatchObject({ code: 'BAD_REQUEST', status: 400, data: { issues } })
      }),
    )
  })

  test('continues at the same position after the row of the cursor is deleted', async () => {
    const ada = await newPerson()
    await list.add(ada, 6, new Date(2e12))
    const { ids } = await whole(list, ada)
    const rest = pages(list.of(clientOf(ada)), { limit: 3 })
    await rest.next()

    await list.remove(ids.slice(1, 3))
    await list.add(ada, 2, new Date(2.1e12))

    const { value } = await rest.next()
    expect(value && parsePage(value).ids).toEqual(ids.slice(3, 6))
  })

  test('returns only own rows for a cursor of another person', async () => {
    const [ada, bob] = await Promise.all([newPerson(), newPerson()])
    await list.add(ada, 4)
    await list.add(bob, 2, new Date(1e12))
    const reply: CallContext['reply'] = new Map()
    await list.of(clientOf(ada))({ limit: 1 }, { context: { reply } })

    const link = /<(.+)>/.exec(String(reply.get('link')))?.[1] ?? ''
    const { body } = await call('GET', link, undefined, { cookie: bob.cookie, ...list.headers })

    const { ids } = await whole(list, bob)
    expect(ids).toEqual(expect.arrayContaining(parsePage(body as object).ids))
  })

  test('returns each remaining row once during concurrent inserts and deletes', async () => {
    const step = fc.oneof(
      { weight: 2, arbitrary: fc.record({ page: fc.constant(true) }) },
      fc.record({ add: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ remove: fc.nat() }),
      fc.record({ change: fc.nat() }),
    )
    const scenario = fc.record({
      rows: fc.integer({ min: 0, max: 12 }),
      limit: fc.integer({ min: 1, max: 4 }),
      steps: fc.array(step, { maxLength: 12 }),
    })

    await fc.assert(
      fc.asyncProperty(scenario, async ({ rows, limit, steps }) => {
        const ada = await newPerson()
        for (let added = 0; added < rows; added += 3) await list.add(ada, Math.min(3, rows - added))
        const { ids } = await whole(list, ada)
        // The steps do not remove the current session of the caller, because a caller cannot revoke it.
        const [current] = name === 'sessions.list' ? ids.slice(-1) : []
        const staying = new Set(ids)
        const reading = pages(list.of(clientOf(ada)), { limit })
        const seen: Id[] = []
        const read = async () => {
          const { value, done } = await reading.next()
          if (value) seen.push(...parsePage(value).ids)
          return !done
        }

        for (const step of steps) {
          if ('page' in step) await read()
          if ('add' in step) await list.add(ada, step.add)
          const [id] = ids.slice(
            ('remove' in step ? step.remove : 'change' in step ? step.change : 0) % (ids.length || 1),
          )
          if ('change' in step && id !== undefined) await list.change([id])
          if ('remove' in step && id !== undefined && id !== current) {
            await list.remove([id])
            staying.delete(id)
          }
        }
        while (await read());

        expect(seen).toEqual([...new Set(seen)])
        expect(seen.filter((id) => staying.has(id))).toEqual(ids.filter((id) => staying.has(id)))
      }),
      { numRuns: 20 },
    )
  })
})
