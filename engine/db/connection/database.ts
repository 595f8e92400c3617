import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'

import type { Notifications } from './notifications.ts'

/**
 * A database or a transaction. The database is a PostgreSQL server or the embedded PostgreSQL.
 *
 * @example
 * const countBooks = (db: Database) => db.$count(books)
 */
export type Database = PgDatabase<PgQueryResultHKT>

/** The names of columns in the database. */
export const casing = 'snake_case'

export interface Connection {
  db: Database
  notifications: Notifications
  /** Returns a compressed archive of the embedded database. Undefined for a PostgreSQL server. */
  dump?: () => Promise<Buffer>
  close: () => Promise<void>
}
