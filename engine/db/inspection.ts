import { sql } from 'drizzle-orm'

import type { Database } from './connection/database.ts'
import { containsDatabase } from './connection/pglite.ts'
import { connect, isServer } from './connection/open.ts'
import { listMigrations } from './migrate/migration-files.ts'
import { readMigrationState, type WantedMigrations } from './migrate/migrations.ts'
import { dummyTable, requireRow } from './statements.ts'

export interface Inspection {
  /** Names of the migrations that are not applied yet, in the order of their application. */
  pending: string[]
  /** Names of applied migrations whose files have changed since. */
  changed: string[]
  /** Undefined if the database does not exist yet. */
  database?: {
    name: string
    /** The version of PostgreSQL. */
    version: string
    /** The clock of the database minus the clock of this machine, in milliseconds. */
    clockOffset: number
  }
}

/** Reports the state of a database. Changes nothing. */
export async function inspect(url: string, wanted: WantedMigrations): Promise<Inspection> {
  if (!isServer(url) && !containsDatabase(url))
    return { pending: listMigrations(wanted.migrationsFolder), changed: [] }
  const { db, close } = await connect(url)
  try {
    const database = requireRow(await selectDatabase(db))
    const { pending, changed } = await readMigrationState(db, wanted)
    return { pending, changed, database: { ...database, clockOffset: await measureClockOffset(db) } }
  } finally {
    await close()
  }
}

const selectDatabase = (db: Database) =>
  db
    .select({
      name: sql<string>`current_database()`,
      version: sql<string>`current_setting('server_version')`,
    })
    .from(dummyTable)

/** Assumes that the database reads its clock in the middle of the query's round trip. */
async function measureClockOffset(db: Database) {
  const sentAt = Date.now()
  const now = sql`extract(epoch from clock_timestamp()) * 1000`.mapWith(Number)
  const clock = requireRow(await db.select({ now }).from(dummyTable)).now
  return clock - (sentAt + Date.now()) / 2
}
