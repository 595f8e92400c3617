import { ORPCError } from '@orpc/client'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Interval of the search for requests without an answer, in milliseconds. */
const SWEEP = 1000

interface Admitted {
  response: ServerResponse
  since: number
}

/**
 * Limits the complete requests that are handled at once: beyond `most` new ones are refused, because a queue would only
 * grow. Calls `expire` for a request that is not answered, or whose answer is not read, within `patience` milliseconds.
 */
export function createAdmission(most: number, patience: number, expire: (response: ServerResponse) => void) {
  // An array with free places: a Map that changes all the time leaves tables behind that only a full collection frees.
  const places: (Admitted | undefined)[] = []
  const free: number[] = []
  let counted = 0
  setInterval(() => {
    const due = Date.now() - patience
    for (const each of places) {
      if (!each || each.since > due) continue
      each.since = Infinity
      expire(each.response)
    }
  }, SWEEP).unref()

  const isFull = () => counted >= most
  /** Returns whether there was room. A health check is always admitted, and never counted. */
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
 * Emits `close` for a response whose connection closes before the turn of the response. Node emits `close` only for the
 * response that is being sent: admission would count each request that was pipelined behind it until the process ends.
 */
export function closeWithConnection({ socket }: IncomingMessage, response: ServerResponse) {
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

/** A part of the limit of a process, for each address. */
const SHARE = 4

type Cut = (error: Error) => void

/**
 * Limits the requests whose body is still arriving, in one process and for each address. Beyond the limit the oldest
 * request of the address with the most is cut off, not the newest refused: half-sent requests then keep nobody out,
 * because a body that arrives soon is complete before its turn comes.
 */
export function createIncomplete(most: number, count: () => void) {
  let total = 0
  const byAddress = new Map<string, Set<Cut>>()
  const mostEach = Math.ceil(most / SHARE)
  const cutOldest = ([oldest]: Set<Cut>) => {
    count()
    oldest?.(new ORPCError('REQUEST_TIMEOUT', { status: 408, message: 'The body took too long to arrive' }))
  }

  return (address: string, cut: Cut) => {
    const own = byAddress.get(address) ?? new Set()
    if (own.size >= mostEach) cutOldest(own)
    if (total >= most) cutOldest(largest(byAddress.values()))
    total++
    byAddress.set(address, own.add(cut))
    return () => {
      if (own.delete(cut)) total--
      if (own.size === 0 && byAddress.get(address) === own) byAddress.delete(address)
    }
  }
}

/** Of equals the first. */
const largest = <Value>(sets: Iterable<Set<Value>>) =>
  [...sets].reduce((most, each) => (each.size > most.size ? each : most), new Set<Value>())
