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
  const isChanged = differsFrom(table, changes)
  return { updatedAt: timeIf(isChanged, table.updatedAt), version: versionIf(isChanged, table.version) }
}

/** Condition: a column stores another value than the new value. */
export function differsFrom<Changes extends object>(
  table: Readonly<Record<keyof Changes, AnyColumn>>,
  changes: Changes,
): SQL {
  const keys = (Object.keys(changes) as (keyof Changes)[]).filter((key) => changes[key] !== undefined)
  return sql`(${or(sql`false`, ...keys.map((key) => storesOther(table[key], changes[key])))})`
}

export const timeIf = (isChanged: SQL, updatedAt: AnyColumn) =>
  sql<Date>`case when ${isChanged} then now() else ${updatedAt} end`

export const versionIf = (isChanged: SQL, version: AnyColumn) => sql<number>`${version} + ${isChanged}::int`

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
