import { type IncomingMessage, ServerResponse } from 'node:http'

import type { RequestAttributes } from '../../context.ts'
import { BLOCK_FACTOR, blockOf } from '../../guard/networks.ts'

/** Size above which an answer is counted, in bytes. */
const LARGE = 64 * 1024
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
    if (!this.destroyed && this.unreadLength > LARGE) this.onLarge()
  }
}
