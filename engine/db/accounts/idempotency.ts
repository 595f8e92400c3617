import { and, eq, gt, sql } from 'drizzle-orm'
import { index, json, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'

import { userIdColumn } from './users.ts'
import { timestamptz } from '../columns.ts'
import type { Database } from '../connection/database.ts'
import { tryAdvisoryLock } from '../statements.ts'

/**
 * Stored responses to requests with an `Idempotency-Key`. A repeated request receives the stored response. The type of
 * `answer` is `json`, because `jsonb` does not preserve the order of object keys.
 */
export const idempotency = pgTable(
  'idempotency',
  {
    userId: userIdColumn(),
    key: text().notNull(),
    /** Digest of the procedure and its input, to detect a key that is reused for another request. */
    fingerprint: text().notNull(),
    answer: json().$type<StoredAnswer>().notNull(),
    expiresAt: timestamptz().notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.key] }), index().on(table.expiresAt)],
)

interface StoredAnswer {
  /** The output as JSON. */
  output: unknown
  /** The types that JSON lacks, each with the path of its value, as the RPC serializer of oRPC encodes them. */
  meta?: (readonly [type: number, ...path: (string | number)[]])[]
  headers: [name: string, value: string | string[]][]
}

type NewRecord = Omit<typeof idempotency.$inferInsert, 'expiresAt'>

/**
 * Tries to lock an idempotency key of a person until the transaction ends. Returns false if another transaction holds the lock.
 */
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

/** Stores a response for 24 hours. A stored response with the same key can only be expired, because `find` ignores it. */
export const put = (db: Database, { userId, key, ...record }: NewRecord) => {
  const values = { ...record, expiresAt: sql`now() + interval '24 hours'` }
  return db
    .insert(idempotency)
    .values({ userId, key, ...values })
    .onConflictDoUpdate({ target: [idempotency.userId, idempotency.key], set: values })
}
