import type { Reply } from '../call/caller.ts'
import { BLOCK_FACTOR, blockOf } from './networks.ts'

/** Time after which a refused client should try again, in seconds. */
const RETRY_AFTER = '5'

/** Sets `Retry-After` of the answer, and returns the error. */
export function withRetryAfter<Refusal extends Error>(reply: Reply, error: Refusal) {
  reply.set('retry-after', RETRY_AFTER)
  return error
}

/** A key, and the maximum of open streams or requests with this key. */
export type Count = [key: string, maximum: number]

/** The maximum of a network from `networkOf`, and that of its /48. */
export function countsOfNetwork(network: string | undefined, maximum: number): Count[] {
  if (network === undefined) return []
  const block = blockOf(network)
  return [
    [`network ${network}`, maximum],
    ...(block === undefined ? [] : [[`network ${block}`, maximum * BLOCK_FACTOR] satisfies Count]),
  ]
}

/** Counts the streams or requests that are open at the same time in this process, by key. */
export function createOpenCounts() {
  const counts = new Map<string, number>()
  const countOf = (key: string) => counts.get(key) ?? 0
  return {
    countOf,
    isFull: (limited: readonly Count[]) => limited.some(([key, maximum]) => countOf(key) >= maximum),
    /** Adds one to the count of each key. Returns the function that subtracts it again. */
    occupy(limited: readonly Count[]) {
      const keys = limited.map(([key]) => key)
      for (const key of keys) counts.set(key, countOf(key) + 1)
      return () => {
        for (const key of keys) {
          const count = countOf(key) - 1
          if (count === 0) counts.delete(key)
          else counts.set(key, count)
        }
      }
    },
  }
}
