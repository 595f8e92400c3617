import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { type PgDatabase, type PgQueryResultHKT, withReplicas } from 'drizzle-orm/pg-core'
import DataLoader from 'dataloader'
import { sql } from 'drizzle-orm'
import { DrizzleQueryError } from 'drizzle-orm/errors'
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite'
import { migrate as migratePglite } from 'drizzle-orm/pglite/migrator'
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js'
import { migrate as migratePostgres } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'

import { start } from './embedded.ts'

/** Either driver, and a transaction of either. */
export type Database = PgDatabase<PgQueryResultHKT>

export interface Connection {
  db: Database
  close: () => Promise<void>
}

const casing = 'snake_case'
export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/** In seconds. */
const CONNECT_TIMEOUT = 5

/** How long the database may take, in milliseconds: for a statement, for a lock, and between those of a transaction. */
const TIMEOUTS = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
}

/** Any number, the same in every release: whoever holds it migrates. */
const MIGRATION_LOCK = 7_141_925

/**
 * Connections a process keeps. Questions are sent without waiting for the answers before them, so that one connection
 * carries more than many would. Changes wait for the disk: several at once share its writes.
 */
const CONNECTIONS = { reads: 1, writes: 8 }

/** Whether it is a server's address, and not where an embedded PostgreSQL is. */
export const isServer = (url: string) => /^postgres(ql)?:/.test(url)

/**
 * Opens a database and brings it up to date. `postgres://…` is a server, `memory:` lives as long as the process,
 * anything else is the folder of an embedded PostgreSQL, which belongs to one process at a time.
 */
export async function open(url: string): Promise<Connection> {
  if (isServer(url)) {
    await migrateServer(url)
    return openServer(url)
  }
  const embedded = await openEmbedded(url)
  await migratePglite(embedded.db, { migrationsFolder })
  return embedded
}

/** Opens a database as it is. */
export const connect = async (url: string): Promise<Connection> =>
  isServer(url) ? openServer(url) : openEmbedded(url)

const application_name = 'tallystick'
const options = { onnotice: () => undefined, connect_timeout: CONNECT_TIMEOUT }

async function migrateServer(url: string) {
  // Without a limit of time: whoever else migrates is waited for.
  const migrator = postgres(url, { ...options, max: 1, connection: { application_name } })
  try {
    await migrator`select pg_advisory_lock(${MIGRATION_LOCK})`
    await migratePostgres(drizzlePostgres(migrator), { migrationsFolder })
  } finally {
    await migrator.end()
  }
}

function openServer(url: string): Connection {
  const connection = { application_name, ...TIMEOUTS }
  const reads = postgres(url, { ...options, connection, max: CONNECTIONS.reads })
  const writes = postgres(url, { ...options, connection, max: CONNECTIONS.writes })
  const db = withReplicas(drizzlePostgres(writes, { casing }), [drizzlePostgres(reads, { casing })])
  return {
    db,
    close: async () => {
      await Promise.all([reads, writes].map((client) => client.end({ timeout: CONNECT_TIMEOUT })))
    },
  }
}

async function openEmbedded(folder: string) {
  const { client, close } = await start(folder)
  return { db: drizzlePglite(client, { casing }), close }
}

/**
 * A statement that is put together once for each connection to a database, not once a call. One that is prepared under a
 * name is planned once, too: together that saves two thirds of its cost, here and in the database.
 */
export function prepared<Statement>(build: (db: Database) => Statement): (db: Database) => Statement {
  const known = new WeakMap<Database, Statement>()
  return (db) => {
    const statement = known.get(db) ?? build(db)
    known.set(db, statement)
    return statement
  }
}

/**
 * A question that many ask at once: who comes while a statement is under way shares the next, in the order they came.
 * What is answered was asked of the database after it was asked for. A statement that fails fails all of its own.
 */
export const batched = <Key, Value>(
  ask: (db: Database, keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
) =>
  prepared((db) => {
    let turn: Promise<unknown> = Promise.resolve()
    let answered = turn
    const load = (keys: readonly Key[]) => {
      const values = ask(db, keys)
      answered = values.catch(() => undefined)
      return values
    }
    const inTurn = (send: () => void) => {
      turn = turn.then(() => {
        send()
        return answered
      })
    }
    return new DataLoader<Key, Value>(load, { cache: false, batchScheduleFn: inTurn })
  })

/** SQLSTATE, or the code of the connection's own failure. */
export function codeOf(error: unknown): string {
  const cause = error instanceof DrizzleQueryError ? error.cause : error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

/** Whether a statement was refused, whole, for what a row of it holds. */
export const isViolation = (error: unknown) => codeOf(error).startsWith('23')

/** Whether a statement was refused because whom or what its row belongs to is there no more. */
export const isOrphan = (error: unknown) => codeOf(error) === '23503'

// Connections refused, lost or too many; the server starting, stopping or failing over; a limit of time; a deadlock.
const OUTAGES =
  /^(08...|53300|57P..|57014|55P03|40P01|25006|E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)\w*|CONNECT(ION)?_\w+)$/

/** Whether a statement failed because the database could not be had in time, and not for what it says. */
export const isOutage = (error: unknown) => OUTAGES.test(codeOf(error))

const PATIENCE = 2000

/** Whether the database answers, within two seconds. */
export const isReachable = (db: Database) =>
  Promise.race([
    db.execute(sql`select 1`).then(
      () => true,
      () => false,
    ),
    sleep(PATIENCE, false, { ref: false }),
  ])

/** The row of a statement that always answers one. */
export function one<Row>(rows: Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new Error('Expected a row')
  return row
}
