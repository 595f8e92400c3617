import { setTimeout as sleep } from 'node:timers/promises'

import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import DataLoader from 'dataloader'
import { type SQL, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/pglite'
import { migrate } from 'drizzle-orm/pglite/migrator'

import { start } from './embedded.ts'
import { casing, migrateServer, migrationsFolder, openServer, type Opening } from './server.ts'

import { watched } from './observer.ts'

/** Either driver, and a transaction of either. */
export type Database = PgDatabase<PgQueryResultHKT>

export interface Connection {
  db: Database
  close: () => Promise<void>
}

/** Whether it is a server's address, and not where an embedded PostgreSQL is. */
export const isServer = (url: string) => /^postgres(ql)?:/.test(url)

/**
 * Opens a database and brings it up to date. `postgres://…` is a server, `memory:` lives as long as the process,
 * anything else is the folder of an embedded PostgreSQL, which belongs to one process at a time.
 */
export async function open(url: string, opening: Opening = {}): Promise<Connection> {
  if (isServer(url)) {
    await migrateServer(opening.directUrl ?? url)
    return openServer(url, opening)
  }
  const embedded = await openEmbedded(url)
  await migrate(embedded.db, { migrationsFolder })
  return { ...embedded, db: (opening.watches ?? []).reduce(watched, embedded.db) }
}

/** Opens a database as it is. */
export const connect = (url: string): Promise<Connection> =>
  isServer(url) ? openServer(url) : openEmbedded(url)

async function openEmbedded(folder: string) {
  const { client, close } = await start(folder)
  return { db: drizzle(client, { casing }), close }
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
 * A question that many ask at once: who comes while `most` statements are under way shares the next, in the order they came.
 * What is answered was asked of the database after it was asked for. A statement that fails fails all of its own.
 */
export const batched = <Key, Value>(
  most: number,
  ask: (db: Database, keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
) =>
  prepared((db) => {
    let underWay = 0
    let waiting: (() => void) | undefined
    const load = (keys: readonly Key[]) => {
      underWay++
      const values = ask(db, keys)
      values.then(end, end)
      return values
    }
    const end = () => {
      underWay--
      const send = waiting
      waiting = undefined
      send?.()
    }
    const inTurn = (send: () => void) => {
      if (underWay < most) queueMicrotask(send)
      else waiting = send
    }
    return new DataLoader<Key, Value>(load, { cache: false, batchScheduleFn: inTurn })
  })

/** SQLSTATE, or the code of the connection's own failure, however it was wrapped. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error ? String(error.code) : codeOf(error.cause)
}

/** Whether a statement was refused, whole, for what a row of it holds. */
export const isViolation = (error: unknown) => codeOf(error).startsWith('23')

/** Whether a statement was refused because whom or what its row belongs to is there no more. */
export const isOrphan = (error: unknown) => codeOf(error) === '23503'

// Connections refused, lost or too many; the server starting, stopping or failing over; a limit of time; a deadlock.
const OUTAGES =
  /^(08...|53300|57P..|57014|55P03|40P01|25006|E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)\w*|CONNECT(ION)?_\w+)$/

/** Whether a statement failed because the database could not be had in time, and not for what it says. */
export const isOutage = (error: unknown): error is Error => OUTAGES.test(codeOf(error))

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

/** What is selected from where a function alone is asked. */
export const nowhere = sql`(values (1)) as one`

/** Takes a lock of the database until the transaction ends. Answers whether it was free: nobody waits for it. */
export const tryLock = async (tx: Database, key: SQL) =>
  one(await tx.select({ mine: sql<boolean>`pg_try_advisory_xact_lock(${key})` }).from(nowhere)).mine

/** The row of a statement that always answers one. */
export function one<Row>(rows: Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new Error('Expected a row')
  return row
}
