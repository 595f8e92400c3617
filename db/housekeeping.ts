import { lt, lte, sql } from 'drizzle-orm'

import { removeOlderThan } from './audit.ts'
import { rateLimits, verifications } from './auth.ts'
import { idempotency } from './idempotency.ts'
import type { Database } from './database.ts'
import { tryAdvisoryLock } from './statements.ts'
import { limits } from './limits.ts'
import { records, removeUnusedClients } from './oauth.ts'
import { sessions } from './sessions.ts'

/** Any number, the same in every release: whoever holds it tidies. */
const HOUSEKEEPING_LOCK = 7_141_927

const DAY = 86_400_000

/** How long the audit trail is kept, in days. */
const AUDIT_RETENTION = 365

/** Removes what has expired. Does nothing, and answers false, while another instance does the same. */
export const removeExpired = (db: Database, auditRetention = AUDIT_RETENTION) =>
  db.transaction(async (tx) => {
    if (!(await tryAdvisoryLock(tx, sql`${HOUSEKEEPING_LOCK}`))) return false
    for (const table of [sessions, verifications, records, idempotency])
      await tx.delete(table).where(lte(table.expiresAt, sql`now()`))
    await removeUnusedClients(tx)
    await tx.delete(limits).where(lte(limits.expire, sql`now()`))
    await tx.delete(rateLimits).where(lt(rateLimits.lastRequest, Date.now() - DAY))
    await removeOlderThan(tx, auditRetention)
    return true
  })
