import {
  type AnyColumn,
  type DriverValueEncoder,
  is,
  type SQL,
  sql,
  type SQLWrapper,
  type Subquery,
} from 'drizzle-orm'
import { PgTimestamp, type SelectedFields } from 'drizzle-orm/pg-core'

import { asText } from './column-types.ts'
import type { Database } from './connection/database.ts'
import { containsText } from './search.ts'

interface ListConnections {
  lists: Database
  boundedLists: Database
}

const separateConnections = new WeakMap<Database, ListConnections>()

/** Sets the connections that `connectionForLists` and `connectionForBoundedLists` return for a database. */
export const setListConnections = (db: Database, connections: ListConnections) =>
  separateConnections.set(db, connections)

/**
 * Returns the connections for queries with long results: lists, counts and exports. These connections are separate,
 * so that short statements do not wait for a long result. A transaction and the embedded database have only one
 * connection, so `connectionForLists` returns `db` itself.
 */
export const connectionForLists = (db: Database) => separateConnections.get(db)?.lists ?? db

/** Returns the connections for lists whose cost is limited, so that short statements can wait for them. */
export const connectionForBoundedLists = (db: Database) => separateConnections.get(db)?.boundedLists ?? db

/** The position of a row in a list (keyset pagination). Lists are ordered by time and id, newest first. */
export interface Position {
  at: Date
  id: number | string
}

/** A requested page: at most `limit` rows, from the beginning of the list or after a position. */
export interface PageRequest<After = Position> {
  limit: number
  after?: After
  /** The text of a search. The statement then scans `limit` rows, and returns at most `maxMatches` rows with the text. */
  q?: string
  maxMatches?: number
}

/** The position before the first row of every list: a time later than every row. Ids of each type can be null. */
const BEGINNING = { at: new Date('9999-12-31'), id: null }

/** Values for the placeholders of a list statement. */
export const pageParameters = ({ limit, after, q, maxMatches }: PageRequest) => ({
  limit,
  ...(after ?? BEGINNING),
  q,
  maxMatches,
})

/**
 * Condition: in the order of the list, the row comes after the position in the placeholders `at` and `id`. The
 * condition is a row comparison, because PostgreSQL can use an index on both columns for a row comparison.
 */
export const isAfterPosition = (at: AnyColumn, id: AnyColumn) =>
  sql`(${at}, ${id}) < (${sql.param(sql.placeholder('at'), at)}, ${sql.param(sql.placeholder('id'), nullable(id))})`

/** Encoders of Drizzle take no null. */
const nullable = (column: AnyColumn): DriverValueEncoder<unknown, unknown> => ({
  mapToDriverValue: (value) => (value === null ? null : column.mapToDriverValue(value)),
})

/** Maximum total size of the texts in a page, in bytes of JSON. Equals the maximum size of a request body. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** What a search adds to each row. */
interface Scan {
  /** Number of rows that the statement has scanned. */
  scanned: number
  /** Number of these rows with the text. */
  matched: number
  /** Whether the row belongs to the page. Otherwise, the row only tells where the scan has ended. */
  isListed: boolean
}

/** A row of a list with `bytes`: the size of the texts in this and all previous rows of the page. */
export type SizedRow<Row> = Row & { bytes: number } & Partial<Scan>

export const totalBytes = (rows: readonly SizedRow<unknown>[]) => rows.at(-1)?.bytes ?? 0

interface LimitOptions {
  /** The columns to measure as texts. */
  texts: readonly (AnyColumn | SQL)[]
  /** The columns to search as texts. By default, `texts`. */
  searched?: readonly (AnyColumn | SQL)[]
  /** The order of the list. */
  order: readonly SQL[]
  /** Whether the query returns only the rows with the text in the placeholder `q`, in one of `texts`. */
  isSearch?: boolean
}

/**
 * Returns the query of `list`, with the `bytes` of SizedRow. The query ends with the first row beyond MAX_PAGE_BYTES,
 * because a large list takes time and memory that other callers need.
 *
 * - The row beyond the limit tells the caller that another page follows. The caller omits this row from the page.
 * - A single row larger than the limit counts as exactly MAX_PAGE_BYTES, so that the row fits in a page of its own.
 * - The alias of `list` must be the table name of the columns in `fields`, because the outer queries use qualified
 *   column names.
 * - The names of the added columns begin with `_`, because a table can have a column `size` or `position`.
 * - A search (`isSearch`) scans the rows of `list`. In addition to the rows with the text, it returns the last scanned row,
 *   so that the caller can continue the scan.
 */
export function limitBytes<Fields extends SelectedFields>(
  db: Database,
  list: Subquery,
  fields: Fields,
  { texts, searched = texts, order, isSearch = false }: LimitOptions,
) {
  const textSizes = texts.map((text) => sql`coalesce(octet_length(${asText(text)}), 0)`)
  if (textSizes.length === 0) textSizes.push(sql`0`)
  const max = sql.raw(String(MAX_PAGE_BYTES))
  const size = sql`least(${sql.join(textSizes, sql` + `)}, ${max})`
  const byOrder = sql`order by ${sql.join([...order], sql`, `)}`
  const upToRow = sql`(${byOrder} rows unbounded preceding)`
  const isWithin = sql`_total - _size <= ${max}`
  if (!isSearch) {
    const measured: Subquery = db
      .select({ ...fields, _size: size.as('_size'), _total: sql`sum(${size}) over ${upToRow}`.as('_total') })
      .from(list)
      .as(list._.alias)
    return select({})
      .from(measured)
      .where(isWithin)
      .orderBy(...order)
  }
  const compared: Subquery = db
    .select({ ...fields, _size: size.as('_size'), _has_text: containsText(searched).as('_has_text') })
    .from(list)
    // The limit makes PostgreSQL compare each text only once.
    .limit(sql.placeholder('limit'))
    .as(list._.alias)
  // `_total` and `_match` are sums up to the row. `_scanned` and `_matched` are sums of all rows.
  const measured: Subquery = db
    .select({
      ...fields,
      _size: sql`_size`.as('_size'),
      _has_text: sql`_has_text`.as('_has_text'),
      _total: sql`coalesce(sum(_size) filter (where _has_text) over ${upToRow}, 0)`.as('_total'),
      _match: sql`count(*) filter (where _has_text) over ${upToRow}`.as('_match'),
      _position: sql`row_number() over (${byOrder})`.as('_position'),
      _scanned: sql`count(*) over ()`.as('_scanned'),
      _matched: sql`count(*) filter (where _has_text) over ()`.as('_matched'),
    })
    .from(compared)
    .as(list._.alias)
  const isListed = sql`(_has_text and ${isWithin} and _match <= ${sql.placeholder('maxMatches')}::int)`
  return select({ scanned: sql`_scanned::int`, matched: sql`_matched::int`, isListed })
    .from(measured)
    .where(sql`${isListed} or _position = _scanned`)
    .orderBy(...order)

  // The type is the type of both queries: only a search has the fields of a scan.
  function select(scan: Partial<Record<keyof Scan, SQL>>) {
    const sized = { bytes: sql<number>`_total::int`, ...(scan as { [Name in keyof Scan]: SQL<Scan[Name]> }) }
    return db.select({ ...withNumericTimes(fields), ...sized })
  }
}

/** A byte of UTF-8 becomes at most six bytes of JSON (`\u0001`). */
const MAX_JSON_BYTES_PER_BYTE = 6

/**
 * Applies the limit of `limitBytes` again, to the size of the texts in JSON, which can exceed the size in the database. Not
 * part of the statement, because PostgreSQL would convert the texts of all rows up to the limit, also of those beyond the
 * page: 4 s for 1,000 texts of 10,000 control characters.
 */
export function limitJson<Row>(
  rows: SizedRow<Row>[],
  textsOf: (row: Row) => readonly unknown[],
): SizedRow<Row>[] {
  if (totalBytes(rows) * MAX_JSON_BYTES_PER_BYTE <= MAX_PAGE_BYTES) return rows
  const measured: SizedRow<Row>[] = []
  let bytes = 0
  for (const row of rows) {
    if (bytes > MAX_PAGE_BYTES) break
    const size = textsOf(row).reduce<number>((sum, text) => sum + jsonSize(text), 0)
    bytes += Math.min(size, MAX_PAGE_BYTES)
    measured.push({ ...row, bytes })
  }
  return measured
}

/** Returns the size of a value in JSON, in bytes. The size of a text is without its quotation marks, and null has none. */
function jsonSize(value: unknown) {
  const size = Buffer.byteLength(JSON.stringify(value ?? '', toJson))
  return typeof (value ?? '') === 'string' ? size - 2 : size
}

const toJson = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

/**
 * Selects times as milliseconds, because `new Date` reads a number faster than a text: 9 % more requests per second of
 * a list with two times in each row. A field that is an object of columns, such as `session`, remains unchanged.
 */
export const withNumericTimes = <Fields extends SelectedFields>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      is(field, PgTimestamp) ? inMilliseconds(field, field.precision ?? 6) : field,
    ]),
  ) as Fields

/** `Date` drops microseconds. A cast to bigint alone would round the microseconds. */
function inMilliseconds(time: SQLWrapper, precision: number) {
  const milliseconds =
    precision > 3
      ? sql`floor(extract(epoch from ${time}) * 1000)::bigint`
      : sql`(date_part('epoch', ${time}) * 1000)::bigint`
  return milliseconds.mapWith((value) => new Date(Number(value)))
}
