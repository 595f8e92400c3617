import { unavailable } from 'tallystick-contract/internal'

interface Queue {
  running: number
  waiting: (() => void)[]
}

/**
 * Limits the number of concurrent calls with the same key. Each key has a first-in, first-out queue for the calls above the
 * limit. A queued call starts in a new iteration of the event loop, because the embedded database runs in this process: several
 * statements in one iteration would block the event loop. The package p-limit would start a queued call in the same iteration.
 *
 * Throws 503 if `maxWaiting` calls with the same key wait. A waiting call for which `isAbandoned` returns true does not run.
 */
export function limitConcurrency(limit: number, maxWaiting = Infinity) {
  const queues = new Map<string, Queue>()

  return async <Result>(key: string, run: () => Promise<Result>, isAbandoned = () => false) => {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    if (queue.running < limit) queue.running++
    else if (queue.waiting.length >= maxWaiting)
      throw unavailable('Too many calls of this account are waiting')
    else await new Promise<void>((resolve) => queue.waiting.push(resolve))
    try {
      if (isAbandoned()) throw unavailable('The client has closed the connection')
      return await run()
    } finally {
      // A finished call passes its slot to the next call, so `running` decreases only if the queue is empty.
      const next = queue.waiting.shift()
      if (next) setImmediate(next)
      else if (--queue.running === 0) queues.delete(key)
    }
  }
}
