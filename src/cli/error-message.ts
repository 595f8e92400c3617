import { DrizzleQueryError } from 'drizzle-orm/errors'

/** What to tell whoever runs a command. Of a failed statement only why, without what it carried. */
export function toErrorMessage(error: unknown): string {
  if (error instanceof DrizzleQueryError) return toErrorMessage(error.cause)
  // Nothing listens at any address of a host; each has its own words.
  if (error instanceof AggregateError) return error.errors.map(toErrorMessage).join('\n')
  return error instanceof Error ? error.message : String(error)
}
