import { eq } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'

import { requireRow } from '../../db/statements.ts'
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

test.each(sortable)('a list by $kind on $database refuses other cursors', async (cell) => {
  const { table } = tableOf(cell)
  const list = sortedList(cell.db, table, `kind ${cell.kind}`, 0, [
    { column: table.required },
    { column: table.id },
  ])

  for (const text of badCursors)
    await expect(list.readPage(2, cursorOf(text)), text).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: 'cursor', message: 'Must be a cursor of this list' }] },
    })
})
