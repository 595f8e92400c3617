import { eq, sql } from 'drizzle-orm'
import { bigint, check, integer, pgTable } from 'drizzle-orm/pg-core'
import { coalesced, type Database, prepared, requireRow } from 'tallystick/db'

/** The shared counter. The table has a single row, which the first migration inserts. */
export const counter = pgTable(
  'counter',
  {
    id: integer().primaryKey().default(1),
    count: bigint({ mode: 'number' }).notNull().default(0),
  },
  (table) => [check('counter_single', sql`${table.id} = 1`)],
)

// The table has one row, so the condition is redundant. The condition adds a parameter, because postgres.js prepares
// only statements that have parameters.
const selectCount = prepared((db) =>
  db
    .select({ count: counter.count })
    .from(counter)
    .where(eq(counter.id, sql.placeholder('id')))
    .prepare('counter_get'),
)

// There is only one counter, so every caller passes the same key (`true`), and all callers that share a statement
// receive the same count. At most two statements run: a caller that arrives while one runs needs a newer count, and starts the second.
const reads = coalesced(2, async (db, keys: readonly true[]) => {
  const { count } = requireRow(await selectCount(db).execute({ id: 1 }))
  return keys.map(() => count)
})

export const get = (db: Database) => reads(db).load(true)

type Change = { step: number } | { value: number }

const countPlus = (name: string) => sql`${counter.count} + ${sql.placeholder(name)}`

const addWithinLimits = prepared((db) =>
  db
    .update(counter)
    .set({ count: countPlus('total') })
    .where(
      sql`${countPlus('min')} >= ${Number.MIN_SAFE_INTEGER} and ${countPlus('max')} <= ${Number.MAX_SAFE_INTEGER}`,
    )
    .returning({ count: counter.count })
    .prepare('counter_add'),
)

/**
 * Adds all steps in one statement, and returns the value after each step. If one of these values would not be a safe
 * integer, changes nothing and returns undefined.
 */
async function addAll(db: Database, steps: number[]) {
  let total = 0
  const sums = steps.map((step) => (total += step))
  const [row] = await addWithinLimits(db).execute({ total, min: Math.min(...sums), max: Math.max(...sums) })
  return row && sums.map((sum) => row.count - total + sum)
}

/**
 * Applies changes in order, and returns the value after each change. Skips a step if the new value would not be a
 * safe integer: the returned value of this step is undefined.
 */
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

// Runs only one statement at a time, so that changes are applied in the order of arrival. Applies the changes one by one if
// one of them sets a value, or if a value between two changes would not be a safe integer.
const writes = coalesced(1, async (db, changes: readonly Change[]): Promise<(number | undefined)[]> => {
  const steps = changes.flatMap((change) => ('step' in change ? [change.step] : []))
  const sums = steps.length === changes.length ? await addAll(db, steps) : undefined
  return sums ?? applyEach(db, changes)
})

/**
 * Adds a step and returns the new value. If the new value would not be a safe integer, changes nothing and returns undefined.
 */
export const add = (db: Database, step: number) => writes(db).load({ step })

export const set = async (db: Database, value: number) => {
  await writes(db).load({ value })
  return value
}
