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
  /** Returns whether the request was admitted. Health checks are always admitted, and do not count toward `limit`. */
  const admit = (response: ServerResponse, isHealthCheck = false) => {
    if (!isHealthCheck && isFull()) return false
    const slot = freeSlots.pop() ?? slots.length
    slots[slot] = { response, since: Date.now() }
    if (!isHealthCheck) occupied++
    const free = () => {
      response.off('close', free).off(STREAMING, free)
      slots[slot] = undefined
      freeSlots.push(slot)
      if (!isHealthCheck) occupied--
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
 * Returns the function that counts a request. This function returns the function that ends the count: the caller calls it
 * when the body is complete, and before `abort` returns. `onAbort` is called for each aborted request.
 */
export function createIncompleteLimit(limit: number, onAbort: () => void) {
  let total = 0
  const byNetwork = new Map<string, Set<Abort>>()
  const byBlock = new Map<string, Set<Abort>>()
  const limitPerNetwork = Math.ceil(limit / NETWORK_DIVISOR)
  const abortOldest = ([oldest]: Set<Abort>) => {
    onAbort()
    oldest?.(new ORPCError('REQUEST_TIMEOUT', { status: 408, message: 'The body took too long to arrive' }))
  }

  return (network: string, abort: Abort) => {
    const ofNetwork = byNetwork.get(network)
    if (ofNetwork && ofNetwork.size >= limitPerNetwork) abortOldest(ofNetwork)
    if (total >= limit) abortOldest(largest(byBlock.values()))
    const leave = [enter(byNetwork, network, abort), enter(byBlock, blockOf(network) ?? network, abort)]
    total++
    let isCounted = true
    return () => {
      if (!isCounted) return
      isCounted = false
      total--
      for (const each of leave) each()
    }
  }
}

/** Adds a value to the set of a key. Returns the function that removes the value. */
function enter<Value>(sets: Map<string, Set<Value>>, key: string, value: Value) {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set.add(value))
  return () => {
    set.delete(value)
    if (set.size === 0 && sets.get(key) === set) sets.delete(key)
  }
}

const largest = <Value>(sets: Iterable<Set<Value>>) =>
  [...sets].reduce((most, each) => (each.size > most.size ? each : most), new Set<Value>())
