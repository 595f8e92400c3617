import { readFileSync } from 'node:fs'

import { sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import { dummyTable, requireRow } from './statements.ts'

/** Returns the names of the migrations that are not applied yet, oldest first. Changes nothing. */
export async function findPendingMigrations(db: Pick<Database, 'select'>, migrationsFolder: string) {
  const isApplied = sql<boolean>`to_regclass('drizzle.__drizzle_migrations') is not null`
  const { hasMigrations } = requireRow(await db.select({ hasMigrations: isApplied }).from(dummyTable))
  return migrationsAfter(hasMigrations ? await findLastMigration(db) : 0, migrationsFolder)
}

/**
 * Returns the creation time of the last applied migration, in milliseconds since the Unix epoch. Later migrations are
 * pending: Drizzle's migrator uses the same rule.
 */
async function findLastMigration(db: Pick<Database, 'select'>) {
  const createdAt = sql`coalesce(max(created_at), 0)`.mapWith(Number)
  return requireRow(await db.select({ createdAt }).from(sql`drizzle.__drizzle_migrations`)).createdAt
}

/** Returns the names of the migrations that were created after `time` (milliseconds since the Unix epoch). */
export function migrationsAfter(time: number, migrationsFolder: string) {
  const journal = readFileSync(`${migrationsFolder}/meta/_journal.json`, 'utf8')
  const { entries } = JSON.parse(journal) as { entries: { tag: string; when: number }[] }
  return entries.filter(({ when }) => when > time).map(({ tag }) => tag)
}
