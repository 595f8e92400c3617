import { ORPCError } from '@orpc/client'
import type { ServerResponse } from 'node:http'

import { blockOf } from '../../guard/networks.ts'
import { STREAMING } from '../protocols/event-stream.ts'

/** Interval of the check for expired requests, in milliseconds. */
const CHECK_INTERVAL = 1000

interface Admitted {
  response: ServerResponse
  since: number
}

/**
 * Admission control: limits the number of complete requests that one process handles at the same time. States of a
 * request:
 * - admitted: the request occupies one of `limit` slots until its response closes, or becomes a live stream;
 * - refused (no free slot): the caller of `admit` answers 503. There is no queue, because a queue would only grow under
 *   overload;
 * - expired (no complete answer after `timeout` milliseconds): `expire` is called once. The request occupies its slot
 *   until the response closes.
 */
export function createAdmission(limit: number, timeout: number, expire: (response: ServerResponse) => void) {
  // Uses an array and a list of free slots instead of a Map: with constant insertions and deletions, a Map allocates
  // new tables, and only a full garbage collection frees the old tables.
  const slots: (Admitted | undefined)[] = []
  const freeSlots: number[] = []
  let occupied = 0
  setInterval(() => {
    const deadline = Date.now() - timeout
    for (const each of slots) {
      if (!each || each.since > deadline) continue
      each.since = Infinity
      expire(each.response)
    }
  }, CHECK_INTERVAL).unref()

  const isFull = () => occupied >= limit
  /**
   * Returns whether the request was admitted. Health checks are always admitted, and do not count toward `limit`. A large body
   * counts as several requests (`weight`), but is admitted if one slot is free.
   */
  const admit = (response: ServerResponse, isHealthCheck = false, weight = 1) => {
    if (!isHealthCheck && isFull()) return false
    const slot = freeSlots.pop() ?? slots.length
    slots[slot] = { response, since: Date.now() }
    if (!isHealthCheck) occupied += weight
    const free = () => {
      response.off('close', free).off(STREAMING, free)
      slots[slot] = undefined
      freeSlots.push(slot)
      if (!isHealthCheck) occupied -= weight
    }
    // Streams have their own limits: engine/live/stream-limits.ts.
    response.on('close', free).on(STREAMING, free)
    return true
  }
  /** Occupies a slot for a call of an admitted batch. Returns the function that frees the slot, or undefined if full. */
  const occupy = () => {
    if (isFull()) return undefined
    occupied++
    return () => {
      occupied--
    }
  }
  return { isFull, admit, occupy }
}

/** The limit for one network is the limit for the process, divided by this number. */
const NETWORK_DIVISOR = 4

type Abort = (error: Error) => void

/**
 * Limits the number of requests with an incomplete body, for the process and for each network (`networkOf`). A new request
 * is always accepted:
 * - If the network is at its limit, the oldest request of the network is aborted with 408.
 * - If the process is at its limit, the oldest request of the network with the most incomplete requests is aborted with
 *   408. For this choice, all networks of an IPv6 /48 count as one.
 *
 * Therefore, incomplete requests cannot block other callers. A body that is sent at normal speed is complete before its
 * request becomes the oldest.
 *
 * Returns the function that counts a request, with its weight: a large body counts as several. This function returns the
 * function that ends the count: the caller calls it when the body is complete, and before `abort` returns. `onAbort` is called
 * for each aborted request.
 */
export function createIncompleteLimit(limit: number, onAbort: () => void) {
  let total = 0
  const byNetwork = new Map<string, Group>()
  const byBlock = new Map<string, Group>()
  const limitPerNetwork = Math.ceil(limit / NETWORK_DIVISOR)
  const abortOldest = ({ requests: [oldest] }: Group) => {
    onAbort()
    oldest?.(new ORPCError('REQUEST_TIMEOUT', { status: 408, message: 'The body took too long to arrive' }))
  }

  return (network: string, abort: Abort, weight = 1) => {
    for (
      let group = byNetwork.get(network);
      group && group.weight + weight > limitPerNetwork;
      group = byNetwork.get(network)
    )
      abortOldest(group)
    while (total > 0 && total + weight > limit) abortOldest(largest(byBlock.values()))
    const request = { abort, weight }
    const leave = [enter(byNetwork, network, request), enter(byBlock, blockOf(network) ?? network, request)]
    total += weight
    let isCounted = true
    return () => {
      if (!isCounted) return
      isCounted = false
      total -= weight
      for (const each of leave) each()
    }
  }
}

/** The incomplete requests of a network, and the sum of their weights. */
interface Group {
  requests: Set<Abort>
  weight: number
}

/** Adds a request to the group of a key. Returns the function that removes the request. */
function enter(groups: Map<string, Group>, key: string, { abort, weight }: { abort: Abort; weight: number }) {
  const group = groups.get(key) ?? { requests: new Set(), weight: 0 }
  groups.set(key, group)
  group.requests.add(abort)
  group.weight += weight
  return () => {
    group.requests.delete(abort)
    group.weight -= weight
    if (group.requests.size === 0 && groups.get(key) === group) groups.delete(key)
  }
}

const largest = (groups: Iterable<Group>) =>
  [...groups].reduce((most, each) => (each.weight > most.weight ? each : most))
