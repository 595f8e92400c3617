import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream'

/**
 * Maximum time of a lingering close, in milliseconds: after the answer, the connection stays open while the client
 * still sends its body. If the connection closed immediately, the client could lose the answer.
 */
export const LINGER = 1000

/** Ends a response, and before discards the rest of the request body, for at most LINGER milliseconds. */
export function endAfterRequest(response: ServerResponse) {
  const deadline = setTimeout(() => response.end(), LINGER).unref()
  finished(response.req.resume(), () => {
    // The rest of the request body has arrived. If the response stayed open until the deadline, open connections
    // would accumulate under overload.
    clearTimeout(deadline)
    response.end()
  })
}
