import { and, eq, gt, isNull, like, lt, notExists, or, sql } from 'drizzle-orm'
import { index, jsonb, pgTable, text } from 'drizzle-orm/pg-core'

import { createdAt, timestamptz } from './columns.ts'
import type { Database } from './database.ts'
import { sessions } from './sessions.ts'

/** What the token service keeps: keys, codes and refresh tokens, by key. Used ones stay, to recognise a replay. */
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

/** Apps that registered themselves. */
export const clients = pgTable('oauth_clients', {
  id: text().primaryKey(),
  name: text().notNull(),
  redirectUris: text().array().notNull(),
  createdAt,
})

const live = or(isNull(records.expiresAt), gt(records.expiresAt, sql`now()`))

export const find = async (db: Database, key: string) =>
  (
    await db
      .select()
      .from(records)
      .where(and(eq(records.key, key), live))
  ).at(0)

/** Marks a record as used, once: of concurrent callers one gets it. `keepUntil` replaces its expiry. */
export const consume = async (db: Database, key: string, keepUntil?: Date) =>
  (
    await db
      .update(records)
      .set({ usedAt: sql`now()`, expiresAt: keepUntil })
      .where(and(eq(records.key, key), isNull(records.usedAt), live))
      .returning()
  ).at(0)

export const put = (db: Database, key: string, value: Record<string, unknown>, expiresAt?: Date) =>
  db
    .insert(records)
    .values({ key, value, expiresAt })
    .onConflictDoUpdate({ target: records.key, set: { value, expiresAt } })

export const remove = (db: Database, key: string) => db.delete(records).where(eq(records.key, key))

/** Every record whose key begins so. */
export const list = (db: Database, prefix: string) =>
  db
    .select()
    .from(records)
    .where(and(like(records.key, `${prefix.replace(/[\\%_]/g, '\\$&')}%`), live))

/** Removes every code and token that stands for a person. */
export const removeBySubject = (db: Database, userId: string) =>
  db.delete(records).where(sql`${records.value} ->> 'subject' = ${userId}`)

export const findClient = async (db: Database, id: string) =>
  (await db.select().from(clients).where(eq(clients.id, id))).at(0)

export const insertClient = (db: Database, client: typeof clients.$inferInsert) =>
  db.insert(clients).values(client)

/** How long an app that registered itself is kept while it holds no grant. */
const UNUSED = sql`interval '30 days'`

/** Removes apps that registered long ago and hold no grant: anyone can register, so the table would grow forever. */
export const removeUnusedClients = (db: Database) =>
  db
    .delete(clients)
    .where(
      and(
        lt(clients.createdAt, sql`now() - ${UNUSED}`),
        notExists(db.select().from(sessions).where(eq(sessions.clientId, clients.id))),
      ),
    )

/** Any number, the same in every release: whoever holds it makes keys. */
const KEYS_LOCK = 7_141_926

/** Runs alone among all processes on the database. */
export const withKeyLock = (db: Database, work: (db: Database) => Promise<void>) =>
  db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${KEYS_LOCK})`)
    await work(tx)
  })
