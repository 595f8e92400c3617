/** SQLSTATE, or the code of the connection's own failure, however it was wrapped. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error ? String(error.code) : codeOf(error.cause)
}

/** Whether a statement was refused, whole, for what a row of it holds. */
export const isConstraintViolation = (error: unknown) => codeOf(error).startsWith('23')

/** Whether a statement was refused because whom or what its row belongs to is there no more. */
export const isForeignKeyViolation = (error: unknown) => codeOf(error) === '23503'

// Connections refused, lost or too many; the server starting, stopping or failing over; a limit of time; a deadlock.
const OUTAGES =
  /^(08...|53300|57P..|57014|55P03|40P01|25006|E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)\w*|CONNECT(ION)?_\w+)$/

/** Whether a statement failed because the database could not be had in time, and not for what it says. */
export const isOutage = (error: unknown): error is Error => OUTAGES.test(codeOf(error))
