import { type AnyColumn, Column, inArray, is, or, type Placeholder, SQL, sql } from 'drizzle-orm'
import { integer, timestamp } from 'drizzle-orm/pg-core'

import { typeOf } from './column-types.ts'

/**
 * A time with a precision of milliseconds, like `Date`.
 *
 * @example
 * pgTable('loans', { dueAt: timestamptz().notNull() })
 */
export const timestamptz = () => timestamp({ withTimezone: true, precision: 3 })

/**
 * The time of the insert. The default is the time of the database clock, because all instances share this clock.
 *
 * @example
 * pgTable('books', { createdAt, updatedAt, version })
 */
export const createdAt = timestamptz().notNull().defaultNow()

/**
 * The time of the last change of a value.
 *
 * @example
 * pgTable('books', { createdAt, updatedAt, version })
 */
export const updatedAt = timestamptz().notNull().defaultNow()

/**
 * The version of a row, for optimistic locking.
 *
 * @example
 * pgTable('books', { createdAt, updatedAt, version })
 */
export const version = integer().notNull().default(1)

/** The versions of a row that a change accepts. */
export type AcceptedVersions = 'any' | number[]

/** Condition: the row has an accepted version. */
export const hasAcceptedVersion = (column: AnyColumn, versions: AcceptedVersions | readonly Placeholder[]) =>
  versions === 'any' ? undefined : inArray(column, [...versions])

/**
 * Returns the values of `updatedAt` and `version` for an update, as far as the table has these columns. If the update does not
 * change the stored value of any column, both remain unchanged.
 */
export function updatedIfChanged(table: Readonly<Record<string, AnyColumn>>, changes: object) {
  const { updatedAt: time, version: count } = table
  const isChanged = differsFrom(table, changes)
  return {
    ...(time && { updatedAt: sql<Date>`case when ${isChanged} then now() else ${time} end` }),
    ...(count && { version: sql<number>`${count} + ${isChanged}::int` }),
  }
}

/** Condition: a column stores another value than the new value. */
function differsFrom(table: Readonly<Record<string, AnyColumn>>, changes: object): SQL {
  const conditions = Object.entries(changes).flatMap(([key, value]) => {
    const column = table[key]
    return column && value !== undefined ? [storesOther(column, value)] : []
  })
  return sql`(${or(sql`false`, ...conditions)})`
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
