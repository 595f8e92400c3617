import fc from 'fast-check'
import { bigint, customType, index, integer, pgTable, text, varchar } from 'drizzle-orm/pg-core'
import { sql } from 'drizzle-orm'
import { nextCursor } from 'tallystick-contract/internal'
import { createdAt, everybody, rows, shared, within } from 'tallystick/db'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { Connection } from '../db/connection/database.ts'
import { openServer } from '../db/connection/server.ts'
import { connectionForBoundedLists, connectionForLists } from '../db/pagination.ts'
import type { ListSelection, Rows } from '../db/rows/index.ts'
import { readRows } from '../procedures/rows/read-rows.ts'
import { createDatabase, open } from './fixtures/database.ts'

const CREATE = `
  create table pages (
    id bigint primary key generated always as identity, group_id bigint not null, rank integer not null, due integer,
    title text not null, body text, created_at timestamptz(3) not null default now()
  );
  create index on pages (group_id, created_at, id);
  create index on pages (group_id, rank, id);
`

const id = () => bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity()
const number = () => bigint({ mode: 'number' }).notNull()

const common = { id: id(), groupId: number(), rank: integer().notNull(), due: integer(), createdAt }
const pages = pgTable('pages', { ...common, title: text().notNull(), body: varchar() }, (table) => [
  index().on(table.groupId, table.createdAt, table.id),
  index().on(table.groupId, table.rank, table.id),
])

/** The same table. PostgreSQL measures the rows of every list, because the engine does not know what a type of an application reads. */
const anyText = customType<{ data: string }>({ dataType: () => 'text' })
const measuredPages = pgTable('pages', { ...common, title: anyText().notNull(), body: anyText() })

const options = {
  visible: everybody(),
  create: [],
  filter: ['groupId', 'due'],
  orders: { newest: [{ column: 'createdAt', direction: 'desc' }], rank: [{ column: 'rank' }] },
} as const

const person = { id: 'ada', email: 'ada@example.com' }

const { url, drop } = await createDatabase()
const server = await open(url)
const embedded = await open('memory:')
afterAll(async () => {
  await embedded.close()
  await server.close()
  await drop()
})

let groups = 0

describe.each<[string, Connection]>([
  ['a server', server],
  ['the embedded database', embedded],
])('short pages on %s', (_, { db }) => {
  beforeAll(async () => {
    for (const statement of CREATE.split(';')) if (statement.trim()) await db.execute(sql.raw(statement))
  })

  /** Reads the pages of a list, until one has no next page. */
  async function readPages(listed: Rows, selection: ListSelection, limit: number | undefined) {
    const found = []
    for (let cursor: string | undefined; ;) {
      const reply = new Map<string, string | string[]>()
      const { rows, total } = await readRows(
        {
          context: { db, reply },
          input: {
            ...selection,
            ...(limit !== undefined && { limit }),
            ...(cursor !== undefined && { cursor }),
          },
          procedure: { '~orpc': { route: { path: '/pages' } } },
        } as unknown as Parameters<typeof readRows>[0],
        listed,
        {
          list: (page) => listed.list(db, person, page, selection),
          count: () => listed.total(db, person, selection),
        },
      )
      found.push({ rows, total, link: reply.get('link') })
      cursor = nextCursor(reply.get('link'))
      if (cursor === undefined) return found
    }
  }

  // Around 51 rows, and around the maximum size of a text of two in a short page, 2,570 bytes.
  const counts = fc.oneof(fc.nat(5), fc.integer({ min: 48, max: 53 }), fc.constant(120))
  const texts = fc
    .tuple(
      fc.constantFrom('a', 'é', '€', '😀', '\u0001'),
      fc.oneof(
        fc.nat(20),
        fc.integer({ min: 2568, max: 2572 }),
        fc.constantFrom(642, 643, 1285, 5000, 60_000),
      ),
    )
    .map(([character, bytes]) => character.repeat(Math.ceil(bytes / Buffer.byteLength(character))))
  const lists = fc.record({
    count: counts,
    kinds: fc.array(fc.record({ title: texts, body: fc.option(texts) }), { minLength: 1, maxLength: 4 }),
    limit: fc.constantFrom(undefined, 7, 20, 49, 50, 51, 52, 1000),
    order: fc.constantFrom(undefined, 'rank'),
  })

  test('have the same rows, sizes, totals and cursors as pages that PostgreSQL measures', async () => {
    const listed = rows(pages, options)
    const reference = rows(measuredPages, options)

    await fc.assert(
      fc.asyncProperty(lists, async ({ count, kinds, limit, order }) => {
        const groupId = ++groups
        const inserted = Array.from({ length: count }, (_, index) => ({
          groupId,
          rank: index % 7,
          ...(kinds[index % kinds.length] ?? { title: '' }),
        }))
        if (count > 0) await db.insert(pages).values(inserted)
        const selection = { groupId, ...(order && { order }) }

        const expected = await readPages(reference as unknown as Rows, selection, limit)
        // The second time, the list is known to be long, if it is.
        for (const _ of [1, 2])
          expect(await readPages(listed as unknown as Rows, selection, limit)).toEqual(expected)
      }),
      {
        numRuns: 25,
        // More rows than a short page.
        examples: [[{ count: 52, kinds: [{ title: 'a', body: null }], limit: undefined, order: undefined }]],
      },
    )
  }, 120_000)
})

describe('the connections of a list', () => {
  const owners = pgTable(
    'owners',
    {
      id: id(),
      userId: text().notNull(),
      due: integer(),
      kind: text().notNull(),
      title: text().notNull(),
      createdAt,
    },
    (table) => [
      index().on(table.userId, table.createdAt, table.id),
      index().on(table.kind, table.userId, table.createdAt, table.id),
      index().on(table.userId, table.due, table.createdAt, table.id),
      index().on(table.userId, table.createdAt.desc(), table.title, table.id),
      index()
        .on(table.userId, table.title, table.id)
        .where(sql`title > ''`),
    ],
  )
  const parts = pgTable(
    'parts',
    {
      id: id(),
      ownerId: number().references(() => owners.id),
      userId: text().notNull(),
      title: text().notNull(),
      createdAt,
    },
    (table) => [index().on(table.ownerId, table.createdAt, table.id)],
  )
  const members = pgTable('owner_members', {
    ownerId: number().references(() => owners.id),
    email: text().notNull(),
    role: text({ enum: ['reader'] }).notNull(),
    createdAt,
  })
  const own = {
    create: [],
    filter: ['due', 'kind'],
    search: ['title'],
    orders: {
      newest: [{ column: 'createdAt', direction: 'desc' }],
      title: [{ column: 'title' }],
      due: [{ column: 'due' }],
    },
  } as const
  const ownRows = () => rows(owners, own)
  const partsOf = (added: object = {}) =>
    rows(parts, { visible: within(ownRows(), 'ownerId'), create: [], ...added })

  beforeAll(async () => {
    for (const statement of [
      'create table owners (id bigint, user_id text, due integer, kind text, title text, created_at timestamptz(3))',
      'create table parts (id bigint, owner_id bigint, user_id text, title text, created_at timestamptz(3))',
      'create table owner_members (owner_id bigint, email text, role text, created_at timestamptz(3))',
    ])
      await server.db.execute(sql.raw(statement))
  })

  /** Returns whether a page is read on the connection of short reads. */
  async function isOnReads(listed: Pick<Rows, 'list'>, selection: ListSelection, limit = 20, q?: string) {
    const prepare = vi.spyOn(connectionForLists(server.db)._.session, 'prepareQuery')
    await listed.list(server.db, person, { limit, ...(q && { q, maxMatches: 1 }) }, selection)
    const isOnLists = prepare.mock.calls.length > 0
    prepare.mockRestore()
    return !isOnLists
  }

  test.each<[string, () => Pick<Rows, 'list'>, ListSelection]>([
    ['of own rows', ownRows, {}],
    ['with a filter in an index', ownRows, { kind: 'a' }],
    ['with a filter in another place of the index', ownRows, { due: 1 }],
    ['of a parent', partsOf, { ownerId: 1 }],
  ])('a short list %s does not wait for long lists', async (_, create, selection) => {
    expect(await isOnReads(create(), selection)).toBe(true)
    expect(await isOnReads(create(), selection, 1001)).toBe(true)
  })

  test.each<[string, () => Pick<Rows, 'list'>, ListSelection, string?]>([
    ['with a search', ownRows, {}, 'a'],
    ['with filters that no index has together', ownRows, { kind: 'a', due: 1 }],
    ['with a filter for null', ownRows, { due: null }],
    ['in an order with a partial index', ownRows, { order: 'title' }],
    ['in an order with nulls', ownRows, { order: 'due' }],
    ['of everybody without an index', () => rows(owners, { ...own, visible: everybody() }), {}],
    ['with rows of other people', () => rows(owners, { ...own, visible: shared({ members }) }), {}],
    ['of all parents', partsOf, {}],
    ['with a condition of the application', () => partsOf({ author: 'userId' }), { ownerId: 1 }],
  ])('a list %s does not delay short reads', async (_, create, selection, q) => {
    expect(await isOnReads(create(), selection, 20, q)).toBe(false)
    expect(await isOnReads(create(), selection, 1001, q)).toBe(false)
  })

  test('are the same through a pooler, which does not pipeline', async () => {
    const timeouts = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
    const settings = timeouts.map((name) => `-c ${name}=10000`).join(' ')
    const pooled = await openServer(`${url}?options=${encodeURIComponent(settings)}`, { directUrl: url })

    expect(connectionForBoundedLists(pooled.db)).toBe(connectionForLists(pooled.db))
    expect(connectionForBoundedLists(server.db)).not.toBe(connectionForLists(server.db))
    await pooled.close()
  })
})
