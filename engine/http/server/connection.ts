import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { finished } from 'node:stream'

import type { RequestAttributes } from '../../call/context.ts'
import { BLOCK_FACTOR, blockOf } from '../../guard/networks.ts'

// Requests and responses between their connections and the protocols: when they are handled and written (tick batching), how
// many of a connection may wait (pipelining), how much of them may be unread, and when a connection closes after an early answer
// (lingering close).

/** Maximum number of requests of one connection without a complete response. */
const MAX_UNANSWERED = 32

/** The responses of a connection that wait, or have waited, for an earlier response (HTTP pipelining). */
const pipelined = new WeakMap<Socket, Set<ServerResponse>>()

/** Connections with an open event stream. */
const streaming = new WeakSet<Socket>()

/**
 * Returns whether to handle a request. Destroys the connection of the request in two cases:
 * - An event stream is open on the connection, so the response could not be sent.
 * - The connection already has MAX_UNANSWERED requests without a complete response.
 *
 * Neither `Connection: close` nor `socket.pause()` prevents Node from emitting the requests that it has already read.
 *
 * When a connection closes, Node destroys only the response that is being sent. This function also destroys the
 * responses behind it, which then emit `close`, so that admission control frees their slots.
 */
export function acceptPipelined({ socket }: IncomingMessage, response: ServerResponse) {
  // A response has its socket as soon as all earlier ones are sent.
  if (response.socket) return true
  if (socket.destroyed) return false
  const responses = pipelined.get(socket) ?? new Set()
  if (streaming.has(socket) || responses.size >= MAX_UNANSWERED - 1) {
    socket.destroy()
    return false
  }
  if (!pipelined.has(socket)) {
    pipelined.set(socket, responses)
    socket.once('close', () => {
      for (const each of responses) if (!each.socket) each.destroy().emit('close')
    })
  }
  responses.add(response)
  response.once('close', () => responses.delete(response))
  return true
}

/**
 * Reserves the connection of a response for an event stream, until the response closes. If the connection has other
 * unanswered requests, closes the connection after the data that is already written, and returns false.
 */
export function reserveConnection(response: ServerResponse) {
  const { socket, req: request } = response
  const others = [...(pipelined.get(request.socket) ?? [])].filter((each) => each !== response)
  if (!socket || others.length > 0) {
    request.socket.destroySoon()
    return false
  }
  streaming.add(socket)
  response.once('close', () => streaming.delete(socket))
  return true
}

/**
 * Tick batching: requests that arrive in one iteration of the event loop (a tick) are handled together, one stage after
 * the other. The CPU caches then keep the code of each stage, which saves up to half of the CPU time under load.
 *
 * Modes:
 * - direct (recently at most one request per iteration): a request is handled immediately. A request with a body waits
 *   for `process.nextTick`, because the rest of a small body has often arrived by then.
 * - batching (recently more than one request per iteration): requests are queued until `setImmediate`.
 *
 * Trade-off: in batching mode, a request waits for the end of the current iteration. The change from batching to direct
 * mode is slow, so that a short pause under load does not change the mode.
 */

/** Factor by which `recentPeak` decreases in each iteration with requests. */
const DECAY = 0.9

const requests: (() => void)[] = []
const answers: (() => void)[] = []
let arrived = 0
/** The recent maximum of requests per iteration. */
let recentPeak = 0

/**
 * Runs a callback immediately or on `process.nextTick` (direct mode), or at the end of this iteration of the event loop
 * together with all queued callbacks (batching mode).
 */
export function enqueueRequest(hasBody: boolean, callback: () => void) {
  if (++arrived === 1) setImmediate(handleRequests)
  if (recentPeak > 1 || arrived > 1) requests.push(callback)
  else if (hasBody) process.nextTick(callback)
  else callback()
}

/** Runs a callback when everything that is ready has been handled: answers that are ready together are written together. */
export function enqueueAnswer(callback: () => void) {
  if (answers.push(callback) === 1) process.nextTick(runAll, answers)
}

/** Waits until the answers that are ready have been written. */
export const answersWritten = () => new Promise<void>(enqueueAnswer)

function handleRequests() {
  recentPeak = Math.max(arrived, recentPeak * DECAY)
  arrived = 0
  runAll(requests)
}

/** Runs all callbacks. An exception becomes an uncaught exception, and the remaining callbacks run in the next iteration. */
function runAll(callbacks: (() => void)[]) {
  try {
    for (let callback = callbacks.shift(); callback; callback = callbacks.shift()) callback()
  } finally {
    if (callbacks.length > 0) setImmediate(runAll, callbacks)
  }
}

/** Size above which an answer is counted, in bytes. */
const LARGE_ANSWER = 64 * 1024
/** Maximum size of the unread answers of one person, in bytes. */
const MAX_PERSON_BYTES = 8 * 1024 * 1024
/** Maximum size of the unread answers in one network, in bytes. */
const MAX_NETWORK_BYTES = 32 * 1024 * 1024

/**
 * Creates the class of a server's responses. Limits the memory of answers that clients do not read: for each signed-in
 * person, each network (`networkOf`) and each IPv6 /48. Beyond a limit, closes the connections with the oldest unread
 * answers, because the newest answer may belong to a client that reads.
 */
export function createResponseClass(
  networkOf: (request: IncomingMessage) => string | undefined,
): typeof ServerResponse {
  const unread = new Map<string, Set<MeasuredResponse>>()

  const enforce = (response: MeasuredResponse, key: string, maximum: number) => {
    const responses = unread.get(key) ?? new Set()
    if (!responses.has(response))
      response.once('close', () => {
        responses.delete(response)
        if (responses.size === 0 && unread.get(key) === responses) unread.delete(key)
      })
    unread.set(key, responses.add(response))
    let total = 0
    for (const each of [...responses].reverse()) {
      total += each.unreadLength
      if (total > maximum && each !== response) each.req.socket.destroy()
    }
  }

  return class<Request extends IncomingMessage = IncomingMessage> extends MeasuredResponse<Request> {
    override onLarge() {
      const person = this.attributes?.person
      const network = networkOf(this.req)
      const block = network === undefined ? undefined : blockOf(network)
      if (person !== undefined) enforce(this, `person ${person}`, MAX_PERSON_BYTES)
      if (network !== undefined) enforce(this, `network ${network}`, MAX_NETWORK_BYTES)
      if (block !== undefined) enforce(this, `network ${block}`, MAX_NETWORK_BYTES * BLOCK_FACTOR)
    }
  }
}

/** A response that measures the data that the client has not read. */
export abstract class MeasuredResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** The attributes of the request, as soon as its call exists. */
  attributes: RequestAttributes | undefined
  #waitingLength = 0

  /** Called when the response has much unread data. */
  abstract onLarge(): void

  /** Number of bytes that the operating system has not accepted for the client. */
  get unreadLength() {
    return this.writableLength + this.#waitingLength
  }

  /** Counts data that will be written when the client has read earlier data. A negative number ends the count. */
  addWaiting(length: number) {
    this.#waitingLength += length
    this.#check()
  }

  override end(...parameters: unknown[]) {
    super.end(...(parameters as Parameters<ServerResponse['end']>))
    this.#check()
    return this
  }

  #check() {
    // A response that has closed would be counted forever, because it emits no further `close`.
    if (!this.destroyed && this.unreadLength > LARGE_ANSWER) this.onLarge()
  }
}

/**
 * Maximum time of a lingering close, in milliseconds: after the answer, the connection stays open while the client
 * still sends its body. If the connection closed immediately, the client could lose the answer.
 */
export const LINGER = 1000

/** Discards the rest of the request body, for at most LINGER milliseconds, and then ends the response. */
export function endAfterRequest(response: ServerResponse) {
  const deadline = setTimeout(() => response.end(), LINGER).unref()
  finished(response.req.resume(), () => {
    // The rest of the request body has arrived. If the response stayed open until the deadline, open connections
    // would accumulate under overload.
    clearTimeout(deadline)
    response.end()
  })
}
