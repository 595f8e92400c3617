import { type AnyColumn, Column, inArray, is, or, SQL, sql } from 'drizzle-orm'
import { integer, timestamp } from 'drizzle-orm/pg-core'

import { typeOf } from './column-types.ts'

/** A time with a precision of milliseconds, like `Date`. */
export const timestamptz = () => timestamp({ withTimezone: true, precision: 3 })

// The default is the time of the database clock, because all instances share this clock.
export const createdAt = timestamptz().notNull().defaultNow()
export const updatedAt = timestamptz().notNull().defaultNow()

/** The version of a row, for optimistic locking. */
export const version = integer().notNull().default(1)

/** The versions of a row that a change accepts. */
export type AcceptedVersions = 'any' | number[]

/** Condition: the row has an accepted version. */
export const hasAcceptedVersion = (column: AnyColumn, versions: AcceptedVersions) =>
  versions === 'any' ? undefined : inArray(column, versions)

/**
 * Returns the values of `updatedAt` and `version` for an update. If the update does not change the stored value of any column,
 * `updatedAt` and `version` remain unchanged.
 */
export function updatedIfChanged<Changes extends object>(
  table: Record<keyof Changes | 'updatedAt' | 'version', AnyColumn>,
  changes: Changes,
): { updatedAt: SQL<Date>; version: SQL<number> } {
  const keys = (Object.keys(changes) as (keyof Changes)[]).filter((key) => changes[key] !== undefined)
  const differs = or(sql`false`, ...keys.map((key) => storesOther(table[key], changes[key])))
  return {
    updatedAt: sql`case when ${differs} then now() else ${table.updatedAt} end`,
    version: sql`${table.version} + (${differs})::int`,
  }
}

/**
 * Condition: the column stores another value than the new value. Compares the bytes (`*<>`), because some types have no
 * operator for equality (json, point), and because equal values can differ (`1.0` and `1.00`, `1 month` and `30 days`). The
 * cast rounds the new value as the column does.
 */
function storesOther(column: AnyColumn, value: unknown) {
  const type = typeOf(column)
  const newValue = is(value, SQL) || is(value, Column) ? value : sql.param(value, column)
  return sql`row(${column}::${type})::record *<> row((${newValue})::${type})::record`
}
