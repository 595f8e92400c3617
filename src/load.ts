import type { ServerResponse } from 'node:http'

/** How often it is looked for requests that take too long, in milliseconds. */
const SWEEP = 1000

/**
 * Keeps the service from taking on more than it can do: beyond `most` requests under way, new ones are told to come
 * again, for a queue would only grow; and none is left without an answer for longer than `patience`, in milliseconds.
 */
export function createGate(most: number, patience: number, expire: (response: ServerResponse) => void) {
  const underWay = new Map<ServerResponse, number>()
  setInterval(() => {
    const latest = Date.now() - patience
    for (const [response, since] of underWay) {
      // Those after it came later.
      if (since > latest) return
      underWay.delete(response)
      // What is still being sent does not wait yet, and has a limit of its own.
      if (response.req.complete) expire(response)
      else underWay.set(response, Date.now())
    }
  }, SWEEP).unref()

  /** Whether there is room for one more. For whoever watches over the service there always is. */
  return (response: ServerResponse, isWatcher: boolean) => {
    if (!isWatcher && underWay.size >= most) return false
    underWay.set(response, Date.now())
    response.on('close', () => underWay.delete(response))
    return true
  }
}
