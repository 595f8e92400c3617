import { fileURLToPath } from 'node:url'

import { withReplicas } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'

import type { Connection } from './database.ts'
import { setListConnections } from './pages.ts'
import { type StatementObserver, observed } from './observer.ts'
import { CONNECT_TIMEOUT, socketOptions } from './pg-socket.ts'

if (!('patchedFor' in postgres))
  throw new Error(
    'The PostgreSQL driver lacks patches/postgres+3.4.9.patch: a lost connection would end the process. Run: npm run patch',
  )

/** How columns are named in the database. */
export const casing = 'snake_case'
export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/** How long the database may take, in milliseconds: for a statement, for a lock, and between those of a transaction. */
const TIMEOUTS = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
}

/** No timeouts while migrating: another process may hold the lock for long. */
const WITHOUT_TIMEOUTS = Object.keys(TIMEOUTS)
  .map((name) => `-c ${name}=0`)
  .join(' ')

/** Longer than any statement may take: no answer is worth waiting for after so many milliseconds. */
const MAX_ANSWER_TIMEOUT = 15_000

/** Key of the advisory lock for migrations, the same in every release. */
const MIGRATION_LOCK = 7_141_925

const COMMON = { onnotice: () => undefined, connect_timeout: CONNECT_TIMEOUT }

const application_name = 'tallystick'

/**
 * Connections of a process. Reads are pipelined: one connection carries more than many would. Lists have connections of
 * their own, so that no short read waits behind a long answer. Writes wait for the disk: several at once share its writes.
 * A pooler lends another connection of the server for every transaction: no statement can be prepared, so that each one
 * waits for the one before it; and no setting can be sent as a connection starts, so that the role needs the timeouts.
 */
const CONNECTION_PLANS = {
  direct: { reads: 1, lists: 2, writes: 4, prepare: true, connection: { application_name, ...TIMEOUTS } },
  pooled: { reads: 8, lists: 4, writes: 8, prepare: false, connection: { application_name } },
}

export interface OpenOptions {
  /** The server itself, where the address is that of a pooler in front of it. */
  directUrl?: string | undefined
  /** How long somebody waits for an answer, in milliseconds. */
  answerTimeout?: number
  /** Who sees every statement. */
  observers?: readonly StatementObserver[]
}

/** Connects to a PostgreSQL server, as it is. */
export async function openServer(
  url: string,
  { directUrl, answerTimeout = MAX_ANSWER_TIMEOUT, observers = [] }: OpenOptions = {},
): Promise<Connection> {
  const {
    reads: few,
    lists: some,
    writes: more,
    ...way
  } = directUrl === undefined ? CONNECTION_PLANS.direct : CONNECTION_PLANS.pooled
  const idle = Math.min(answerTimeout, MAX_ANSWER_TIMEOUT)
  const options = { ...way, ...COMMON, ...socketOptions(url, 2 * idle), idle_timeout: idle / 1000 }
  const connect = (max: number) => postgres(url, { ...options, max })
  const [reads, lists, writes] = [connect(few), connect(some), connect(more)]
  const close = async () => {
    await Promise.all([reads, lists, writes].map((client) => client.end({ timeout: CONNECT_TIMEOUT })))
  }
  await requireTimeouts(reads).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const asked = (client: postgres.Sql) => observers.reduce(observed, drizzle(client, { casing }))
  const db = withReplicas(asked(writes), [asked(reads)])
  setListConnections(db, asked(lists))
  return { db, close }
}

/** Brings a PostgreSQL server up to date. */
export async function migrateServer(url: string) {
  const connection = { application_name, options: WITHOUT_TIMEOUTS }
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

/** Through a pooler nothing but the role can say how long a statement may take: where it does not, some would hang. */
async function requireTimeouts(client: postgres.Sql) {
  const names = client(Object.keys(TIMEOUTS))
  const unlimited = await client<{ name: keyof typeof TIMEOUTS; role: string }[]>`
    select name, quote_ident(current_user) as role from pg_settings where name in ${names} and setting = '0'`
  if (unlimited.length === 0) return
  const lacking = unlimited.map(({ name, role }) => `  alter role ${role} set ${name} = ${TIMEOUTS[name]};`)
  throw new Error(
    [
      'Through the pooler at DATABASE_URL statements have no limits of time. Give them to its role, once:',
      ...lacking,
      'Then let the pooler connect anew: RECONNECT, in its own console.',
    ].join('\n'),
  )
}
