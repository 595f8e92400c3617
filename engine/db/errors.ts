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

// Error codes of outages: refused or lost connections, too many connections, a server that starts, stops or fails
// over, timeouts, and deadlocks.
const OUTAGES =
  /^(08...|53300|57P..|57014|55P03|40P01|25006|E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)\w*|CONNECT(ION)?_\w+)$/

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
  if (error instanceof AggregateError) return error.errors.map(toErrorMessage).join('\n')
  return error instanceof Error ? error.message : String(error)
}

/** What to do about an error of the start: a pattern of the message, and the advice. */
const ADVICE: [RegExp, string][] = [
  [
    /unsupported startup parameter/,
    'The address belongs to a connection pooler. Set DATABASE_DIRECT_URL to the address of PostgreSQL, and DATABASE_URL to the address of the pooler.',
  ],
  [
    /permission denied for (schema|database|table)/,
    'Migrations are pending, or their table cannot be read. Run tallystick migrate with a role that may create tables, and see docs/deployment.md for the permissions of the role of the service.',
  ],
]

/** Describes an error of the start for the terminal. `setting` is the name of the setting with the address. */
export function describeStartError(setting: string, error: unknown) {
  const message = toErrorMessage(error)
  const advice = ADVICE.filter(([pattern]) => pattern.test(message)).map(([, text]) => text)
  return new Error([`${setting}: ${message}`, ...advice].join('\n'), { cause: error })
}
