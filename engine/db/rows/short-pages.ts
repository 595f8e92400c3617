import { type AnyColumn, is, type SQL, sql, type Subquery } from 'drizzle-orm'
import { PgText, PgVarchar, type SelectedFields } from 'drizzle-orm/pg-core'

import type { Database } from '../connection/database.ts'
import { type SizedRow, withNumericTimes } from '../pagination.ts'

/** Maximum number of rows that the statement of a short page reads. */
export const MAX_SHORT_ROWS = 51

/** Maximum total size of the texts in a short page, in bytes. */
const MAX_SHORT_BYTES = 256 * 1024

/**
 * Short pages: few rows with short texts. Their statement needs no window function, which takes a fifth of the time of the
 * statement of a list: the process measures the texts. The statement cuts longer texts, so that its result has a limited size in
 * every case; `measure` then returns undefined, and the caller needs `limitBytes`.
 *
 * Undefined if `texts` has other types than texts: a part of an array or of JSON is no value of its type.
 */
export function createShortPages(fields: SelectedFields, texts: readonly (AnyColumn | SQL)[]) {
  if (!texts.every((text) => is(text, PgText) || is(text, PgVarchar))) return undefined
  const maxSize = Math.floor(MAX_SHORT_BYTES / MAX_SHORT_ROWS / Math.max(texts.length, 1))
  const max = sql.raw(String(maxSize))
  // A cut text has more bytes than the maximum, because each of its characters has at least one.
  const cut = (text: AnyColumn) =>
    sql`case when octet_length(${text}) > ${max} then left(${text}, ${max} + 1) else ${text} end`
  const cutTexts = Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const text = texts.find((each) => each === field)
      return text ? [[name, cut(text)]] : []
    }),
  )
  const names = Object.keys(cutTexts)

  return {
    /** Returns the query of `list`, which has at most MAX_SHORT_ROWS rows. The parameters are those of `limitBytes`. */
    select: (db: Database, list: Subquery, selected: SelectedFields, order: readonly SQL[]) =>
      db
        .select({ ...withNumericTimes(selected), ...cutTexts })
        .from(list)
        .orderBy(...order),

    /** Adds the sizes of `limitBytes` to the rows. Undefined if a text is too long: the statement has cut the text. */
    measure<Row extends Readonly<Record<string, unknown>>>(rows: Row[]): SizedRow<Row>[] | undefined {
      // Each row gets the field `bytes` here: copies would take longer.
      const sized = rows as SizedRow<Row>[]
      let bytes = 0
      for (const row of sized) {
        for (const name of names) {
          const text: unknown = row[name]
          const size = typeof text === 'string' ? Buffer.byteLength(text) : 0
          if (size > maxSize) return undefined
          bytes += size
        }
        row.bytes = bytes
      }
      return sized
    },
  }
}
