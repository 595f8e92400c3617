import { type AnyColumn, type SQL, sql, type Subquery } from 'drizzle-orm'
import type { SelectedFields } from 'drizzle-orm/pg-core'

import type { Database } from './index.ts'

const listings = new WeakMap<Database, Database>()

/** Gives a database connections of their own for long answers. */
export const keepForLists = (db: Database, own: Database) => listings.set(db, own)

const turn = () => new Promise((resolve) => setImmediate(resolve))

/**
 * Queues the statements of a database, transactions aside, and runs one a turn of the event loop. The embedded database runs
 * in this process: a burst of lists would keep the process from everything else.
 */
export function oneAtATime<Queued extends Database>(db: Queued): Queued {
  const { session } = db._
  const prepare = session.prepareQuery.bind(session)
  let last: Promise<unknown> = Promise.resolve()
  session.prepareQuery = (...query) => {
    const prepared = prepare(...query)
    const execute = prepared.execute.bind(prepared)
    prepared.execute = (values) => {
      const run = () => execute(values)
      const result = last.then(run, run)
      last = result.then(turn, turn)
      return result
    }
    return prepared
  }
  return db
}

/**
 * The connections for long answers: lists, counts, exports. Statements of other callers never wait behind them. In a
 * transaction there is only its own connection.
 */
export const forLists = (db: Database) => listings.get(db) ?? db

/** Where a row stands in a list, which is ordered by time and then by id, newest first. */
export interface Place {
  at: Date
  id: number | string
}

/** A part of a list: at most so many rows, from the beginning or after a place. */
export interface Span {
  limit: number
  after?: Place
}

/** Later than any row. */
const BEGINNING: Place = { at: new Date('9999-12-31'), id: 0 }

/** What the statement of a list is given of its span. */
export const bounds = ({ limit, after = BEGINNING }: Span) => ({ limit, ...after })

/** Which rows come after the place in a statement's placeholders: a comparison of rows, as an index is ordered. */
export const comesAfter = (at: AnyColumn, id: AnyColumn) =>
  sql`(${at}, ${id}) < (${sql.param(sql.placeholder('at'), at)}, ${sql.placeholder('id')})`

/** The most text of a page, in bytes of UTF-8: as much as a request may send. */
const PAGE_BYTES = sql.raw(String(1024 * 1024))

/** A row of a list, and whether it is beyond the page. */
export type Paged<Row> = Row & { isBeyond: boolean }

interface Texts {
  /** The columns whose texts are counted. */
  texts: readonly AnyColumn[]
  order: readonly SQL[]
}

/**
 * Ends a list before the row with which its texts exceed PAGE_BYTES: no list takes the time and the memory that other
 * callers need. That row is still returned, as the last one and marked `isBeyond`. A larger row is a page of its own.
 * The subquery is named like the table of its columns.
 */
export function withinBytes<Fields extends SelectedFields>(
  db: Database,
  list: Subquery,
  fields: Fields,
  { texts, order }: Texts,
) {
  const sizes = texts.map((text) => sql`coalesce(octet_length(${text}), 0)`)
  const size = sql`least(${sql.join(sizes, sql` + `)}, ${PAGE_BYTES})`
  const total = sql`sum(${size}) over (order by ${sql.join([...order], sql`, `)} rows unbounded preceding)`
  const measured: Subquery = db
    .select({ ...fields, size: size.as('size'), total: total.as('total') })
    .from(list)
    .as(list._.alias)
  return db
    .select({ ...fields, isBeyond: sql<boolean>`total > ${PAGE_BYTES}` })
    .from(measured)
    .where(sql`total - size <= ${PAGE_BYTES}`)
    .orderBy(...order)
}
