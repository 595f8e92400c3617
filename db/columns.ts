import { type AnyColumn, or, type SQL, sql } from 'drizzle-orm'
import { integer, timestamp } from 'drizzle-orm/pg-core'

/** A time with millisecond precision, like `Date`. Defaults come from the clock of the database, which all instances share. */
export const timestamptz = () => timestamp({ withTimezone: true, precision: 3 })

export const createdAt = timestamptz().notNull().defaultNow()
export const updatedAt = timestamptz().notNull().defaultNow()

/** Row version, for optimistic locking. */
export const version = integer().notNull().default(1)

/** Returns values for `updatedAt` and `version` of an update. Both stay the same if no column changes its value. */
export function updatedIfChanged<Changes extends object>(
  table: Record<keyof Changes | 'updatedAt' | 'version', AnyColumn>,
  changes: Changes,
): { updatedAt: SQL<Date>; version: SQL<number> } {
  const keys = (Object.keys(changes) as (keyof Changes)[]).filter((key) => changes[key] !== undefined)
  const differs = or(sql`false`, ...keys.map((key) => sql`${table[key]} is distinct from ${changes[key]}`))
  return {
    updatedAt: sql`case when ${differs} then now() else ${table.updatedAt} end`,
    version: sql`${table.version} + (${differs})::int`,
  }
}
