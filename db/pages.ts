import { type AnyColumn, type SQL, sql, type Subquery } from 'drizzle-orm'
import type { SelectedFields } from 'drizzle-orm/pg-core'

import type { Database } from './database.ts'

const separateConnections = new WeakMap<Database, Database>()

/** Sets separate connections for the lists of a database. */
export const setListConnections = (db: Database, lists: Database) => separateConnections.set(db, lists)

/**
 * Returns the connections for long results: lists, counts and exports. Short statements therefore never wait behind a
 * long result. Transactions and the embedded database use their only connection.
 */
export const listConnections = (db: Database) => separateConnections.get(db) ?? db

/** The position of a row in a list (keyset pagination). Lists are ordered by time and id, newest first. */
export interface Position {
  at: Date
  id: number | string
}

/** Requests at most `limit` rows, after a position or from the beginning. */
export interface PageRequest {
  limit: number
  after?: Position
}

/** The position before the first row of every list: a time later than every row. */
const BEGINNING: Position = { at: new Date('9999-12-31'), id: 0 }

/** Values for the placeholders of a list statement. */
export const pageParameters = ({ limit, after = BEGINNING }: PageRequest) => ({ limit, ...after })

/**
 * Condition: the row comes after the position in the placeholders. PostgreSQL can use an index on both columns for this row
 * comparison.
 */
export const isAfterPosition = (at: AnyColumn, id: AnyColumn) =>
  sql`(${at}, ${id}) < (${sql.param(sql.placeholder('at'), at)}, ${sql.placeholder('id')})`

/** Limit for the texts of a page, in bytes of UTF-8. The same as the limit of a request body. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** A row of a list with `bytes`: the size of the texts in this and all previous rows of the page. */
export type SizedRow<Row> = Row & { bytes: number }

export const totalBytes = (rows: readonly SizedRow<unknown>[]) => rows.at(-1)?.bytes ?? 0

interface LimitOptions {
  /** The text columns to measure. */
  texts: readonly AnyColumn[]
  order: readonly SQL[]
}

/**
 * Limits the size of the texts in a list, because a large list takes time and memory that other callers need. If the texts
 * exceed MAX_PAGE_BYTES, the last returned row is the first row beyond the limit: its `bytes` exceed MAX_PAGE_BYTES, and
 * callers omit the row from the page. A row larger than the limit counts as MAX_PAGE_BYTES, so that a page can contain the
 * row alone. The alias of `list` must be the name of the table of its columns.
 */
export function limitBytes<Fields extends SelectedFields>(
  db: Database,
  list: Subquery,
  fields: Fields,
  { texts, order }: LimitOptions,
) {
  const sizes = texts.map((text) => sql`coalesce(octet_length(${text}), 0)`)
  const max = sql.raw(String(MAX_PAGE_BYTES))
  const size = sql`least(${sql.join(sizes, sql` + `)}, ${max})`
  const total = sql`sum(${size}) over (order by ${sql.join([...order], sql`, `)} rows unbounded preceding)`
  const measured: Subquery = db
    .select({ ...fields, size: size.as('size'), total: total.as('total') })
    .from(list)
    .as(list._.alias)
  return db
    .select({ ...fields, bytes: sql<number>`total::int` })
    .from(measured)
    .where(sql`total - size <= ${max}`)
    .orderBy(...order)
}
