import postgres from 'postgres'

import { open } from '../db/index.ts'
import { databaseUrl } from '../engine/dev/testing/database-url.ts'
import { startPostgres } from '../engine/dev/testing/postgres.ts'

/** Returns the server at BENCH_DATABASE_URL. Without this variable, starts a server with fsync on, as in production. */
export async function findPostgres() {
  const url = process.env.BENCH_DATABASE_URL
  if (url) return { url, stop: () => Promise.resolve() }
  return startPostgres(['-c', 'max_connections=300'])
}

/** Creates an empty database with all migrations applied. If a database with this name exists, replaces it. */
export async function createDatabase(server: string, name: string) {
  const admin = postgres(server, { max: 1, onnotice: () => undefined })
  await admin`drop database if exists ${admin(name)} with (force)`
  await admin`create database ${admin(name)}`
  const url = databaseUrl(server, name)
  await (await open(url)).close()
  return { url, drop: () => dropDatabase(admin, name) }
}

async function dropDatabase(admin: postgres.Sql, name: string) {
  await admin`drop database ${admin(name)} with (force)`
  await admin.end()
}

/**
 * Copies a database for the peers. The copy has no triggers on tasks, because the peers do not count tasks, and no index
 * that only these counts and filtered lists of many tasks need.
 */
export async function createPeerDatabase(server: string, template: string, name: string) {
  const admin = postgres(server, { max: 1, onnotice: () => undefined })
  await admin`drop database if exists ${admin(name)} with (force)`
  await admin`create database ${admin(name)} template ${admin(template)}`
  const url = databaseUrl(server, name)
  const sql = postgres(url, { max: 1 })
  for (const event of ['inserted', 'updated', 'deleted'])
    await sql`drop trigger ${sql(`task_counts_${event}`)} on tasks`
  await sql`drop index tasks_user_id_status_created_at_id_index`
  await sql.end()
  return { url, drop: () => dropDatabase(admin, name) }
}
