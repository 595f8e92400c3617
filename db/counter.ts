import { and, gte, lte, sql } from 'drizzle-orm'
import { bigint, check, integer, pgTable } from 'drizzle-orm/pg-core'

import { type Database, one } from './index.ts'

/** The one shared number. Its single row is made by the first migration. */
export const counter = pgTable(
  'counter',
  {
    id: integer().primaryKey().default(1),
    count: bigint({ mode: 'number' }).notNull().default(0),
  },
  (table) => [check('counter_single', sql`${table.id} = 1`)],
)

export const get = async (db: Database) => one(await db.select({ count: counter.count }).from(counter)).count

/** Adds in one statement. Nothing where the sum would leave the safe integers; the value then stays. */
export const add = async (db: Database, step: number) => {
  const sum = sql`${counter.count} + ${step}`
  const [row] = await db
    .update(counter)
    .set({ count: sum })
    .where(and(gte(sum, Number.MIN_SAFE_INTEGER), lte(sum, Number.MAX_SAFE_INTEGER)))
    .returning({ count: counter.count })
  return row?.count
}

export const set = async (db: Database, count: number) =>
  one(await db.update(counter).set({ count }).returning({ count: counter.count })).count
