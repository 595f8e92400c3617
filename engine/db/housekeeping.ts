import { lt, lte, sql } from 'drizzle-orm'

import { removeOlderThan } from './accounts/audit.ts'
import { legacyRateLimits, verifications } from './accounts/users.ts'
import { deviceCodes } from './accounts/device-codes.ts'
import { idempotency } from './accounts/idempotency.ts'
import type { Database } from './connection/database.ts'
import { tryAdvisoryLock } from './statements.ts'
import { rateLimitCounters } from './accounts/rate-limits.ts'
import { records, removeUnusedClients } from './accounts/oauth.ts'
import { sessions } from './accounts/sessions.ts'

/**
 * Key of the advisory lock for housekeeping. The key must not change, because instances of different releases can run
 * at the same time.
 */
const HOUSEKEEPING_LOCK = 7_141_927

const DAY = 86_400_000

/** Default retention of the audit trail, in days. */
const AUDIT_RETENTION = 365

/** Removes expired rows. If another instance is removing expired rows, removes nothing and returns false. */
export const removeExpired = (db: Database, auditRetention = AUDIT_RETENTION) =>
  db.transaction(async (tx) => {
    if (!(await tryAdvisoryLock(tx, sql`${HOUSEKEEPING_LOCK}`))) return false
    for (const table of [sessions, verifications, records, idempotency, deviceCodes])
      await tx.delete(table).where(lte(table.expiresAt, sql`now()`))
    await removeUnusedClients(tx)
    await tx.delete(rateLimitCounters).where(lte(rateLimitCounters.expire, sql`now()`))
    await tx.delete(legacyRateLimits).where(lt(legacyRateLimits.lastRequest, Date.now() - DAY))
    await removeOlderThan(tx, auditRetention)
    return true
  })
