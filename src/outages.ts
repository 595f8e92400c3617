import { ORPCError } from '@orpc/client'

import { unavailable } from '../contract/errors.ts'
import { isForeignKeyViolation, isOutage } from '../db/errors.ts'

/**
 * Returns the error that a caller receives for a database error: 401 if the caller's account was deleted during the call,
 * 503 if the database is not available, undefined otherwise.
 */
export function toPublicDatabaseError(error: unknown) {
  if (isForeignKeyViolation(error)) return new ORPCError('UNAUTHORIZED', { message: 'Sign in first' })
  return isOutage(error) ? unavailable('The database does not answer; try again') : undefined
}
