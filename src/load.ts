import type { ServerResponse } from 'node:http'

/** How often it is looked for requests that take too long, in milliseconds. */
const SWEEP = 1000

interface UnderWay {
  response: ServerResponse
  since: number
}

/**
 * Keeps the service from taking on more than it can do: beyond `most` requests under way, new ones are told to come
 * again, for a queue would only grow; and none is left without an answer for longer than `patience`, in milliseconds.
 */
export function createGate(most: number, patience: number, expire: (response: ServerResponse) => void) {
  // Places, and no Map: one that changes all the time leaves tables behind, whose answers only a full collection clears.
  const places: (UnderWay | undefined)[] = []
  const free: number[] = []
  setInterval(() => {
    const now = Date.now()
    for (const each of places) {
      if (!each || each.since > now - patience) continue
      // What is still being sent does not wait yet, and has a limit of its own.
      const { complete } = each.response.req
      each.since = complete ? Infinity : now
      if (complete) expire(each.response)
    }
  }, SWEEP).unref()

  /** Whether there is room for one more. For whoever watches over the service there always is. */
  return (response: ServerResponse, isWatcher: boolean) => {
    if (!isWatcher && places.length - free.length >= most) return false
    const place = free.pop() ?? places.length
    places[place] = { response, since: Date.now() }
    response.on('close', () => {
      places[place] = undefined
      free.push(place)
    })
    return true
  }
}
