import { ORPCError } from '@orpc/client'
import { unavailable } from 'tallystick-contract/internal'

import type { Caller, Reply } from '../call/caller.ts'
import { type Count, countsOfNetwork, createOpenCounts, withRetryAfter } from '../guard/open-counts.ts'

/** Part of the streams of a process that callers without a session may occupy. */
const ANONYMOUS_PART = 3 / 4
/** Parts of the streams of a person that one app, and all apps with an access token, may occupy. */
const APP_PART = 1 / 4
const ALL_APPS_PART = 1 / 2

/** Maximum number of open event streams of one network in one process. */
export const MAX_ADDRESS_STREAMS = 50

export interface Limits {
  maxStreams: number
  maxPersonStreams: number
}

interface Opener {
  caller: Caller | undefined
  /** The network of the IP address, from `networkOf`. */
  network: string | undefined
}

const partOf = (maximum: number, part: number) => Math.max(1, Math.floor(maximum * part))

/**
 * Limits the number of open streams:
 * - of the process, and of all callers without a session in the process (503);
 * - of each person, each app of a person, and each network (429).
 */
export function createStreamLimits({ maxStreams, maxPersonStreams }: Limits) {
  const open = createOpenCounts()

  const countsOf = ({ caller, network }: Opener) => {
    const ofCaller: Count[] = []
    if (caller) ofCaller.push([`person ${caller.user.id}`, maxPersonStreams])
    if (caller?.scopes)
      ofCaller.push(
        [`app ${caller.session.id}`, partOf(maxPersonStreams, APP_PART)],
        [`apps ${caller.user.id}`, partOf(maxPersonStreams, ALL_APPS_PART)],
      )
    ofCaller.push(...countsOfNetwork(network, MAX_ADDRESS_STREAMS))
    const ofProcess: Count[] = [['process', maxStreams]]
    if (!caller) ofProcess.push(['anonymous', Math.ceil(maxStreams * ANONYMOUS_PART)])
    return { ofCaller, ofProcess }
  }

  return {
    count: () => open.countOf('process'),
    /** Counts a stream. Returns the function that ends the count. */
    occupy(opener: Opener, reply: Reply) {
      const { ofCaller, ofProcess } = countsOf(opener)
      const refusal = open.isFull(ofCaller)
        ? new ORPCError('TOO_MANY_REQUESTS', { message: 'Too many open streams; close one first' })
        : open.isFull(ofProcess)
          ? unavailable('The service is at its limit of open streams')
          : undefined
      if (refusal) throw withRetryAfter(reply, refusal)
      return open.occupy([...ofCaller, ...ofProcess])
    },
  }
}
