import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  ne,
  not,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { alias, type AnyPgColumn, index, pgTable, text } from 'drizzle-orm/pg-core'

import * as audit from './audit.ts'
import { lockPerson, userIdColumn, users } from './users.ts'
import { createdAt, timestamptz, updatedAt } from '../columns.ts'
import { prepared, requireRow } from '../statements.ts'
import type { Database } from '../connection/database.ts'
import {
  pageParameters,
  isAfterPosition,
  connectionForLists,
  type SizedRow,
  type PageRequest,
  limitBytes,
} from '../pagination.ts'

/**
 * A session is a signed-in device or a grant of an app. `updatedAt` is the time of the last activity, accurate to one minute.
 */
export const sessions = pgTable(
  'sessions',
  {
    id: text().primaryKey(),
    token: text().notNull().unique(),
    userId: userIdColumn(),
    ipAddress: text(),
    userAgent: text(),
    impersonatedBy: text(),
    // The administrator's own session, set for impersonations only. The impersonation ends when that session ends.
    administratorSessionId: text().references((): AnyPgColumn => sessions.id, { onDelete: 'cascade' }),
    // The app and its scopes, set for grants only.
    clientId: text(),
    scope: text(),
    // The provider of the sign-in. Null for a sign-in with a code.
    provider: text(),
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

/** Condition: the session has not expired. */
export const isActive = gt(sessions.expiresAt, sql`now()`)

/**
 * The own session of an administrator, beside the session of the impersonation in the same statement. Not exported, because
 * drizzle-kit would create a table for an exported alias.
 */
const administratorSession = alias(sessions, 'administrator_session')

/**
 * Returns the id of the person with a session token, or null for an unknown token. Also finds expired sessions and
 * grants, because an administrator can end these, too, and the audit trail names the person.
 */
export const findOwner = async (db: Database, token: string) =>
  (await db.select({ id: sessions.userId }).from(sessions).where(eq(sessions.token, token))).at(0)?.id ?? null

const isOfPerson = and(eq(sessions.userId, sql.placeholder('userId')), isActive)
const isGrantOfPerson = and(isOfPerson, isNotNull(sessions.clientId))

const order = [desc(sessions.updatedAt), desc(sessions.id)]

const prepareList = (name: string, condition: SQL | undefined) =>
  prepared((db) => {
    const rows = db
      .select()
      .from(sessions)
      .where(and(condition, isAfterPosition(sessions.updatedAt, sessions.id)))
      .orderBy(...order)
      .limit(sql.placeholder('limit'))
      .as('sessions')
    const options = { texts: [sessions.userAgent], order }
    return limitBytes(db, rows, getTableColumns(sessions), options).prepare(name)
  })
const selectList = prepareList('sessions_list', isOfPerson)
const selectGrants = prepareList('sessions_list_grants', isGrantOfPerson)

/** Lists the active sessions of a person, including grants of apps. */
export const list = (db: Database, userId: string, page: PageRequest): Promise<SizedRow<SessionRow>[]> =>
  selectList(connectionForLists(db)).execute({ userId, ...pageParameters(page) })

/** Lists the active grants of a person. */
export const listGrants = (
  db: Database,
  userId: string,
  page: PageRequest,
): Promise<SizedRow<SessionRow>[]> =>
  selectGrants(connectionForLists(db)).execute({ userId, ...pageParameters(page) })

/** Lists all active sessions and grants of a person, without pagination, for the operator commands. */
export const listAll = (db: Database, userId: string) =>
  db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), isActive))
    .orderBy(...order)

const prepareCount = (name: string, condition: SQL | undefined) =>
  prepared((db) => db.select({ count: count() }).from(sessions).where(condition).prepare(name))
const selectCount = prepareCount('sessions_count', isOfPerson)
const selectGrantCount = prepareCount('sessions_count_grants', isGrantOfPerson)

/** Counts all active sessions and grants of a person, not only the rows of one page. */
export const countAll = async (db: Database, userId: string) =>
  requireRow(await selectCount(connectionForLists(db)).execute({ userId })).count

/** Counts all active grants of a person, not only the rows of one page. */
export const countGrants = async (db: Database, userId: string) =>
  requireRow(await selectGrantCount(connectionForLists(db)).execute({ userId })).count

/** Sets the time of the last activity to the current time. */
export const touch = (db: Database, userId: string, id: string) =>
  db
    .update(sessions)
    .set({ updatedAt: sql`now()` })
    .where(and(eq(sessions.userId, userId), eq(sessions.id, id)))

/**
 * Deletes sessions of a person, and records each deletion in the audit trail, in one transaction. The detail of the
 * record is `reason`, otherwise the app of a grant, or the id of a session. Returns the deleted sessions.
 */
const endMatching = (
  db: Database,
  userId: string,
  condition: SQL | undefined,
  source: audit.Source,
  reason?: string,
) =>
  db.transaction(async (tx) => {
    await lockPerson(tx, userId)
    const ended = await tx
      .delete(sessions)
      .where(and(eq(sessions.userId, userId), condition))
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

/** Ends the active session with a token. Returns false if there is no such session. */
export const endByToken = async (db: Database, userId: string, token: string, source: audit.Source) =>
  (await endMatching(db, userId, and(eq(sessions.token, token), isActive), source)).length > 0

/** Ends the session or the grant with an id, also if it has expired. Returns the ended sessions: one or none. */
export const endById = (db: Database, userId: string, id: string, source: audit.Source, reason?: string) =>
  endMatching(db, userId, eq(sessions.id, id), source, reason)

/** Ends all sessions of a person except one. Does not end grants of apps. */
export const endOthers = (db: Database, userId: string, currentId: string, source: audit.Source) =>
  endMatching(db, userId, and(ne(sessions.id, currentId), isNull(sessions.clientId), isActive), source)

/** Ends the active grant with an id. Returns false if there is no such grant. */
export const endGrant = async (db: Database, userId: string, id: string, source: audit.Source) =>
  (await endMatching(db, userId, and(eq(sessions.id, id), isNotNull(sessions.clientId), isActive), source))
    .length > 0

/** Ends all sessions of a person that a provider has made. */
export const endByProvider = (db: Database, userId: string, provider: string, source: audit.Source) =>
  endMatching(db, userId, eq(sessions.provider, provider), source)

export const endAll = (db: Database, userId: string, source: audit.Source) =>
  endMatching(db, userId, undefined, source)

/**
 * Ends impersonations that are not permitted after a change of a person's role:
 *
 * - If the person is now an administrator, ends impersonations in which other administrators act as this person.
 * - Otherwise, ends impersonations in which this person acts as another person.
 */
export async function endImpersonations(db: Database, userId: string) {
  const role = db.select({ role: users.role }).from(users).where(eq(users.id, userId))
  const isAdmin = sql`coalesce((${role}) = 'admin', false)`
  const ownSessionIds = db
    .select({ id: administratorSession.id })
    .from(administratorSession)
    .where(eq(administratorSession.userId, userId))
  const isActingAsOther = inArray(sessions.administratorSessionId, ownSessionIds)
  const isImpersonated = and(eq(sessions.userId, userId), isNotNull(sessions.impersonatedBy))
  await db.delete(sessions).where(or(and(isActingAsOther, not(isAdmin)), and(isImpersonated, isAdmin)))
}
