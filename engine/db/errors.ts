import { DrizzleQueryError } from 'drizzle-orm/errors'

/**
 * Returns the code of an error or of its cause: an SQLSTATE, or a connection error code such as `ECONNREFUSED`.
 * Returns an empty string if there is no code.
 */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error ? String(error.code) : codeOf(error.cause)
}

/** Returns whether a statement failed because a row violated a constraint. Such a statement has changed no row. */
export const isConstraintViolation = (error: unknown) => codeOf(error).startsWith('23')

/** Returns whether a statement failed because a row references a person or another row that no longer exists. */
export const isForeignKeyViolation = (error: unknown) => codeOf(error) === '23503'

// Error codes of outages: refused or lost connections, too many connections, a full disk, a server that starts, stops or
// fails over, timeouts, and deadlocks.
const OUTAGES =
  /^(08...|53100|53300|57P..|57014|55P03|40P01|25006|E(NOSPC|CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)\w*|CONNECT(ION)?_\w+)$/

/** Why a statement failed, for metrics. */
export const failureReasons = ['disk_full', 'read_only', 'outage', 'other'] as const

export function failureReasonOf(error: unknown): (typeof failureReasons)[number] {
  if (isDiskFull(error)) return 'disk_full'
  if (isReadOnly(error)) return 'read_only'
  return isOutage(error) ? 'outage' : 'other'
}

/** Returns whether a statement failed because the disk of the database is full. Reads go on, and changes may succeed later. */
export const isDiskFull = (error: unknown) => /^(53100|ENOSPC)$/.test(codeOf(error))

/** Returns whether a statement failed because the database is read-only: a standby, or almost no space on the disk. */
export const isReadOnly = (error: unknown) => codeOf(error) === '25006'

/** Returns whether a statement failed because of an outage of the database, and not because of the statement itself. */
export const isOutage = (error: unknown): error is Error => OUTAGES.test(codeOf(error))

/**
 * Returns the message of an error for a terminal. Omits the statement and the parameters of a failed query, because
 * both may contain secrets.
 */
export function toErrorMessage(error: unknown): string {
  if (error instanceof DrizzleQueryError) return toErrorMessage(error.cause)
  // Node.js throws an AggregateError if the connections to all addresses of a host fail. It contains one error for each
  // address.
  if (error instanceof AggregateError) return error.errors.map(toErrorMessage).join('; ')
  return error instanceof Error ? error.message : String(error)
}
