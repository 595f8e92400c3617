import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'

/** Either driver, and a transaction of either. */
export type Database = PgDatabase<PgQueryResultHKT>

export interface Connection {
  db: Database
  close: () => Promise<void>
}
