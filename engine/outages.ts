import { ORPCError } from '@orpc/client'
import { unavailable } from 'tallystick-contract'

import { isDiskFull, isForeignKeyViolation, isOutage, isReadOnly } from './db/errors.ts'

/**
 * Converts a database error to the error that a caller receives:
 * - a foreign key violation: 401, because the account of the caller was deleted during the call;
 * - an outage of the database, or a full disk: 503;
 * - any other error: undefined.
 */
export function toPublicDatabaseError(error: unknown) {
  if (isForeignKeyViolation(error)) return new ORPCError('UNAUTHORIZED', { message: 'Sign in first' })
  if (!isOutage(error)) return undefined
  return unavailable(
    isDiskFull(error) || isReadOnly(error)
      ? 'The database cannot store changes now; try again later'
      : 'The database does not answer; try again',
  )
}
