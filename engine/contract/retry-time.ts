/** The times by error, because the body of an error does not contain the time. */
const times = new WeakMap<object, number>()

/** Keeps the time of a limited request from the value of the header `Retry-After`, a number of seconds. */
export function keepRetryTime(error: object, header: unknown) {
  const seconds = Number(header)
  if (seconds > 0) times.set(error, Date.now() + seconds * 1000)
}

/**
 * Returns the time at which the service accepts a limited request again (429), in milliseconds since the Unix epoch.
 * Undefined for other errors.
 */
export const retryTimeOf = (error: unknown) => (error instanceof Error ? times.get(error) : undefined)
