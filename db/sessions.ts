import { and, desc, eq, gt, sql } from 'drizzle-orm'
import { index, pgTable, text } from 'drizzle-orm/pg-core'

import { userId, users } from './auth.ts'
import { createdAt, moment, updatedAt } from './columns.ts'
import type { Database } from './index.ts'

/** A device that is signed in. `updatedAt` is the last activity, true to within a minute. */
export const sessions = pgTable(
  'sessions',
  {
    id: text().primaryKey(),
    token: text().notNull().unique(),
    userId: userId(),
    ipAddress: text(),
    userAgent: text(),
    impersonatedBy: text(),
    expiresAt: moment().notNull(),
    createdAt,
    updatedAt,
  },
  (table) => [index().on(table.userId)],
)

export type SessionRow = typeof sessions.$inferSelect

const active = gt(sessions.expiresAt, sql`now()`)

/** The session that holds a token, and whose it is: whatever decides whether they may call at all. */
export const findByToken = async (db: Database, token: string) =>
  (
    await db
      .select({ session: sessions, user: users })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(and(eq(sessions.token, token), active))
  ).at(0)

export const list = (db: Database, userId: string) =>
  db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), active))
    .orderBy(desc(sessions.updatedAt), desc(sessions.id))

/** Notes activity. */
export const touch = (db: Database, userId: string, id: string) =>
  db
    .update(sessions)
    .set({ updatedAt: sql`now()` })
    .where(and(eq(sessions.userId, userId), eq(sessions.id, id)))

export const remove = async (db: Database, userId: string, token: string) =>
  (
    await db
      .delete(sessions)
      .where(and(eq(sessions.userId, userId), eq(sessions.token, token), active))
      .returning({ id: sessions.id })
  ).length > 0
