import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, text } from 'drizzle-orm/pg-core'

import type * as audit from './audit.ts'
import { timestamptz } from '../columns.ts'
import type { Database } from '../connection/database.ts'
import * as grants from './grants.ts'
import { sessions } from './sessions.ts'

/** Requests of apps on devices without a browser (RFC 8628). A person decides on another device. */
export const deviceCodes = pgTable(
  'device_codes',
  {
    /** SHA-256 digest of the device code, which only the app knows. */
    digest: text().primaryKey(),
    /** The code that the person enters. */
    userCode: text().notNull().unique(),
    clientId: text().notNull(),
    scope: text().notNull(),
    resource: text().notNull(),
    /** The grant that the person gave. If the person revokes the grant, the request ends. */
    grantId: text().references(() => sessions.id, { onDelete: 'cascade' }),
    isDenied: boolean().notNull().default(false),
    /** Minimum time between two polls, in seconds. */
    interval: integer().notNull(),
    polledAt: timestamptz(),
    expiresAt: timestamptz().notNull(),
  },
  (table) => [
    index().on(table.expiresAt),
    // For the deletion of a session.
    index().on(table.grantId),
  ],
)

const isUnexpired = gt(deviceCodes.expiresAt, sql`now()`)
const isUndecided = and(isUnexpired, isNull(deviceCodes.grantId), eq(deviceCodes.isDenied, false))
const isUndecidedWith = (userCode: string) => and(eq(deviceCodes.userCode, userCode), isUndecided)

/** Returns false if another request has the same user code. */
export const insert = async (db: Database, row: typeof deviceCodes.$inferInsert) =>
  (await db.insert(deviceCodes).values(row).onConflictDoNothing().returning({ digest: deviceCodes.digest }))
    .length > 0

/** Finds the request with a device code, also an expired one. */
export const find = async (db: Database, digest: string) =>
  (await db.select().from(deviceCodes).where(eq(deviceCodes.digest, digest))).at(0)

/** Finds the undecided request with a user code. */
export const findUndecided = async (db: Database, userCode: string) =>
  (await db.select().from(deviceCodes).where(isUndecidedWith(userCode))).at(0)

/** The person who allows a request, and the name under which the list of apps shows the grant. */
interface Approval {
  userId: string
  /** The session in which the person is signed in. */
  sessionId: string
  appName: string
}

/** Inserts the grant of an undecided request. Returns false if the request or the session of the person has ended. */
export const allow = (
  db: Database,
  userCode: string,
  { userId, sessionId, appName }: Approval,
  source: audit.Source,
) =>
  db.transaction(async (tx) => {
    const [request] = await tx.select().from(deviceCodes).where(isUndecidedWith(userCode)).for('update')
    if (!request) return false
    // The grant ends with the code. The app extends the grant when it fetches its tokens.
    const { clientId, scope, expiresAt } = request
    const newGrant = { userId, clientId, scope, userAgent: appName, expiresAt }
    const grant = await grants.give(tx, sessionId, newGrant, source)
    if (!grant) return false
    await tx.update(deviceCodes).set({ grantId: grant.id }).where(eq(deviceCodes.userCode, userCode))
    return true
  })

/** Denies an undecided request. Returns false if the request has ended or was decided. */
export const deny = async (db: Database, userCode: string) =>
  (
    await db
      .update(deviceCodes)
      .set({ isDenied: true })
      .where(isUndecidedWith(userCode))
      .returning({ digest: deviceCodes.digest })
  ).length > 0

/** A poll may arrive earlier than the interval by this time, in seconds, because networks delay requests differently. */
const TOLERANCE = 1

/** Added to the interval after a poll that was too early, in seconds (RFC 8628, section 3.5). */
const SLOW_DOWN = 5

/**
 * - `unknown`: there is no request with this device code, or the person has revoked the grant.
 * - `early`: the app polled before the end of the interval, which is now longer.
 */
type Decision =
  | { state: 'unknown' | 'expired' | 'denied' | 'early' | 'pending' }
  | { state: 'allowed'; userId: string; grantId: string }

const nextPollAt = sql`${deviceCodes.polledAt} + make_interval(secs => ${deviceCodes.interval} - ${TOLERANCE}::int)`

/**
 * Reads the decision on the request with a device code. Records the time of the poll, except for a request that is unknown,
 * expired or denied.
 */
export const poll = (db: Database, digest: string) =>
  db.transaction(async (tx): Promise<Decision> => {
    const isRequest = eq(deviceCodes.digest, digest)
    const [found] = await tx
      .select({
        request: deviceCodes,
        isExpired: sql<boolean>`${deviceCodes.expiresAt} <= now()`,
        isEarly: sql<boolean>`coalesce(${nextPollAt} > now(), false)`,
      })
      .from(deviceCodes)
      .where(isRequest)
      .for('update')
    if (!found) return { state: 'unknown' }
    const { request, isExpired, isEarly } = found
    if (isExpired) return { state: 'expired' }
    if (request.isDenied) return { state: 'denied' }
    await tx
      .update(deviceCodes)
      .set({ polledAt: sql`now()`, interval: request.interval + (isEarly ? SLOW_DOWN : 0) })
      .where(isRequest)
    if (isEarly) return { state: 'early' }
    const { grantId } = request
    if (grantId === null) return { state: 'pending' }
    const [grant] = await tx
      .select({ userId: sessions.userId })
      .from(sessions)
      .where(eq(sessions.id, grantId))
    return grant ? { state: 'allowed', userId: grant.userId, grantId } : { state: 'unknown' }
  })

export const remove = (db: Database, digest: string) =>
  db.delete(deviceCodes).where(eq(deviceCodes.digest, digest))
