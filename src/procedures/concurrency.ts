interface Queue {
  running: number
  waiting: (() => void)[]
}

/** Runs at most so many calls of one person at once; more of them wait, in their order. */
export function limitConcurrency(most: number) {
  const queues = new Map<string, Queue>()

  return async <Result>(person: string, run: () => Promise<Result>) => {
    const queue = queues.get(person) ?? { running: 0, waiting: [] }
    queues.set(person, queue)
    if (queue.running < most) queue.running++
    else await new Promise<void>((resolve) => queue.waiting.push(resolve))
    try {
      return await run()
    } finally {
      // The next call takes over the place of this one.
      const next = queue.waiting.shift()
      if (next) next()
      else if (--queue.running === 0) queues.delete(person)
    }
  }
}
