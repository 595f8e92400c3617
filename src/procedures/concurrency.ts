interface Queue {
  running: number
  waiting: (() => void)[]
}

/**
 * Runs at most so many calls of one key at once. More of them wait, in their order, and each for a turn of the event loop: the
 * embedded database runs in this process, and would answer all of them without a pause.
 */
export function limitConcurrency(most: number) {
  const queues = new Map<string, Queue>()

  return async <Result>(key: string, run: () => Promise<Result>) => {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    if (queue.running < most) queue.running++
    else await new Promise<void>((resolve) => queue.waiting.push(resolve))
    try {
      return await run()
    } finally {
      // The next call takes over the place of this one.
      const next = queue.waiting.shift()
      if (next) setImmediate(next)
      else if (--queue.running === 0) queues.delete(key)
    }
  }
}
