import { DrizzleQueryError } from 'drizzle-orm/errors'

/** What to tell whoever runs a command. Of a failed statement only why, without what it carried. */
export function problemOf(error: unknown): string {
  if (error instanceof DrizzleQueryError) return problemOf(error.cause)
  // Nothing listens at any address of a host; each has its own words.
  if (error instanceof AggregateError) return error.errors.map(problemOf).join('\n')
  return error instanceof Error ? error.message : String(error)
}
