import { readFileSync } from 'node:fs'

import { sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import { containsDatabase } from './embedded.ts'
import { connect, isServer } from './index.ts'
import { migrationsFolder } from './server.ts'
import { dummyTable, requireRow } from './statements.ts'

export interface Inspection {
  /** Names of the migrations that are not applied yet, oldest first. */
  pending: string[]
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
export async function inspect(url: string): Promise<Inspection> {
  if (!isServer(url) && !containsDatabase(url)) return { pending: migrationsAfter(0) }
  const { db, close } = await connect(url)
  try {
    const { hasMigrations, ...database } = requireRow(await selectDatabase(db))
    return {
      pending: migrationsAfter(hasMigrations ? await findLastMigration(db) : 0),
      database: { ...database, clockOffset: await measureClockOffset(db) },
    }
  } finally {
    await close()
  }
}

const selectDatabase = (db: Database) =>
  db
    .select({
      name: sql<string>`current_database()`,
      version: sql<string>`current_setting('server_version')`,
      hasMigrations: sql<boolean>`to_regclass('drizzle.__drizzle_migrations') is not null`,
    })
    .from(dummyTable)

/** Assumes that the database reads its clock in the middle of the query's round trip. */
async function measureClockOffset(db: Database) {
  const sentAt = Date.now()
  const now = sql`extract(epoch from clock_timestamp()) * 1000`.mapWith(Number)
  const clock = requireRow(await db.select({ now }).from(dummyTable)).now
  return clock - (sentAt + Date.now()) / 2
}

/**
 * Returns the creation time of the last applied migration, in milliseconds since the Unix epoch. Later migrations are
 * pending: Drizzle's migrator uses the same rule.
 */
async function findLastMigration(db: Database) {
  const createdAt = sql`coalesce(max(created_at), 0)`.mapWith(Number)
  return requireRow(await db.select({ createdAt }).from(sql`drizzle.__drizzle_migrations`)).createdAt
}

/** Returns the names of the migrations that were created after `time` (milliseconds since the Unix epoch). */
function migrationsAfter(time: number) {
  const journal = readFileSync(`${migrationsFolder}/meta/_journal.json`, 'utf8')
  const { entries } = JSON.parse(journal) as { entries: { tag: string; when: number }[] }
  return entries.filter(({ when }) => when > time).map(({ tag }) => tag)
}
