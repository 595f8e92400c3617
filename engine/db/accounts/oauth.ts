import { and, desc, eq, gt, inArray, isNull, like, lt, ne, notExists, or, sql } from 'drizzle-orm'
import { boolean, index, jsonb, pgTable, text } from 'drizzle-orm/pg-core'

import { createdAt, timestamptz } from '../columns.ts'
import type { Database } from '../connection/database.ts'
import { isActive, sessions } from './sessions.ts'
import { users } from './users.ts'

/**
 * The storage of the library OpenAuth: signing keys, authorization codes and refresh tokens. Used codes and tokens
 * stay until they expire, so that a second use (a replay) is detected.
 */
export const records = pgTable(
  'oauth_records',
  {
    key: text().primaryKey(),
    value: jsonb().$type<Record<string, unknown>>().notNull(),
    usedAt: timestamptz(),
    expiresAt: timestamptz(),
  },
  (table) => [index('oauth_records_subject_index').on(sql`(${table.value} ->> 'subject')`)],
)

/** Apps that registered by dynamic client registration (RFC 7591). */
export const clients = pgTable('oauth_clients', {
  id: text().primaryKey(),
  name: text().notNull(),
  redirectUris: text().array().notNull(),
  /** Whether the app can use the device flow. */
  usesDeviceFlow: boolean().notNull().default(false),
  createdAt,
})

const unexpired = or(isNull(records.expiresAt), gt(records.expiresAt, sql`now()`))

export const find = async (db: Database, key: string) =>
  (
    await db
      .select()
      .from(records)
      .where(and(eq(records.key, key), unexpired))
  ).at(0)

/**
 * Marks a record as used, and returns the record. Returns undefined if the record is already used, so that only one
 * of several concurrent callers receives the record. `keepUntil`, if present, becomes the new expiry time.
 */
export const consume = async (db: Database, key: string, keepUntil?: Date) =>
  (
    await db
      .update(records)
      .set({ usedAt: sql`now()`, expiresAt: keepUntil })
      .where(and(eq(records.key, key), isNull(records.usedAt), unexpired))
      .returning()
  ).at(0)

/** Returns whether a record was used within the last `seconds`. */
export const isUsedWithin = async (db: Database, key: string, seconds: number) =>
  (await db.$count(
    records,
    and(eq(records.key, key), gt(records.usedAt, sql`now() - make_interval(secs => ${seconds})`)),
  )) > 0

export const put = (db: Database, key: string, value: Record<string, unknown>, expiresAt?: Date) =>
  db
    .insert(records)
    .values({ key, value, expiresAt })
    .onConflictDoUpdate({ target: records.key, set: { value, expiresAt } })

export const remove = (db: Database, key: string) => db.delete(records).where(eq(records.key, key))

/** Lists the unexpired records with keys that start with `prefix`. */
export const list = (db: Database, prefix: string) =>
  db
    .select()
    .from(records)
    .where(and(like(records.key, `${prefix.replace(/[\\%_]/g, '\\$&')}%`), unexpired))

/** Removes all codes and tokens of a person. */
export const removeBySubject = (db: Database, userId: string) =>
  db.delete(records).where(sql`${records.value} ->> 'subject' = ${userId}`)

export const findClient = async (db: Database, id: string) =>
  (await db.select().from(clients).where(eq(clients.id, id))).at(0)

/**
 * Lists the active grants of apps and agents, the last active first. Without the grants of `exceptClient`. The name is null for an id
 * that belongs to no registered app.
 */
export const listGrants = (db: Database, exceptClient: string, limit: number) =>
  db
    .select({
      client: sessions.clientId,
      name: clients.name,
      email: users.email,
      lastActive: sessions.updatedAt,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(clients, eq(clients.id, sessions.clientId))
    .where(and(ne(sessions.clientId, exceptClient), isActive))
    .orderBy(desc(sessions.updatedAt), desc(sessions.id))
    .limit(limit)

/** Returns a map from ids of registered apps to their redirect URIs. Omits ids that do not exist. */
export async function findRedirectUris(db: Database, ids: string[]) {
  const rows = await db
    .select({ id: clients.id, redirectUris: clients.redirectUris })
    .from(clients)
    .where(inArray(clients.id, ids))
  return new Map(rows.map(({ id, redirectUris }) => [id, redirectUris]))
}

export const insertClient = (db: Database, client: typeof clients.$inferInsert) =>
  db.insert(clients).values(client)

const UNUSED_RETENTION = sql`interval '30 days'`

/**
 * Removes registered apps without grants if their registration is older than UNUSED_RETENTION. Anyone can register
 * apps, so the table would otherwise grow without limit.
 */
export const removeUnusedClients = (db: Database) =>
  db
    .delete(clients)
    .where(
      and(
        lt(clients.createdAt, sql`now() - ${UNUSED_RETENTION}`),
        notExists(db.select().from(sessions).where(eq(sessions.clientId, clients.id))),
      ),
    )

/**
 * Id of the advisory lock in `withKeyLock`. The id must not change, because instances of different releases can run at
 * the same time and must use the same lock.
 */
const KEYS_LOCK = 7_141_926

/**
 * Runs `work` in a transaction with an exclusive lock, so that only one process at a time creates signing keys. Waits
 * while another process holds the lock.
 */
export const withKeyLock = (db: Database, work: (db: Database) => Promise<void>) =>
  db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${KEYS_LOCK})`)
    await work(tx)
  })
