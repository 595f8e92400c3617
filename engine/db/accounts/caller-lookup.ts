import { and, eq, exists, gt, isNull, not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'

import type { Database } from '../connection/database.ts'
import { coalesced, prepared } from '../statements.ts'
import { isActive, sessions } from './sessions.ts'
import { users } from './users.ts'

// Finds the session or the grant of a caller with its person, for each call.

const administrator = alias(users, 'administrator')
const administratorSession = alias(sessions, 'administrator_session')

const isAdministratorBanned = sql`coalesce(${administrator.banned} and (${administrator.banExpires} is null or ${administrator.banExpires} > now()), false)`

/**
 * Selects the administrator of an impersonation. Selects no row if the administrator lost the role, is banned, or signed out.
 */
const currentAdministrator = (db: Database) =>
  db
    .select({ id: administrator.id })
    .from(administratorSession)
    .innerJoin(administrator, eq(administrator.id, administratorSession.userId))
    .where(
      and(
        eq(administratorSession.id, sessions.administratorSessionId),
        eq(administratorSession.userId, sessions.impersonatedBy),
        gt(administratorSession.expiresAt, sql`now()`),
        sql`${administrator.role} is not distinct from 'admin'`,
        not(isAdministratorBanned),
      ),
    )

/**
 * False for an impersonation that is no longer permitted. The subquery runs for impersonations only. The value is a selected
 * column, because with a condition in `where`, PostgreSQL would build a hash table of all users for every query.
 */
const isEffectiveIn = (db: Database) =>
  sql<boolean>`case when ${sessions.impersonatedBy} is null then true
    else ${users.role} is distinct from 'admin' and ${exists(currentAdministrator(db))} end`

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
      isEffective: isEffectiveIn(db),
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

/** Maximum number of statements of one lookup at the same time. */
const MAX_CONCURRENT_LOOKUPS = 2

/**
 * Creates the function that finds the active session with a value of the column `key`, and the person of the session.
 * `name` is the name of the prepared statement. Concurrent calls share one statement.
 */
export function createCallerLookup(name: string, key: 'token' | 'id', condition: SQL) {
  const select = prepared((db) =>
    selectCaller(db)
      .where(and(sql`${sessions[key]} = any(${sql.placeholder('values')})`, condition, isActive))
      .prepare(name),
  )
  const callers = coalesced(MAX_CONCURRENT_LOOKUPS, async (db, values: readonly string[]) => {
    const rows = await select(db).execute({ values })
    const callersByValue = new Map(
      rows.map(({ isEffective, session, user }) => [
        session[key],
        isEffective ? { session, user } : undefined,
      ]),
    )
    return values.map((value) => callersByValue.get(value))
  })
  return (db: Database, value: string) => callers(db).load(value)
}

const findSession = createCallerLookup('sessions_find_by_tokens', 'token', isNull(sessions.clientId))

/** Finds the active session with a token, and the person of the session. Does not find grants. */
export const findByToken = (db: Database, token: string) => findSession(db, token)
