import postgres from 'postgres'

import { open } from '../db/index.ts'
import { databaseUrl, startPostgres } from '../test/postgres.ts'

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
  return {
    url,
    drop: async () => {
      await admin`drop database ${admin(name)} with (force)`
      await admin.end()
    },
  }
}
