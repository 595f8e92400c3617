import { setTimeout as sleep } from 'node:timers/promises'

import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/pglite'

import { casing, type Connection, type Database } from './database.ts'
import { start } from './embedded.ts'
import { describeStartError } from './connection-errors.ts'
import { createEmbeddedNotifications } from './notifications.ts'
import { observedBy } from './observer.ts'
import { withRowReaders } from './row-reader.ts'
import { applyMigrations, type MigrationSession } from '../migrate/migrate.ts'
import { MigrationError } from '../migrate/migration-files.ts'
import { withTransactionChecks } from './transactions.ts'
import { migrateServer, openServer, type OpenOptions, openWithoutTimeouts } from './server.ts'

export type { ServerOptions } from './server.ts'

/**
 * Returns whether a database URL is the address of a PostgreSQL server. Otherwise the database is embedded.
 *
 * @example
 * isServer('postgres://localhost/app') // true; false for `memory:` and for a folder
 */
export const isServer = (url: string) => /^postgres(ql)?:/.test(url)

/**
 * Opens a database and applies pending migrations. Values of `url`:
 *
 * - `postgres://…`: a PostgreSQL server.
 * - `memory:`: an embedded PostgreSQL in memory. The data is lost when the process ends.
 * - any other value: the folder of an embedded PostgreSQL. Only one process at a time can open the folder.
 */
export async function open(url: string, options: OpenOptions): Promise<Connection> {
  const { onApplied, onMigrated } = options
  if (isServer(url)) {
    await migrate(url, options)
    return openServer(url, options).catch(rethrowStartError('DATABASE_URL'))
  }
  const { client, ...embedded } = await openEmbedded(url)
  const session: MigrationSession = {
    db: embedded.db,
    run: (text) => client.exec(text),
    transaction: (work) => client.transaction((tx) => work((text) => tx.exec(text))),
  }
  const state = await applyMigrations(session, options, onApplied).catch(async (error: unknown) => {
    await embedded.close()
    throw error
  })
  onMigrated?.(state)
  return { ...embedded, db: observedBy(embedded.db, options.observers) }
}

/**
 * Applies pending migrations to a PostgreSQL server.
 *
 * @example
 * await migrate('postgres://localhost/app', { migrationsFolder })
 */
export async function migrate(
  url: string,
  {
    directUrl,
    onMigrated,
    setting = directUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL',
    ...options
  }: OpenOptions & { setting?: string },
) {
  const state = await migrateServer(directUrl ?? url, options).catch(rethrowStartError(setting))
  onMigrated?.(state)
}

/**
 * Opens a database for work that takes long, with one connection and without timeouts. Applies no migrations. `setting` is the
 * name of the setting or option with the address.
 *
 * @example
 * const { db, close } = await openForLongWork(url, 'DATABASE_URL')
 */
export async function openForLongWork(
  url: string,
  setting: string,
): Promise<Pick<Connection, 'db' | 'close'>> {
  if (!isServer(url)) return openEmbedded(url)
  try {
    const opened = openWithoutTimeouts(url)
    await opened.db.execute(sql`select 1`)
    return opened
  } catch (error) {
    return rethrowStartError(setting)(error)
  }
}

const rethrowStartError =
  (setting: string) =>
  (error: unknown): never => {
    throw error instanceof MigrationError ? error : describeStartError(setting, error)
  }

/**
 * Opens a database without applying migrations.
 *
 * @example
 * const { db, close } = await connect('.data')
 */
export const connect = (url: string): Promise<Connection> =>
  isServer(url) ? openServer(url, {}).catch(rethrowStartError('DATABASE_URL')) : openEmbedded(url)

async function openEmbedded(folder: string) {
  const { client, dump, close } = await start(folder)
  return {
    client,
    db: withTransactionChecks(withRowReaders(drizzle(client, { casing }))),
    notifications: createEmbeddedNotifications(client),
    dump,
    close,
  }
}

/** Timeout for the query of the readiness check, in milliseconds. */
const READINESS_TIMEOUT = 2000

/**
 * Returns whether the database answers within READINESS_TIMEOUT.
 *
 * @example
 * const isReady = await isReachable(db)
 */
export const isReachable = (db: Database) =>
  Promise.race([
    db.execute(sql`select 1`).then(
      () => true,
      () => false,
    ),
    sleep(READINESS_TIMEOUT, false, { ref: false }),
  ])
