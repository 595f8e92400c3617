interface Queue {
  running: number
  waiting: (() => void)[]
}

/**
 * Limits the concurrent calls of each key. Calls above the limit wait in a first-in, first-out queue of their key. The
 * next call in the queue starts in a new iteration of the event loop, because the embedded database runs in this
 * process: a series of its statements in one iteration would block the event loop. The package p-limit would start the
 * next call in the same iteration.
 */
export function limitConcurrency(limit: number) {
  const queues = new Map<string, Queue>()

  return async <Result>(key: string, run: () => Promise<Result>) => {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    if (queue.running < limit) queue.running++
    else await new Promise<void>((resolve) => queue.waiting.push(resolve))
    try {
      return await run()
    } finally {
      // A finished call passes its slot to the next call, so `running` decreases only if the queue is empty.
      const next = queue.waiting.shift()
      if (next) setImmediate(next)
      else if (--queue.running === 0) queues.delete(key)
    }
  }
}
