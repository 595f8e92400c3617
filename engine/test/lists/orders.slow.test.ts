import { readFile } from 'node:fs/promises'

import { and, eq, sql } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'

import { createKeyset } from '../../db/keyset.ts'
import { requireRow } from '../../db/statements.ts'
import { queryRows } from '../../dev/testing/laws/snapshots.ts'
import { tableOf } from '../fixtures/column-kinds.ts'
import { openKinds } from '../fixtures/kinds-database.ts'
import { cursorOf, sortedList } from '../fixtures/sorted-list.ts'

const { cells, close } = await openKinds()
afterAll(close)

const directions = ['asc', 'desc'] as const
const places = ['first', 'last'] as const

const sortable = cells.filter(({ isUnordered }) => !isUnordered)

/** `nulls` is undefined for a column that is never null. */
const orders = sortable.flatMap((cell) =>
  directions.flatMap((direction) =>
    [undefined, ...(cell.isNullable === false ? [] : places)].map((nulls) => ({ ...cell, direction, nulls })),
  ),
)

let groups = 0

// Type of the sort column, direction and place of nulls, on both databases.
test.each(orders)(
  'a list by $kind $direction, nulls $nulls, on $database has each unchanged row once',
  async ({ direction, nulls, ...cell }) => {
    const { kind, db, value, other } = cell
    const { table } = tableOf(cell)
    const column = nulls ? table.optional : table.required
    const group = ++groups
    const list = sortedList(db, table, `kind ${kind}`, group, [
      { column, direction, ...(nulls && { nulls }) },
      { column: table.id, direction },
    ])
    const values = nulls ? [value, other, null] : [value, other]
    const rowOf = (sortValue: unknown) => {
      const row: object = { group, required: value, [nulls ? 'optional' : 'required']: sortValue }
      return row as typeof table.$inferInsert
    }
    const insert = (...sortValues: unknown[]) =>
      db.insert(table).values(sortValues.map(rowOf)).returning({ id: table.id })
    const unchanged = (await insert(...values, ...values)).map(({ id }) => id)
    const changing = (await insert(...values, ...values)).map(({ id }) => id)
    const expected = (await list.readAll()).filter((id) => unchanged.includes(id))

    const seen: number[] = []
    let page = await list.readPage(3)
    for (let count = 0; page.next !== undefined; count++) {
      seen.push(...page.ids)
      const last = page.ids.at(-1) ?? 0
      const removed = changing.includes(last) ? last : changing.shift()
      await db.delete(table).where(eq(table.id, removed ?? 0))
      if (count < 2) {
        const sortValue = values[count]
        await db
          .update(table)
          .set(rowOf(sortValue))
          .where(eq(table.id, changing.at(-1) ?? 0))
        changing.unshift(requireRow(await insert(sortValue)).id)
      }
      page = await list.readPage(3, page.next)
    }
    seen.push(...page.ids)

    expect(seen.filter((id) => unchanged.includes(id))).toEqual(expected)
  },
)

const badCursors = [
  '["\\u0000","1"]',
  '["x"]',
  '[null,"1"]',
  '[1,2]',
  '{}',
  '1700000000000.42',
  '["x","1.5"]',
]

/** Types that have each text as a value. */
const ANY_TEXT = /^(text|varchar|char|bytea)(\(\d+\))?$/

test.each(sortable)('a list by $kind on $database refuses other cursors', async (cell) => {
  const { table } = tableOf(cell)
  const list = sortedList(cell.db, table, `kind ${cell.kind}`, 0, [
    { column: table.required },
    { column: table.id },
  ])

  const ofType = ANY_TEXT.test(table.required.getSQLType()) ? [] : ['["not a value","1"]']
  for (const text of [...badCursors, ...ofType])
    await expect(list.readPage(2, cursorOf(text)), text).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: 'cursor', message: 'Must be a cursor of this list' }] },
    })
})

test.each(cells.filter(({ isUnordered }) => isUnordered))(
  'no list by $kind on $database, because the type has no order',
  async ({ db, ...cell }) => {
    const { table } = tableOf(cell)
    const list = sortedList(db, table, `kind ${cell.kind}`, 0, [
      { column: table.required },
      { column: table.id },
    ])

    await expect(list.readPage(2)).rejects.toMatchObject({ cause: { code: '42883' } })
  },
)

test('the documents list the types without an order', async () => {
  const document = await readFile('docs/your-own-backend.md', 'utf8')
  const [, types = ''] = /^\| (.*?) +\| the order of a list/m.exec(document) ?? []
  const unordered = cells.filter(({ isUnordered }) => isUnordered).map((cell) => tableOf(cell).table.required)

  expect(new Set(types.match(/\w+/g))).toEqual(new Set(unordered.map((column) => column.getSQLType())))
})

const cellsOf = (name: string) => cells.filter(({ kind }) => kind === name)

/** Each direction and place of nulls of two columns, and each direction of the id. */
const combinations = cellsOf('numeric').flatMap((cell) =>
  directions.flatMap((first) =>
    places.flatMap((nulls) =>
      directions.flatMap((second) =>
        places.flatMap((secondNulls) =>
          directions.map((third) => ({ ...cell, first, nulls, second, secondNulls, third })),
        ),
      ),
    ),
  ),
)

test.each(combinations)(
  'a list by a column $first nulls $nulls, a column $second nulls $secondNulls and id $third on $database is whole',
  async ({ first, nulls, second, secondNulls, third, ...cell }) => {
    const { db } = cell
    const { table } = tableOf(cell)
    const group = ++groups
    const values = ['1.0', '1.00', '2', null].flatMap((optional) =>
      [1, 2, null].map((priority) => ({ group, required: '0', optional, priority })),
    )
    await db.insert(table).values(values)
    const list = sortedList(db, table, `kind ${cell.kind}`, group, [
      { column: table.optional, direction: first, nulls },
      { column: table.priority, direction: second, nulls: secondNulls },
      { column: table.id, direction: third },
    ])

    const seen: number[] = []
    for (let cursor: string | undefined, count = 0; count === 0 || cursor; count++) {
      const page = await list.readPage(4, cursor)
      seen.push(...page.ids)
      cursor = page.next
    }

    expect(seen).toHaveLength(12)
    expect(seen).toEqual(await list.readAll())
  },
)

test.each(cellsOf('text'))('a search of a sorted list on $database finds each row once', async (cell) => {
  const { db } = cell
  const { table } = tableOf(cell)
  const group = ++groups
  // More rows than the first batch of a search.
  const rows = Array.from({ length: 120 }, (_, index) => ({
    group,
    required: index % 3 === 0 ? 'found' : 'other',
    optional: index % 4 === 0 ? null : String(index % 7),
  }))
  const inserted = await db.insert(table).values(rows).returning()
  const matches = inserted.filter(({ required }) => required === 'found').map(({ id }) => id)
  const list = sortedList(db, table, `kind ${cell.kind}`, group, [
    { column: table.optional, direction: 'desc' },
    { column: table.id },
  ])

  const first = await list.readPage(25, undefined, 'Found')
  const second = await list.readPage(25, first.next, 'Found')

  expect(first.ids).toHaveLength(25)
  expect([...first.ids, ...second.ids]).toEqual((await list.readAll()).filter((id) => matches.includes(id)))
})

const byIndex = [
  { direction: 'asc', condition: 'ROW(required, id) > ROW(' },
  { direction: 'desc', condition: '(required <= ' },
] as const

test.each(cellsOf('date as text').flatMap((cell) => byIndex.map((order) => ({ ...cell, ...order }))))(
  'an index finds the position of a list by date $direction on $database',
  async ({ direction, condition, ...cell }) => {
    const { db } = cell
    const { table } = tableOf(cell)
    const { order, isAfter } = createKeyset({ column: table.required, direction }, { column: table.id })
    const query = db
      .select({ id: table.id })
      .from(table)
      .where(and(eq(table.group, 1), isAfter(['2026-02-28', '5'])))
      .orderBy(...order)
      .limit(10)

    const plan = await db.transaction(async (tx) => {
      const key = sql.raw(`"group", required ${direction}, id`)
      await tx.execute(sql`create index on ${table} (${key})`)
      await tx.execute(sql`set local enable_seqscan = off`)
      await tx.execute(sql`set local enable_sort = off`)
      return queryRows<Record<string, string>>(tx, sql`explain ${query}`)
    })

    const lines = plan.map((line) => line['QUERY PLAN'])
    expect(lines).toContainEqual(expect.stringContaining('Index Cond'))
    expect(lines.find((line) => line?.includes('Index Cond'))).toContain(condition)
  },
)
