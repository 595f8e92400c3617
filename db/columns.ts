import { type AnyColumn, or, type SQL, sql } from 'drizzle-orm'
import { integer, timestamp } from 'drizzle-orm/pg-core'

/** A moment, by the database's clock, so that all instances agree; to the millisecond, as JavaScript knows it. */
export const timestamptz = () => timestamp({ withTimezone: true, precision: 3 })

export const createdAt = timestamptz().notNull().defaultNow()
export const updatedAt = timestamptz().notNull().defaultNow()

/** The how-manieth state of a row this is. */
export const version = integer().notNull().default(1)

/** What moment and version become: now and the next, if any of the changes differs from what stands, else what they are. */
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
