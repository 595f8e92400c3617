import { ORPCError } from '@orpc/client'

import { unavailable } from '../../contract/errors.ts'
import type { Reply } from '../context.ts'

/** Time after which a refused client should try again, in seconds. */
const RETRY_AFTER = '5'

interface Limits {
  maxStreams: number
  maxPersonStreams: number
  maxAddressStreams: number
}

/** Limits the number of open streams: of the process (503), and of each person and each network (429). */
export function createStreamLimits({ maxStreams, maxPersonStreams, maxAddressStreams }: Limits) {
  let total = 0
  const counts = new Map<string, number>()
  const isFull = (key: string | undefined, limit: number) =>
    key !== undefined && (counts.get(key) ?? 0) >= limit
  const add = (key: string | undefined, step: number) => {
    if (key === undefined) return
    const count = (counts.get(key) ?? 0) + step
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
  }
  const findRefusal = (personKey: string | undefined, networkKey: string | undefined) => {
    if (isFull(personKey, maxPersonStreams) || isFull(networkKey, maxAddressStreams))
      return new ORPCError('TOO_MANY_REQUESTS', { message: 'Too many open streams; close one first' })
    return total >= maxStreams ? unavailable('The service is at its limit of open streams') : undefined
  }

  return {
    count: () => total,
    /** Counts a stream. Returns the function that ends the count. */
    occupy(person: string | undefined, network: string | undefined, reply: Reply) {
      const personKey = person && `person ${person}`
      const networkKey = network && `network ${network}`
      const refusal = findRefusal(personKey, networkKey)
      if (refusal) {
        reply.set('retry-after', RETRY_AFTER)
        throw refusal
      }
      const count = (step: number) => {
        total += step
        add(personKey, step)
        add(networkKey, step)
      }
      count(1)
      return () => {
        count(-1)
      }
    },
  }
}
