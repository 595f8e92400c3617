import { setTimeout as sleep } from 'node:timers/promises'

import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/pglite'
import { migrate } from 'drizzle-orm/pglite/migrator'

import type { Connection, Database } from './database.ts'
import { start } from './embedded.ts'
import { casing, migrateServer, migrationsFolder, openServer, type OpenOptions } from './server.ts'

import { observed } from './observer.ts'

/** Whether it is a server's address, and not where an embedded PostgreSQL is. */
export const isServer = (url: string) => /^postgres(ql)?:/.test(url)

/**
 * Opens a database and brings it up to date. `postgres://…` is a server, `memory:` lives as long as the process,
 * anything else is the folder of an embedded PostgreSQL, which belongs to one process at a time.
 */
export async function open(url: string, opening: OpenOptions = {}): Promise<Connection> {
  if (isServer(url)) {
    await migrateServer(opening.directUrl ?? url)
    return openServer(url, opening)
  }
  const embedded = await openEmbedded(url)
  await migrate(embedded.db, { migrationsFolder })
  return { ...embedded, db: (opening.observers ?? []).reduce(observed, embedded.db) }
}

/** Opens a database as it is. */
export const connect = (url: string): Promise<Connection> =>
  isServer(url) ? openServer(url) : openEmbedded(url)

async function openEmbedded(folder: string) {
  const { client, close } = await start(folder)
  return { db: drizzle(client, { casing }), close }
}

const READINESS_TIMEOUT = 2000

/** Whether the database answers, within two seconds. */
export const isReachable = (db: Database) =>
  Promise.race([
    db.execute(sql`select 1`).then(
      () => true,
      () => false,
    ),
    sleep(READINESS_TIMEOUT, false, { ref: false }),
  ])

