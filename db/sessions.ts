import { and, count, desc, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm'
import { index, pgTable, text } from 'drizzle-orm/pg-core'

import { userId, users } from './auth.ts'
import { createdAt, moment, updatedAt } from './columns.ts'
import { batched, type Database, one, prepared } from './index.ts'
import { bounds, comesAfter, type Span } from './pages.ts'

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

const selectCaller = (db: Database) =>
  db
    .select({
      session: {
        id: sessions.id,
        token: sessions.token,
        impersonatedBy: sessions.impersonatedBy,
        clientId: sessions.clientId,
        scope: sessions.scope,
        expiresAt: sessions.expiresAt,
        updatedAt: sessions.updatedAt,
      },
      user: {
        id: users.id,
        name: users.name,
        email: users.email,
        emailVerified: users.emailVerified,
        role: users.role,
        banned: users.banned,
        banExpires: users.banExpires,
      },
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))

const byTokens = prepared((db) =>
  selectCaller(db)
    .where(and(sql`${sessions.token} = any(${sql.placeholder('tokens')})`, isNull(sessions.clientId), active))
    .prepare('sessions_find_by_tokens'),
)

const callers = batched(2, async (db, tokens: readonly string[]) => {
  const found = await byTokens(db).execute({ tokens })
  const known = new Map(found.map((caller) => [caller.session.token, caller]))
  return tokens.map((token) => known.get(token))
})

/** The session that holds a token, and whose it is: whatever decides whether they may call at all. */
export const findByToken = (db: Database, token: string) => callers(db).load(token)

const ofPerson = and(eq(sessions.userId, sql.placeholder('userId')), active)

const listed = prepared((db) =>
  db
    .select()
    .from(sessions)
    .where(and(ofPerson, comesAfter(sessions.updatedAt, sessions.id)))
    .orderBy(desc(sessions.updatedAt), desc(sessions.id))
    .limit(sql.placeholder('limit'))
    .prepare('sessions_list'),
)

export const list = (db: Database, userId: string, span: Span) =>
  listed(db).execute({ userId, ...bounds(span) })

const counted = prepared((db) =>
  db.select({ count: count() }).from(sessions).where(ofPerson).prepare('sessions_count'),
)

export const countAll = async (db: Database, userId: string) =>
  one(await counted(db).execute({ userId })).count

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

const grantById = prepared((db) =>
  selectCaller(db)
    .where(and(eq(sessions.id, sql.placeholder('id')), isNotNull(sessions.clientId), active))
    .prepare('sessions_find_grant'),
)

/** The session that stands for what a person granted an app, and whose it is. */
export const findGrant = async (db: Database, id: string) => (await grantById(db).execute({ id })).at(0)

/** A grant lives on while it is refreshed. */
export const prolong = async (db: Database, userId: string, id: string, expiresAt: Date) =>
  (
    await db
      .update(sessions)
      .set({ expiresAt, updatedAt: sql`now()` })
      .where(and(eq(sessions.userId, userId), eq(sessions.id, id), active))
      .returning({ id: sessions.id })
  ).length > 0

/** Takes back what was granted. Answers the sessions that it ended. */
export const end = (db: Database, userId: string, id: string) =>
  db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), eq(sessions.id, id)))
    .returning({ id: sessions.id })

export const endAll = (db: Database, userId: string) =>
  db.delete(sessions).where(eq(sessions.userId, userId)).returning({ id: sessions.id })
