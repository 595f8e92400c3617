import postgres from 'postgres'

import { open } from '../db/index.ts'
import { databaseUrl, startPostgres } from '../test/postgres.ts'

/** BENCH_DATABASE_URL, or a server of its own that keeps its word: fsync on, as in production. */
export async function findPostgres() {
  const given = process.env.BENCH_DATABASE_URL
  if (given) return { url: given, stop: () => Promise.resolve() }
  return startPostgres(['-c', 'max_connections=300'])
}

/** A migrated database of this name, empty, and what drops it. */
export async function makeDatabase(server: string, name: string) {
  const admin = postgres(server, { max: 1, onnotice: () => undefined })
  await admin`drop database if exists ${admin(name)} with (force)`
  await admin`create database ${admin(name)}`
  const url = databaseUrl(server, name)
  await (await open(url)).close()
  return {
    url,
    drop: async () => {
      await admin`drop database ${admin(name)} with (force)`
      await admin.end()
    },
  }
}
