import { randomBytes } from 'node:crypto'

import {
  and,
  count,
  desc,
  eq,
  exists,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  not,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { alias, type AnyPgColumn, index, pgTable, text } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'

import * as audit from './audit.ts'
import { lockPerson, userId, users } from './auth.ts'
import { createdAt, timestamptz, updatedAt } from './columns.ts'
import { coalesced, requireRow, prepared } from './statements.ts'
import type { Database } from './database.ts'
import { pageParameters, isAfterPosition, listConnections, type SizedRow, type PageRequest, limitBytes } from './pages.ts'

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
    // The administrator's own session. An impersonation ends with the session that started it.
    administratorSessionId: text().references((): AnyPgColumn => sessions.id, { onDelete: 'cascade' }),
    // Set where the session is a grant: the app that a person let in, and what it may do.
    clientId: text(),
    scope: text(),
    expiresAt: timestamptz().notNull(),
    createdAt,
    updatedAt,
  },
  (table) => [
    index().on(table.userId),
    index().on(table.administratorSessionId).where(isNotNull(table.administratorSessionId)),
  ],
)

export type SessionRow = typeof sessions.$inferSelect

const active = gt(sessions.expiresAt, sql`now()`)

const administratorSession = alias(sessions, 'administrator_session')
const administrator = alias(users, 'administrator')

const isAdmin = sql`${administrator.role} is not distinct from 'admin'`
const isBanned = sql`coalesce(${administrator.banned} and (${administrator.banExpires} is null or ${administrator.banExpires} > now()), false)`

/** The administrator of an impersonation is still one, not banned, and signed in. */
const administrators = (db: Database) =>
  db
    .select({ id: administrator.id })
    .from(administratorSession)
    .innerJoin(administrator, eq(administrator.id, administratorSession.userId))
    .where(
      and(
        eq(administratorSession.id, sessions.administratorSessionId),
        eq(administratorSession.userId, sessions.impersonatedBy),
        gt(administratorSession.expiresAt, sql`now()`),
        isAdmin,
        not(isBanned),
      ),
    )

/**
 * Whether there is no impersonation, or one that may go on. A column and not a condition: as a condition, PostgreSQL would
 * join all users in one hash for a batch of callers. The subquery runs for impersonations alone.
 */
const isEffective = (db: Database) =>
  sql<boolean>`case when ${sessions.impersonatedBy} is null then true
    else ${users.role} is distinct from 'admin' and ${exists(administrators(db))} end`

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
      stands: isEffective(db),
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

type Found = Awaited<ReturnType<ReturnType<typeof byTokens>['execute']>>[number]

const callerOf = ({ stands, session, user }: Found) => (stands ? { session, user } : undefined)

const callers = coalesced(2, async (db, tokens: readonly string[]) => {
  const found = await byTokens(db).execute({ tokens })
  const known = new Map(found.map((caller) => [caller.session.token, callerOf(caller)]))
  return tokens.map((token) => known.get(token))
})

/** The session that holds a token, and whose it is: whatever decides whether they may call at all. */
export const findByToken = (db: Database, token: string) => callers(db).load(token)

/** The person that the session with a token belongs to. */
export const findOwner = async (db: Database, token: string) =>
  (await db.select({ id: sessions.userId }).from(sessions).where(eq(sessions.token, token))).at(0)?.id ?? null

const ofPerson = and(eq(sessions.userId, sql.placeholder('userId')), active)

const order = [desc(sessions.updatedAt), desc(sessions.id)]

const listed = prepared((db) => {
  const rows = db
    .select()
    .from(sessions)
    .where(and(ofPerson, isAfterPosition(sessions.updatedAt, sessions.id)))
    .orderBy(...order)
    .limit(sql.placeholder('limit'))
    .as('sessions')
  return limitBytes(db, rows, getTableColumns(sessions), { texts: [sessions.userAgent], order }).prepare(
    'sessions_list',
  )
})

export const list = (db: Database, userId: string, span: PageRequest): Promise<SizedRow<SessionRow>[]> =>
  listed(listConnections(db)).execute({ userId, ...pageParameters(span) })

/** Every session of a person, for the operator. */
export const listAll = (db: Database, userId: string) =>
  db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), active))
    .orderBy(...order)

const counted = prepared((db) =>
  db.select({ count: count() }).from(sessions).where(ofPerson).prepare('sessions_count'),
)

export const countAll = async (db: Database, userId: string) =>
  requireRow(await counted(listConnections(db)).execute({ userId })).count

/** Notes activity. */
export const touch = (db: Database, userId: string, id: string) =>
  db
    .update(sessions)
    .set({ updatedAt: sql`now()` })
    .where(and(eq(sessions.userId, userId), eq(sessions.id, id)))

/** Ends sessions of a person, and records each in the audit trail, in one transaction. */
const endMatching = (
  db: Database,
  userId: string,
  which: SQL | undefined,
  source: audit.Source,
  reason?: string,
) =>
  db.transaction(async (tx) => {
    await lockPerson(tx, userId)
    const ended = await tx
      .delete(sessions)
      .where(and(eq(sessions.userId, userId), which))
      .returning({ id: sessions.id, clientId: sessions.clientId })
    const entries = ended.map(({ id, clientId }) => ({
      ...source,
      action: clientId === null ? ('session.revoke' as const) : ('grant.revoke' as const),
      outcome: 'accepted' as const,
      subject: userId,
      detail: reason ?? clientId ?? id,
    }))
    await audit.insert(tx, ...entries)
    return ended
  })

/** Ends the session that holds a token. Answers whether there was one. */
export const remove = async (db: Database, userId: string, token: string, source: audit.Source) =>
  (await endMatching(db, userId, and(eq(sessions.token, token), active), source)).length > 0

type Grant = Pick<typeof sessions.$inferInsert, 'userId' | 'clientId' | 'scope' | 'userAgent' | 'expiresAt'>

/** Adds the session that stands for what a person granted an app, and records it, in one transaction. */
export const insertGrant = (db: Database, grant: Grant, source: audit.Source) =>
  db.transaction(async (tx) => {
    const token = randomBytes(24).toString('base64url')
    const session = { id: v7(), token, ...grant }
    await tx.insert(sessions).values(session)
    await audit.insert(tx, {
      ...source,
      action: 'grant.create',
      outcome: 'accepted',
      subject: grant.userId,
      detail: grant.clientId ?? null,
    })
    return session
  })

const grantById = prepared((db) =>
  selectCaller(db)
    .where(and(eq(sessions.id, sql.placeholder('id')), isNotNull(sessions.clientId), active))
    .prepare('sessions_find_grant'),
)

/** The session that stands for what a person granted an app, and whose it is. */
export const findGrant = async (db: Database, id: string) => {
  const [found] = await grantById(db).execute({ id })
  return found && callerOf(found)
}

/** A grant lives on while it is refreshed. */
export const prolong = async (db: Database, userId: string, id: string, expiresAt: Date) =>
  (
    await db
      .update(sessions)
      .set({ expiresAt, updatedAt: sql`now()` })
      .where(and(eq(sessions.userId, userId), eq(sessions.id, id), active))
      .returning({ id: sessions.id })
  ).length > 0

/** Ends a session or a grant. Answers the sessions that ended. */
export const end = (db: Database, userId: string, id: string, source: audit.Source, reason?: string) =>
  endMatching(db, userId, eq(sessions.id, id), source, reason)

export const endAll = (db: Database, userId: string, source: audit.Source) =>
  endMatching(db, userId, undefined, source)

/** Ends the impersonations by a person who is no administrator any more, and of a person who became one. */
export async function endImpersonations(db: Database, userId: string) {
  const role = db.select({ role: users.role }).from(users).where(eq(users.id, userId))
  const own = db.select({ id: administratorSession.id }).from(administratorSession)
  const byPerson = inArray(
    sessions.administratorSessionId,
    own.where(eq(administratorSession.userId, userId)),
  )
  const ofPerson = and(eq(sessions.userId, userId), isNotNull(sessions.impersonatedBy))
  const isAdmin = sql`coalesce((${role}) = 'admin', false)`
  await db.delete(sessions).where(or(and(byPerson, not(isAdmin)), and(ofPerson, isAdmin)))
}
