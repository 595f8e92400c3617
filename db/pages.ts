import { type AnyColumn, sql } from 'drizzle-orm'

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

export const EVERYTHING: Span = { limit: Number.MAX_SAFE_INTEGER }

/** Later than any row. */
const BEGINNING: Place = { at: new Date('9999-12-31'), id: 0 }

/** What the statement of a list is given of its span. */
export const bounds = ({ limit, after = BEGINNING }: Span) => ({ limit, ...after })

/** Which rows come after the place in a statement's placeholders: a comparison of rows, as an index is ordered. */
export const comesAfter = (at: AnyColumn, id: AnyColumn) =>
  sql`(${at}, ${id}) < (${sql.param(sql.placeholder('at'), at)}, ${sql.placeholder('id')})`
