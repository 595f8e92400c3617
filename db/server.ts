import { fileURLToPath } from 'node:url'

import { withReplicas } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'

import type { Connection } from './database.ts'
import { createServerNotifications } from './notifications.ts'
import { observed, type StatementObserver } from './observer.ts'
import { setListConnections } from './pages.ts'
import { CONNECT_TIMEOUT, socketOptions } from './pg-socket.ts'
import { withRowReaders } from './row-reader.ts'

if (!('patchedFor' in postgres))
  throw new Error(
    'The PostgreSQL driver lacks db/patches/postgres+3.4.9.patch: a lost connection would end the process. Run: npm run patch',
  )

export const casing = 'snake_case'
export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/** Settings of PostgreSQL for each connection, in milliseconds. */
const TIMEOUTS = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
}

/**
 * Disables the timeouts during migrations, because a process can wait a long time for another process that migrates.
 */
const NO_TIMEOUTS = Object.keys(TIMEOUTS)
  .map((name) => `-c ${name}=0`)
  .join(' ')

/**
 * Maximum idle timeout of a connection, in milliseconds. The idle timeout is ANSWER_TIMEOUT, unless ANSWER_TIMEOUT
 * exceeds this maximum: a longer idle timeout would delay the detection of a dead server. The maximum is longer than
 * `statement_timeout`, so that PostgreSQL cancels a slow statement before the service closes the silent socket.
 */
const MAX_IDLE_TIMEOUT = 15_000

/**
 * Key of the advisory lock for migrations. The key must not change, because instances of different releases can run
 * at the same time.
 */
const MIGRATION_LOCK = 7_141_925

const COMMON = { onnotice: () => undefined, connect_timeout: CONNECT_TIMEOUT }

const application_name = 'tallystick'

/**
 * Numbers of connections of a process, and driver options, without a pooler (`direct`) and with a pooler (`pooled`).
 *
 * - Reads are pipelined, so one connection has a higher throughput than several connections.
 * - Lists have separate connections, so that short reads do not wait for a long result.
 * - Writes wait for the disk. With several connections, PostgreSQL flushes several commits together (group commit).
 * - PostgreSQL plans a prepared statement once, without its parameters (`force_generic_plan`). By default, PostgreSQL plans
 *   each call of a list again if some people have far more rows than others, which halves the throughput of lists.
 * - A pooler can use a different server connection for each transaction. Statements therefore cannot be prepared. The
 *   driver does not pipeline unprepared statements, so more connections are needed. Connections through a pooler
 *   cannot set timeouts, so the database role must set the timeouts.
 */
const CONNECTION_PLANS = {
  direct: {
    counts: { reads: 1, lists: 2, writes: 4 },
    prepare: true,
    connection: { application_name, plan_cache_mode: 'force_generic_plan', ...TIMEOUTS },
  },
  pooled: { counts: { reads: 8, lists: 4, writes: 8 }, prepare: false, connection: { application_name } },
}

export interface OpenOptions {
  /** URL of the PostgreSQL server itself. Set if the database URL is the URL of a connection pooler. */
  directUrl?: string | undefined
  /**
   * The setting ANSWER_TIMEOUT, in milliseconds. Determines the idle timeout of connections (at most
   * MAX_IDLE_TIMEOUT), and the time without received data after which a connection counts as lost.
   */
  answerTimeout?: number
  /** Called for every statement, for metrics and traces. */
  observers?: readonly StatementObserver[]
}

/** Connects to a PostgreSQL server without applying migrations. Reads, writes and lists use separate connections. */
export async function openServer(
  url: string,
  { directUrl, answerTimeout = MAX_IDLE_TIMEOUT, observers = [] }: OpenOptions = {},
): Promise<Connection> {
  const { counts, ...driverOptions } =
    directUrl === undefined ? CONNECTION_PLANS.direct : CONNECTION_PLANS.pooled
  const idleTimeout = Math.min(answerTimeout, MAX_IDLE_TIMEOUT)
  // Longer than `idleTimeout`, so that the driver closes an idle connection before the connection counts as lost.
  const maxSilence = 2 * idleTimeout
  const options = {
    ...driverOptions,
    ...COMMON,
    ...socketOptions(url, maxSilence),
    idle_timeout: idleTimeout / 1000,
  }
  const connect = (max: number) => postgres(url, { ...options, max })
  const [reads, lists, writes] = [connect(counts.reads), connect(counts.lists), connect(counts.writes)]
  const close = async () => {
    await Promise.all([reads, lists, writes].map((client) => client.end({ timeout: CONNECT_TIMEOUT })))
  }
  await requireTimeouts(reads).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const createDatabase = (client: postgres.Sql) =>
    observers.reduce(observed, withRowReaders(drizzle(client, { casing })))
  const db = withReplicas(createDatabase(writes), [createDatabase(reads)])
  setListConnections(db, createDatabase(lists))
  return { db, notifications: createServerNotifications(directUrl ?? url, writes), close }
}

/** Applies pending migrations to a PostgreSQL server. Waits while another process migrates. */
export async function migrateServer(url: string) {
  const connection = { application_name, options: NO_TIMEOUTS }
  const migrator = postgres(url, {
    ...COMMON,
    ...socketOptions(url, Infinity),
    connection,
    max: 1,
  })
  try {
    await migrator`select pg_advisory_lock(${MIGRATION_LOCK})`
    await migrate(drizzle(migrator), { migrationsFolder })
  } finally {
    await migrator.end()
  }
}

/**
 * Throws if a timeout is not set, because a statement could then hang forever. Connections through a pooler cannot
 * set timeouts, so the database role must set the timeouts.
 */
async function requireTimeouts(client: postgres.Sql) {
  const names = client(Object.keys(TIMEOUTS))
  const withoutTimeout = await client<{ name: keyof typeof TIMEOUTS; role: string }[]>`
    select name, quote_ident(current_user) as role from pg_settings where name in ${names} and setting = '0'`
  if (withoutTimeout.length === 0) return
  const commands = withoutTimeout.map(
    ({ name, role }) => `  alter role ${role} set ${name} = ${TIMEOUTS[name]};`,
  )
  throw new Error(
    [
      'Statements through the pooler at DATABASE_URL have no timeouts. Set timeouts for the role, once:',
      ...commands,
      'Then let the pooler open new connections: run RECONNECT in its admin console.',
    ].join('\n'),
  )
}
