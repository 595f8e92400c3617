/** Returns the SQLSTATE or the connection error code of an error or of its causes, or an empty string. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error ? String(error.code) : codeOf(error.cause)
}

/** Returns whether a row violated a constraint. The whole statement then had no effect. */
export const isConstraintViolation = (error: unknown) => codeOf(error).startsWith('23')

/** Returns whether a row references a person or another row that no longer exists. */
export const isForeignKeyViolation = (error: unknown) => codeOf(error) === '23503'

// Connections that are refused, lost or too many; a server that starts, stops or fails over; timeouts; deadlocks.
const OUTAGES =
  /^(08...|53300|57P..|57014|55P03|40P01|25006|E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)\w*|CONNECT(ION)?_\w+)$/

/** Returns whether a statement failed because the database was not available in time, not because of its content. */
export const isOutage = (error: unknown): error is Error => OUTAGES.test(codeOf(error))
