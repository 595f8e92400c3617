import { type AnyColumn, type SQL, sql, type Subquery } from 'drizzle-orm'
import type { SelectedFields } from 'drizzle-orm/pg-core'

import type { Database } from './database.ts'

const listings = new WeakMap<Database, Database>()

/** Gives a database connections of their own for long answers. */
export const setListConnections = (db: Database, own: Database) => listings.set(db, own)

/**
 * The connections for long answers: lists, counts, exports. Statements of other callers never wait behind them. In a
 * transaction, and on the embedded database, there is only the one connection.
 */
export const listConnections = (db: Database) => listings.get(db) ?? db

/** Where a row stands in a list, which is ordered by time and then by id, newest first. */
export interface Position {
  at: Date
  id: number | string
}

/** A part of a list: at most so many rows, from the beginning or after a place. */
export interface PageRequest {
  limit: number
  after?: Position
}

/** Later than any row. */
const BEGINNING: Position = { at: new Date('9999-12-31'), id: 0 }

/** What the statement of a list is given of its span. */
export const pageParameters = ({ limit, after = BEGINNING }: PageRequest) => ({ limit, ...after })

/** Which rows come after the place in a statement's placeholders: a comparison of rows, as an index is ordered. */
export const isAfterPosition = (at: AnyColumn, id: AnyColumn) =>
  sql`(${at}, ${id}) < (${sql.param(sql.placeholder('at'), at)}, ${sql.placeholder('id')})`

/** The most text of a page, in bytes of UTF-8: as much as a request may send. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** A row of a list, and the bytes of the texts in it and in the rows before it. */
export type SizedRow<Row> = Row & { bytes: number }

export const totalBytes = (rows: readonly SizedRow<unknown>[]) => rows.at(-1)?.bytes ?? 0

interface Texts {
  /** The columns whose texts are counted. */
  texts: readonly AnyColumn[]
  order: readonly SQL[]
}

/**
 * Ends a list before the row with which its texts exceed PAGE_BYTES: no list takes the time and the memory that other
 * callers need. That row is still returned, as the last one, and its `bytes` tell. A larger row is a page of its own.
 * The subquery is named like the table of its columns.
 */
export function limitBytes<Fields extends SelectedFields>(
  db: Database,
  list: Subquery,
  fields: Fields,
  { texts, order }: Texts,
) {
  const sizes = texts.map((text) => sql`coalesce(octet_length(${text}), 0)`)
  const most = sql.raw(String(MAX_PAGE_BYTES))
  const size = sql`least(${sql.join(sizes, sql` + `)}, ${most})`
  const total = sql`sum(${size}) over (order by ${sql.join([...order], sql`, `)} rows unbounded preceding)`
  const measured: Subquery = db
    .select({ ...fields, size: size.as('size'), total: total.as('total') })
    .from(list)
    .as(list._.alias)
  return db
    .select({ ...fields, bytes: sql<number>`total::int` })
    .from(measured)
    .where(sql`total - size <= ${most}`)
    .orderBy(...order)
}
