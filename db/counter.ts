import { eq, sql } from 'drizzle-orm'
import { bigint, check, integer, pgTable } from 'drizzle-orm/pg-core'

import { coalesced, prepared, requireRow } from './statements.ts'
import type { Database } from './database.ts'

/** The shared counter. The first migration inserts its single row. */
export const counter = pgTable(
  'counter',
  {
    id: integer().primaryKey().default(1),
    count: bigint({ mode: 'number' }).notNull().default(0),
  },
  (table) => [check('counter_single', sql`${table.id} = 1`)],
)

// The condition is redundant, but postgres.js prepares only statements with parameters.
const selectCount = prepared((db) =>
  db
    .select({ count: counter.count })
    .from(counter)
    .where(eq(counter.id, sql.placeholder('id')))
    .prepare('counter_get'),
)

// All keys are equal: each caller receives the same count.
const reads = coalesced(2, async (db, keys: readonly true[]) => {
  const { count } = requireRow(await selectCount(db).execute({ id: 1 }))
  return keys.map(() => count)
})

export const get = (db: Database) => reads(db).load(true)

type Change = { step: number } | { value: number }

const sum = (name: string) => sql`${counter.count} + ${sql.placeholder(name)}`

const addWithinLimits = prepared((db) =>
  db
    .update(counter)
    .set({ count: sum('total') })
    .where(sql`${sum('min')} >= ${Number.MIN_SAFE_INTEGER} and ${sum('max')} <= ${Number.MAX_SAFE_INTEGER}`)
    .returning({ count: counter.count })
    .prepare('counter_add'),
)

/** Adds all steps in one statement. If a sum would leave the safe integers, changes nothing and returns undefined. */
async function addAll(db: Database, steps: number[]) {
  let total = 0
  const sums = steps.map((step) => (total += step))
  const [row] = await addWithinLimits(db).execute({ total, min: Math.min(...sums), max: Math.max(...sums) })
  return row && sums.map((sum) => row.count - total + sum)
}

/** Applies changes in order. A step that would leave the safe integers is skipped; its value is undefined. */
const applyEach = (db: Database, changes: readonly Change[]) =>
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

// One statement at a time, to apply changes in order of arrival.
const writes = coalesced(1, async (db, changes: readonly Change[]): Promise<(number | undefined)[]> => {
  const steps = changes.flatMap((change) => ('step' in change ? [change.step] : []))
  const sums = steps.length === changes.length ? await addAll(db, steps) : undefined
  return sums ?? applyEach(db, changes)
})

/** Adds a step and returns the new value. Returns undefined if the value would leave the safe integers: nothing changes. */
export const add = (db: Database, step: number) => writes(db).load({ step })

export const set = async (db: Database, value: number) => {
  await writes(db).load({ value })
  return value
}
