import { DrizzleQueryError } from 'drizzle-orm/errors'

/** The text of an error for a terminal. Omits the statement and the parameters of a failed query: they may contain secrets. */
export function toErrorMessage(error: unknown): string {
  if (error instanceof DrizzleQueryError) return toErrorMessage(error.cause)
  // Connections to all addresses of a host failed, with one error for each address.
  if (error instanceof AggregateError) return error.errors.map(toErrorMessage).join('\n')
  return error instanceof Error ? error.message : String(error)
}
