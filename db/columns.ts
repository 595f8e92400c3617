import { type AnyColumn, or, type SQL, sql } from 'drizzle-orm'
import { timestamp } from 'drizzle-orm/pg-core'

/** A moment, by the database's clock, so that all instances agree. */
export const moment = () => timestamp({ withTimezone: true })

export const createdAt = moment().notNull().defaultNow()
export const updatedAt = moment().notNull().defaultNow()

/** What `updatedAt` becomes: now, if any of the changes differs from what stands, else what it is. */
export function updatedBy<Changes extends object>(
  table: Record<keyof Changes | 'updatedAt', AnyColumn>,
  changes: Changes,
): SQL<Date> {
  const keys = (Object.keys(changes) as (keyof Changes)[]).filter((key) => changes[key] !== undefined)
  const differs = or(sql`false`, ...keys.map((key) => sql`${table[key]} is distinct from ${changes[key]}`))
  return sql`case when ${differs} then now() else ${table.updatedAt} end`
}
