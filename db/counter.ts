import { eq, sql } from 'drizzle-orm'
import { bigint, check, integer, pgTable } from 'drizzle-orm/pg-core'

import { coalesced, requireRow, prepared } from './statements.ts'
import type { Database } from './database.ts'

/** The one shared number. Its single row is made by the first migration. */
export const counter = pgTable(
  'counter',
  {
    id: integer().primaryKey().default(1),
    count: bigint({ mode: 'number' }).notNull().default(0),
  },
  (table) => [check('counter_single', sql`${table.id} = 1`)],
)

// By its id, though it is the only one: postgres.js prepares no statement without a value.
const selected = prepared((db) =>
  db
    .select({ count: counter.count })
    .from(counter)
    .where(eq(counter.id, sql.placeholder('id')))
    .prepare('counter_get'),
)

const reads = coalesced(2, async (db, keys: readonly true[]) => {
  const { count } = requireRow(await selected(db).execute({ id: 1 }))
  return keys.map(() => count)
})

export const get = (db: Database) => reads(db).load(true)

type Change = { step: number } | { value: number }

const sum = (name: string) => sql`${counter.count} + ${sql.placeholder(name)}`

const added = prepared((db) =>
  db
    .update(counter)
    .set({ count: sum('total') })
    .where(
      sql`${sum('least')} >= ${Number.MIN_SAFE_INTEGER} and ${sum('most')} <= ${Number.MAX_SAFE_INTEGER}`,
    )
    .returning({ count: counter.count })
    .prepare('counter_add'),
)

/** Adds every step by one statement, if they all stay within the safe integers. */
async function addAll(db: Database, steps: number[]) {
  let total = 0
  const sums = steps.map((step) => (total += step))
  const [row] = await added(db).execute({ total, least: Math.min(...sums), most: Math.max(...sums) })
  return row && sums.map((sum) => row.count - total + sum)
}

/** Makes one change after another, but for those that would leave the safe integers. */
const makeEach = (db: Database, changes: readonly Change[]) =>
  db.transaction(async (tx) => {
    let { count } = requireRow(await tx.select({ count: counter.count }).from(counter).for('update'))
    const values = changes.map((change) => {
      const next = 'step' in change ? count + change.step : change.value
      if (!Number.isSafeInteger(next)) return undefined
      count = next
      return next
    })
    await tx.update(counter).set({ count })
    return values
  })

// One after another: they are made in the order they came.
const writes = coalesced(1, async (db, wanted: readonly Change[]): Promise<(number | undefined)[]> => {
  const steps = wanted.flatMap((change) => ('step' in change ? [change.step] : []))
  const added = steps.length === wanted.length ? await addAll(db, steps) : undefined
  return added ?? makeEach(db, wanted)
})

/** The value after a step. Nothing where that would leave the safe integers; the value then stays. */
export const add = (db: Database, step: number) => writes(db).load({ step })

export const set = async (db: Database, value: number) => {
  await writes(db).load({ value })
  return value
}
