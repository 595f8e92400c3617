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

  return {
    count: () => total,
    /** Counts a stream. Returns the function that ends the count. */
    occupy(person: string | undefined, network: string | undefined, reply: Reply) {
      const keys: [key: string, limit: number][] = []
      if (person !== undefined) keys.push([`person ${person}`, maxPersonStreams])
      if (network !== undefined) keys.push([`network ${network}`, maxAddressStreams])
      const refuse = (error: Error) => {
        reply.set('retry-after', RETRY_AFTER)
        return error
      }
      if (keys.some(([key, limit]) => (counts.get(key) ?? 0) >= limit))
        throw refuse(
          new ORPCError('TOO_MANY_REQUESTS', { message: 'Too many open streams; close one first' }),
        )
      if (total >= maxStreams) throw refuse(unavailable('The service is at its limit of open streams'))
      const add = (step: number) => {
        total += step
        for (const [key] of keys) {
          const count = (counts.get(key) ?? 0) + step
          if (count === 0) counts.delete(key)
          else counts.set(key, count)
        }
      }
      add(1)
      return () => {
        add(-1)
      }
    },
  }
}
