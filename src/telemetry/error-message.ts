import { DrizzleQueryError } from 'drizzle-orm/errors'

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
