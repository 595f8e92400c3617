import { inspect } from 'node:util'

import { DrizzleQueryError, TransactionRollbackError } from 'drizzle-orm/errors'

/**
 * Returns the code of an error or of its cause: an SQLSTATE, or a connection error code such as `ECONNREFUSED`.
 * Returns an empty string if there is no code.
 */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error ? String(error.code) : codeOf(error.cause)
}

/**
 * Returns whether a statement failed because a row violated a constraint. Such a statement has changed no row.
 *
 * @example
 * if (isConstraintViolation(error)) throw errors.ID_TAKEN()
 */
export const isConstraintViolation = (error: unknown) => codeOf(error).startsWith('23')

/** Returns whether a statement failed because of a value that its type cannot store. Such a statement has changed no row. */
export const isDataException = (error: unknown) => codeOf(error).startsWith('22')

/** Returns whether a statement failed because a row references a person or another row that no longer exists. */
export const isForeignKeyViolation = (error: unknown) => codeOf(error) === '23503'

/** Returns whether a statement failed because a text is no value of its type, or not one that the type can store. */
export const isInvalidValue = (error: unknown) => /^22(P02|00[378]|015|02[136])$/.test(codeOf(error))

/** Returns whether a procedure has called `tx.rollback()`. */
export const isRolledBack = (error: unknown) => error instanceof TransactionRollbackError

/** The error codes of statements that failed because of the database, and not because of the statement itself. */
const REASONS = {
  disk_full: /^(53100|ENOSPC)$/,
  // A standby, or an embedded database with almost no space on its disk.
  read_only: /^25006$/,
  // Refused or lost connections, too many connections, a server that starts, stops or fails over, timeouts, and deadlocks.
  outage:
    /^(08...|53300|57P..|57014|55P03|40P01|E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)\w*|CONNECT(ION)?_\w+)$/,
}

export const failureReasons = ['disk_full', 'read_only', 'outage', 'other'] as const

/** Returns why a statement failed: `other` if the statement itself failed. */
export function failureReasonOf(error: unknown): (typeof failureReasons)[number] {
  const code = codeOf(error)
  return failureReasons.find((reason) => reason !== 'other' && REASONS[reason].test(code)) ?? 'other'
}

/** Returns whether a statement failed because of an outage of the database, and not because of the statement itself. */
export const isOutage = (error: unknown): error is Error => failureReasonOf(error) !== 'other'

/**
 * Returns the message of an error for a terminal. Omits the statement and the parameters of a failed query, because
 * both may contain secrets.
 */
export function toErrorMessage(error: unknown): string {
  if (error instanceof DrizzleQueryError) return toErrorMessage(error.cause)
  // Node.js throws an AggregateError if the connections to all addresses of a host fail. It contains one error for each address.
  if (error instanceof AggregateError) return error.errors.map(toErrorMessage).join('; ')
  const text: unknown = error instanceof Error ? error.message : error
  // Not each value can be converted to a text.
  return typeof text === 'string' ? text : inspect(text)
}
