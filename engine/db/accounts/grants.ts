import { randomBytes } from 'node:crypto'

import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { v7 } from 'uuid'

import * as audit from './audit.ts'
import { lockPerson } from './users.ts'
import type { Database } from '../connection/database.ts'
import { createCallerLookup } from './caller-lookup.ts'
import { isActive, sessions } from './sessions.ts'

// A grant permits an app to access a person's account. A grant is stored as a session with a `clientId`. Revoking the
// session revokes the grant. The access tokens of an app contain the id of the session.

export type NewGrant = Pick<
  typeof sessions.$inferInsert,
  'userId' | 'clientId' | 'scope' | 'userAgent' | 'expiresAt'
>

/** The value of the column `token` for a grant of an app: unique, and never given to anyone. */
const unusedToken = () => randomBytes(24).toString('base64url')

/**
 * Inserts a grant and an entry in the audit trail, in one transaction. `tokenDigest` is set for a personal token, which
 * engine/db/accounts/personal-tokens.ts finds by its digest.
 */
export const insert = (db: Database, grant: NewGrant, source: audit.Source, tokenDigest = unusedToken()) =>
  db.transaction(async (tx) => {
    const session = { ...grant, id: v7(), token: tokenDigest }
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

/**
 * Inserts a grant that a person gives while signed in with the session `sessionId`. Returns undefined if this session has
 * ended, for example by a ban or a sign-out at the same time.
 */
export const give = (
  db: Database,
  sessionId: string,
  grant: NewGrant,
  source: audit.Source,
  tokenDigest?: string,
) =>
  db.transaction(async (tx) => {
    await lockPerson(tx, grant.userId)
    const isSignedIn = (await tx.$count(sessions, and(eq(sessions.id, sessionId), isActive))) > 0
    return isSignedIn ? insert(tx, grant, source, tokenDigest) : undefined
  })

const findById = createCallerLookup('sessions_find_by_ids', 'id', isNotNull(sessions.clientId))

/** Finds the active grant with an id, and the person who gave the grant. */
export const find = (db: Database, id: string) => findById(db, id)

/**
 * Extends the expiry time of a grant. Called when an app redeems an authorization code or a refresh token. Returns
 * false if the grant no longer exists or has expired.
 */
export const extend = async (db: Database, userId: string, id: string, expiresAt: Date) =>
  (
    await db
      .update(sessions)
      .set({ expiresAt, updatedAt: sql`now()` })
      .where(and(eq(sessions.userId, userId), eq(sessions.id, id), isActive))
      .returning({ id: sessions.id })
  ).length > 0
