import { LRUCache } from 'lru-cache'
import { setTimeout as sleep } from 'node:timers/promises'

import { limitConcurrency } from '../guard/concurrency.ts'

const MINUTE = 60_000

/** Maximum number of concurrent reads, because after a reconnect all states are read. */
const MAX_READS = 8
/**
 * Size of the states that each account may read, in characters of JSON per millisecond (2 MB per second). A larger account
 * receives its states less often, and takes no time from other accounts.
 */
const ACCOUNT_RATE = 2000
/** Added to the size of a state for each parent whose changes it receives, so that an account with many parents also pauses longer. */
export const KEY_SIZE = 64

/**
 * Creates a fair queue for the reads of states. One account reads one state at a time, and pauses after each read, so that
 * an account with many or large states does not delay other accounts. `read` returns the size of the state.
 */
export function createReadQueue() {
  const limitReads = limitConcurrency(MAX_READS)
  const limitPerAccount = limitConcurrency(1)
  /** When the next read of an account may begin, in milliseconds since the start of the process. */
  const pauses = new LRUCache<string, number>({ max: 10_000, ttl: MINUTE })

  return (account: string, read: () => Promise<number>) =>
    limitPerAccount(account, async () => {
      await sleepUntil(pauses.get(account) ?? 0)
      const size = await limitReads('all accounts', read)
      pauses.set(account, performance.now() + size / ACCOUNT_RATE)
    })
}

export type ReadQueue = ReturnType<typeof createReadQueue>

/** Waits until a time, in milliseconds since the start of the process. */
export const sleepUntil = async (time: number) => {
  const delay = time - performance.now()
  if (delay > 0) await sleep(delay, undefined, { ref: false })
}
