import { ORPCError } from '@orpc/client'

/** The times by error: the time is in a header, and errors of oRPC have no headers. */
const times = new WeakMap<Error, number>()

/** Keeps the time of a limited request (429). `header` is the value of `Retry-After`, a number of seconds. */
export function keepRetryTime(error: unknown, header: unknown) {
  const seconds = Number(header)
  if (error instanceof ORPCError && error.status === 429 && seconds > 0)
    times.set(error, Date.now() + seconds * 1000)
}

/**
 * Returns the time at which the service accepts a limited request again (429), in milliseconds since the Unix epoch.
 * Undefined for other errors.
 */
export const retryTimeOf = (error: unknown) => (error instanceof Error ? times.get(error) : undefined)
