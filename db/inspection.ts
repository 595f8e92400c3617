import { readFileSync } from 'node:fs'

import { sql } from 'drizzle-orm'

import { containsDatabase } from './embedded.ts'
import { connect, isServer } from './index.ts'
import type { Database } from './database.ts'
import { dummyTable, requireRow } from './statements.ts'
import { migrationsFolder } from './server.ts'

export interface Inspection {
  /** The migrations that it lacks, oldest first. */
  pending: string[]
  /** Nothing where there is no database yet. `ahead` is its clock before this machine's, in milliseconds. */
  database?: { name: string; version: string; ahead: number }
}

/** Looks at a database, and changes nothing. */
export async function inspect(url: string): Promise<Inspection> {
  if (!isServer(url) && !containsDatabase(url)) return { pending: migrationsAfter(0) }
  const { db, close } = await connect(url)
  try {
    const { known, ...found } = requireRow(await selectDatabase(db))
    return { pending: migrationsAfter(known ? await findLastMigration(db) : 0), database: { ...found, ahead: await ahead(db) } }
  } finally {
    await close()
  }
}

const selectDatabase = (db: Database) =>
  db
    .select({
      name: sql<string>`current_database()`,
      version: sql<string>`current_setting('server_version')`,
      known: sql<boolean>`to_regclass('drizzle.__drizzle_migrations') is not null`,
    })
    .from(dummyTable)

async function ahead(db: Database) {
  const asked = Date.now()
  const now = sql`extract(epoch from clock_timestamp()) * 1000`.mapWith(Number)
  const clock = requireRow(await db.select({ now }).from(dummyTable)).now
  return clock - (asked + Date.now()) / 2
}

/** When the last migration was written that is in the database: the migrator goes by that alone. */
async function findLastMigration(db: Database) {
  const written = sql`coalesce(max(created_at), 0)`.mapWith(Number)
  return requireRow(await db.select({ written }).from(sql`drizzle.__drizzle_migrations`)).written
}

/** The names of the migrations that were written later. */
function migrationsAfter(written: number) {
  const journal = readFileSync(`${migrationsFolder}/meta/_journal.json`, 'utf8')
  const { entries } = JSON.parse(journal) as { entries: { tag: string; when: number }[] }
  return entries.filter(({ when }) => when > written).map(({ tag }) => tag)
}
