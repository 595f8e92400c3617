import { ORPCError } from '@orpc/client'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Interval of the check for expired requests, in milliseconds. */
const SWEEP = 1000

interface Admitted {
  response: ServerResponse
  since: number
}

/**
 * Admission control for complete requests. States of a request:
 * - admitted: it occupies one of `limit` slots until its response closes;
 * - refused (no free slot): the caller of `admit` answers 503. There is no queue, because under overload it would only grow;
 * - expired (no complete answer after `timeout` milliseconds): `expire` is called once. The slot stays occupied until the
 *   response closes.
 */
export function createAdmission(limit: number, timeout: number, expire: (response: ServerResponse) => void) {
  // An array with a free list: a Map under constant change allocates tables that only a full garbage collection frees.
  const places: (Admitted | undefined)[] = []
  const free: number[] = []
  let counted = 0
  setInterval(() => {
    const deadline = Date.now() - timeout
    for (const each of places) {
      if (!each || each.since > deadline) continue
      each.since = Infinity
      expire(each.response)
    }
  }, SWEEP).unref()

  const isFull = () => counted >= limit
  /** Returns whether a slot was free. Health checks are always admitted and not counted. */
  const admit = (response: ServerResponse, isHealthCheck = false) => {
    if (!isHealthCheck && isFull()) return false
    const place = free.pop() ?? places.length
    places[place] = { response, since: Date.now() }
    if (!isHealthCheck) counted++
    response.on('close', () => {
      places[place] = undefined
      free.push(place)
      if (!isHealthCheck) counted--
    })
    return true
  }
  return { isFull, admit }
}

const pipelined = new WeakMap<Socket, Set<ServerResponse>>()

/**
 * Emits `close` on pipelined responses when their connection closes. Node emits `close` only on the response that is being
 * sent: without this function, admission would never free the slots of the requests behind it.
 */
export function emitCloseWithConnection({ socket }: IncomingMessage, response: ServerResponse) {
  if (response.socket) return
  const waiting = pipelined.get(socket) ?? new Set()
  if (!pipelined.has(socket)) {
    pipelined.set(socket, waiting)
    socket.once('close', () => {
      for (const each of waiting) if (!each.socket) each.emit('close')
    })
  }
  waiting.add(response)
  response.once('close', () => waiting.delete(response))
}

/** The limit of one address is this fraction of the limit of the process. */
const SHARE = 4

type Abort = (error: Error) => void

/**
 * Limits requests with an incomplete body, for the process and for each address. Beyond a limit, the oldest request of
 * the address with the most requests is aborted with 408; the new request is accepted. Half-sent requests therefore cannot
 * block other callers, and a body that arrives in normal time completes before it becomes the oldest.
 */
export function createIncompleteLimit(limit: number, count: () => void) {
  let total = 0
  const byAddress = new Map<string, Set<Abort>>()
  const limitPerAddress = Math.ceil(limit / SHARE)
  const abortOldest = ([oldest]: Set<Abort>) => {
    count()
    oldest?.(new ORPCError('REQUEST_TIMEOUT', { status: 408, message: 'The body took too long to arrive' }))
  }

  return (address: string, abort: Abort) => {
    const own = byAddress.get(address) ?? new Set()
    if (own.size >= limitPerAddress) abortOldest(own)
    if (total >= limit) abortOldest(largest(byAddress.values()))
    total++
    byAddress.set(address, own.add(abort))
    return () => {
      if (own.delete(abort)) total--
      if (own.size === 0 && byAddress.get(address) === own) byAddress.delete(address)
    }
  }
}

/** Returns the first of the largest sets. */
const largest = <Value>(sets: Iterable<Set<Value>>) =>
  [...sets].reduce((most, each) => (each.size > most.size ? each : most), new Set<Value>())
