import { setTimeout as sleep } from 'node:timers/promises'

import { withReplicas } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'

import { type DatabaseUrl, parseDatabaseUrl } from './database-url.ts'
import { casing, type Connection } from './database.ts'
import { createServerNotifications } from './notifications.ts'
import { observedBy, type StatementObserver } from './observer.ts'
import { setListConnections } from '../pagination.ts'
import { applyMigrations, type MigrationSession, type OnApplied } from '../migrate/migrate.ts'
import type { MigrationState, WantedMigrations } from '../migrate/migrations.ts'
import { CONNECT_TIMEOUT, connectionOptions } from './pg-socket.ts'
import { withRowReaders } from './row-reader.ts'
import { withTransactionChecks } from './transactions.ts'

if (!('patchedFor' in postgres))
  throw new Error(
    'The PostgreSQL driver lacks db/patches/postgres+3.4.9.patch: a lost connection would end the process. Run: npm run patch',
  )

/** Settings of PostgreSQL for each connection, in milliseconds. */
const TIMEOUTS = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
}

/** The migrations create all tables in this schema. */
const search_path = 'public'

/** Replaces the search path of the role. The options of a database URL can replace this search path. */
const SCHEMA = `-c search_path=${search_path}`

/** Settings of PostgreSQL that the service requires, also through a pooler. */
const REQUIRED = { ...TIMEOUTS, search_path }

/** Disables the timeouts during migrations, because a process can wait a long time for another process that migrates. */
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

/** Interval between attempts to lock the migrations, in milliseconds. */
const LOCK_INTERVAL = 200

const DRIVER_DEFAULTS = { onnotice: () => undefined, connect_timeout: CONNECT_TIMEOUT }

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
    connection: { plan_cache_mode: 'force_generic_plan', ...TIMEOUTS, options: SCHEMA },
  },
  pooled: { counts: { reads: 8, lists: 4, writes: 8 }, prepare: false, connection: {} },
}

export interface OpenOptions extends ServerOptions, WantedMigrations {
  /** Called with the name of each migration, after the migration has been applied. */
  onApplied?: OnApplied
  /** Called with the state of the migrations, after pending migrations have been applied. */
  onMigrated?: (state: MigrationState) => void
}

/**
 * How a PostgreSQL server is used, in addition to its URL.
 *
 * @example
 * const connection = await open(url, { migrationsFolder, directUrl: 'postgres://db.internal/app' })
 */
export interface ServerOptions {
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
  { directUrl, answerTimeout = MAX_IDLE_TIMEOUT, observers = [] }: ServerOptions = {},
): Promise<Connection> {
  const database = parseDatabaseUrl(url)
  const { counts, prepare, connection } =
    directUrl === undefined ? CONNECTION_PLANS.direct : CONNECTION_PLANS.pooled
  const idleTimeout = Math.min(answerTimeout, MAX_IDLE_TIMEOUT)
  // Longer than `idleTimeout`, so that the driver closes an idle connection before the connection counts as lost.
  const maxSilence = 2 * idleTimeout
  const options = {
    prepare,
    connection: startupParameters(database, connection),
    ...DRIVER_DEFAULTS,
    ...connectionOptions(database, maxSilence),
    idle_timeout: idleTimeout / 1000,
  }
  const connect = (max: number) => postgres({ ...options, max })
  const [reads, lists, writes] = [connect(counts.reads), connect(counts.lists), connect(counts.writes)]
  const close = async () => {
    await Promise.all([reads, lists, writes].map((client) => client.end({ timeout: CONNECT_TIMEOUT })))
  }
  await requireParameters(reads).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const createDatabase = (client: postgres.Sql) =>
    observedBy(withTransactionChecks(withRowReaders(drizzle(client, { casing }))), observers)
  // Drizzle sends selects, counts and statements with CTEs to the second argument, other statements and transactions to the first.
  const db = withReplicas(createDatabase(writes), [createDatabase(reads)])
  const listing = createDatabase(lists)
  setListConnections(db, { lists: listing, boundedLists: directUrl === undefined ? db : listing })
  const direct = directUrl === undefined ? database : parseDatabaseUrl(directUrl)
  return { db, notifications: createServerNotifications(direct, writes), close }
}

/** Returns the parameters that a connection sends at its start: `own`, and the parameters of the URL, which have priority. */
const startupParameters = <Own extends { options?: string }>({ startup }: DatabaseUrl, own: Own) => ({
  application_name: 'tallystick',
  ...own,
  ...startup,
  options: [own.options, startup.options].filter(Boolean).join(' '),
})

/**
 * Applies pending migrations to a PostgreSQL server. Waits while another process migrates. If no migration is pending,
 * the role needs no permission to create tables. Returns the state before.
 */
export async function migrateServer(
  url: string,
  { onApplied, ...wanted }: Pick<OpenOptions, 'migrationsFolder' | 'queues' | 'onApplied'>,
): Promise<MigrationState> {
  const migrator = connectWithoutTimeouts(url)
  try {
    await lockMigrations(migrator)
    const session: MigrationSession = {
      db: drizzle(migrator),
      run: (text) => migrator.unsafe(text),
      transaction: (work) => migrator.begin((tx) => work((text) => tx.unsafe(text))),
    }
    return await applyMigrations(session, wanted, onApplied)
  } finally {
    await migrator.end()
  }
}

function connectWithoutTimeouts(url: string) {
  const database = parseDatabaseUrl(url)
  return postgres({
    ...DRIVER_DEFAULTS,
    ...connectionOptions(database, Infinity),
    connection: startupParameters(database, { options: `${SCHEMA} ${NO_TIMEOUTS}` }),
    max: 1,
  })
}

/** Opens one connection to a PostgreSQL server, for work that takes long. */
export function openWithoutTimeouts(url: string) {
  const client = connectWithoutTimeouts(url)
  return { db: drizzle(client, { casing }), close: () => client.end() }
}

/**
 * Waits until no other process migrates. Polls, because a statement that waits for the lock has a snapshot, and `create index
 * concurrently` of the other process waits for older snapshots.
 */
async function lockMigrations(migrator: postgres.Sql) {
  for (;;) {
    const [row] = await migrator`select pg_try_advisory_lock(${MIGRATION_LOCK}) as "isLocked"`
    if (row?.isLocked === true) return
    await sleep(LOCK_INTERVAL)
  }
}

/**
 * Throws if a timeout is not set, because a statement could then hang forever, or if the search path does not begin with
 * the schema of the tables. Connections through a pooler cannot set parameters, so the database role must set them.
 */
async function requireParameters(client: postgres.Sql) {
  const names = client(Object.keys(TIMEOUTS))
  const missing = await client<{ name: keyof typeof REQUIRED; role: string }[]>`
    select name, quote_ident(current_user) as role from pg_settings where name in ${names} and setting = '0'
    union all
    select 'search_path', quote_ident(current_user) where current_schema() is distinct from ${search_path}`
  if (missing.length === 0) return
  const commands = missing.map(({ name, role }) => `  alter role ${role} set ${name} = ${REQUIRED[name]};`)
  throw new Error(
    [
      'Statements have no timeouts, or another search path. Remove search_path from the options in the URL. Through a pooler, set for the role, once:',
      ...commands,
      'Then let the pooler open new connections: run RECONNECT in its admin console.',
    ].join('\n'),
  )
}
