import type { findByToken } from '../db/accounts/caller-lookup.ts'

/**
 * The authenticated person and the session. `scopes` is set only for a call with an access token, of an app or of a person: the call may
 * use only procedures of these scopes.
 *
 * @example
 * const isOwn = (row: { userId: string }, { user }: Caller) => row.userId === user.id
 */
export type Caller = NonNullable<Awaited<ReturnType<typeof findByToken>>> & {
  scopes?: string[]
  /** When the access token expires. */
  tokenExpiresAt?: Date
}

/** Response headers that the guard and the procedures set. Each key is a header name in lower case: `reply.set('etag', tag)`. */
export type Reply = Map<string, string | string[]>
