import { ORPCError } from '@orpc/client'
import { unavailable } from 'tallystick-contract/internal'

import { failureReasonOf, isForeignKeyViolation } from '../db/errors.ts'

/** Converts an outage of the database, a full disk or a read-only database to 503. Returns undefined for other errors. */
export function toPublicOutage(error: unknown) {
  const reason = failureReasonOf(error)
  if (reason === 'other') return undefined
  return unavailable(
    reason === 'outage'
      ? 'The database does not answer; try again'
      : 'The database cannot store changes now; try again later',
  )
}

/**
 * Converts a database error outside of procedures, for example during a sign-in. A foreign key violation is 401, because
 * only tables of the engine are changed there: their foreign keys refer to the account of the caller and to its sessions.
 */
export const toPublicDatabaseError = (error: unknown) =>
  isForeignKeyViolation(error)
    ? new ORPCError('UNAUTHORIZED', { message: 'Sign in first' })
    : toPublicOutage(error)
