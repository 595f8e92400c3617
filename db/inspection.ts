import { readFileSync } from 'node:fs'

import { sql } from 'drizzle-orm'

import { holdsDatabase } from './embedded.ts'
import { connect, isServer } from './index.ts'
import type { Database } from './database.ts'
import { nowhere, one } from './statements.ts'
import { migrationsFolder } from './server.ts'

export interface Condition {
  /** The migrations that it lacks, oldest first. */
  pending: string[]
  /** Nothing where there is no database yet. `ahead` is its clock before this machine's, in milliseconds. */
  found?: { name: string; version: string; ahead: number }
}

/** Looks at a database, and changes nothing. */
export async function inspect(url: string): Promise<Condition> {
  if (!isServer(url) && !holdsDatabase(url)) return { pending: since(0) }
  const { db, close } = await connect(url)
  try {
    const { known, ...found } = one(await about(db))
    return { pending: since(known ? await latest(db) : 0), found: { ...found, ahead: await ahead(db) } }
  } finally {
    await close()
  }
}

const about = (db: Database) =>
  db
    .select({
      name: sql<string>`current_database()`,
      version: sql<string>`current_setting('server_version')`,
      known: sql<boolean>`to_regclass('drizzle.__drizzle_migrations') is not null`,
    })
    .from(nowhere)

async function ahead(db: Database) {
  const asked = Date.now()
  const now = sql`extract(epoch from clock_timestamp()) * 1000`.mapWith(Number)
  const clock = one(await db.select({ now }).from(nowhere)).now
  return clock - (asked + Date.now()) / 2
}

/** When the last migration was written that is in the database: the migrator goes by that alone. */
async function latest(db: Database) {
  const written = sql`coalesce(max(created_at), 0)`.mapWith(Number)
  return one(await db.select({ written }).from(sql`drizzle.__drizzle_migrations`)).written
}

/** The names of the migrations that were written later. */
function since(written: number) {
  const journal = readFileSync(`${migrationsFolder}/meta/_journal.json`, 'utf8')
  const { entries } = JSON.parse(journal) as { entries: { tag: string; when: number }[] }
  return entries.filter(({ when }) => when > written).map(({ tag }) => tag)
}
