import { and, eq, gt, sql } from 'drizzle-orm'
import { index, json, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'

import { userId } from './auth.ts'
import { timestamptz } from './columns.ts'
import type { Database } from './database.ts'
import { tryAdvisoryLock } from './statements.ts'

/** What was answered to a request that its sender may send again, under a key of theirs. `json` comes back as it went. */
export const idempotency = pgTable(
  'idempotency',
  {
    userId: userId(),
    key: text().notNull(),
    /** What was asked. */
    fingerprint: text().notNull(),
    answer: json().$type<StoredAnswer>().notNull(),
    expiresAt: timestamptz().notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.key] }), index().on(table.expiresAt)],
)

interface StoredAnswer {
  output: unknown
  headers: [name: string, value: string | string[]][]
}

type NewRecord = Omit<typeof idempotency.$inferInsert, 'expiresAt'>

/** Whether nobody else is at it: nobody will be until the transaction ends. */
export const tryLock = (db: Database, userId: string, key: string) =>
  tryAdvisoryLock(db, sql`hashtextextended(${`${userId} ${key}`}, 0)`)

export const find = async (db: Database, userId: string, key: string) =>
  (
    await db
      .select()
      .from(idempotency)
      .where(
        and(eq(idempotency.userId, userId), eq(idempotency.key, key), gt(idempotency.expiresAt, sql`now()`)),
      )
  ).at(0)

/** Keeps an answer for a day. */
export const put = (db: Database, { userId, key, ...kept }: NewRecord) => {
  const lasting = { ...kept, expiresAt: sql`now() + interval '24 hours'` }
  return db
    .insert(idempotency)
    .values({ userId, key, ...lasting })
    .onConflictDoUpdate({ target: [idempotency.userId, idempotency.key], set: lasting })
}
