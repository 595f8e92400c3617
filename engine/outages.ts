import { ORPCError } from '@orpc/client'
import { unavailable } from 'tallystick-contract'

import { failureReasonOf, isForeignKeyViolation } from './db/errors.ts'

/**
 * Converts a database error to the error that a caller receives:
 * - a foreign key violation: 401, because the account of the caller was deleted during the call;
 * - an outage of the database, a full disk or a read-only database: 503;
 * - any other error: undefined.
 */
export function toPublicDatabaseError(error: unknown) {
  if (isForeignKeyViolation(error)) return new ORPCError('UNAUTHORIZED', { message: 'Sign in first' })
  const reason = failureReasonOf(error)
  if (reason === 'other') return undefined
  return unavailable(
    reason === 'outage'
      ? 'The database does not answer; try again'
      : 'The database cannot store changes now; try again later',
  )
}
