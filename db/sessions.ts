import { and, desc, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm'
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
    // Set where the session is a grant: the app that a person let in, and what it may do.
    clientId: text(),
    scope: text(),
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
      .where(and(eq(sessions.token, token), isNull(sessions.clientId), active))
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

/** The session that stands for what a person granted an app, and whose it is. */
export const findGrant = async (db: Database, id: string) =>
  (
    await db
      .select({ session: sessions, user: users })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(and(eq(sessions.id, id), isNotNull(sessions.clientId), active))
  ).at(0)

/** A grant lives on while it is refreshed. */
export const prolong = async (db: Database, userId: string, id: string, expiresAt: Date) =>
  (
    await db
      .update(sessions)
      .set({ expiresAt, updatedAt: sql`now()` })
      .where(and(eq(sessions.userId, userId), eq(sessions.id, id), active))
      .returning({ id: sessions.id })
  ).length > 0

/** Takes back what was granted. */
export const end = (db: Database, userId: string, id: string) =>
  db.delete(sessions).where(and(eq(sessions.userId, userId), eq(sessions.id, id)))
