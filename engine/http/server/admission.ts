import type { ServerResponse } from 'node:http'

import type { Settings } from '../../settings/settings.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { isHealthCheck } from '../endpoints/health.ts'
import { isEventStream, STREAMING } from '../protocols/event-stream.ts'
import { MAX_BODY } from './body-limits.ts'
import { BODY_TIMEOUT } from './body-reader.ts'
import type { Exchange, Step } from './protocol.ts'
import { sendUnavailable } from './send.ts'

/** Interval of the check for expired requests, in milliseconds. */
const CHECK_INTERVAL = 1000

interface Admitted {
  response: ServerResponse
  /** In milliseconds since the epoch. */
  deadline: number
  /** Whether the answer must be complete at the deadline, also if it is an event stream. */
  isStrict: boolean
}

/**
 * Admission control: limits the number of complete requests that one process handles at the same time. States of a
 * request:
 * - admitted: the request occupies one of `limit` slots until its response closes, or becomes a live stream;
 * - refused (no free slot): the answer is 503 (load shedding). There is no queue, because a queue would only grow under
 *   overload;
 * - expired (no complete answer after `answerTimeout` milliseconds, or the `timeout` of an endpoint): the answer is 503, or
 *   the connection is closed if 503 cannot be sent. The request occupies its slot until the response closes.
 */
export function createAdmission({
  settings: { maxRequests: limit, answerTimeout: timeout },
  metrics,
}: {
  settings: Settings
  metrics?: Metrics | undefined
}) {
  // Uses an array and a list of free slots instead of a Map: with constant insertions and deletions, a Map allocates
  // new tables, and only a full garbage collection frees the old tables.
  const slots: (Admitted | undefined)[] = []
  const freeSlots: number[] = []
  let occupied = 0
  setInterval(() => {
    const now = Date.now()
    for (const each of slots) {
      if (!each || each.deadline > now) continue
      each.deadline = Infinity
      expire(each)
    }
  }, CHECK_INTERVAL).unref()

  function expire({ response, isStrict }: Admitted) {
    // An event stream may last longer. engine/http/protocols/event-stream.ts disconnects clients that do not read.
    if (response.headersSent && isEventStream(response) && !isStrict) return
    metrics?.shed('late')
    // Queued behind a slow response of the same connection (HTTP pipelining), so the answer cannot be sent.
    if (!response.socket) return void response.req.socket.destroy()
    if (response.headersSent) return void response.destroy()
    sendUnavailable(response, 'The answer took too long')
  }

  /** Returns the time for the answer. The handler of a stream runs while the body arrives. */
  const timeFor = (endpoint: Exchange['endpoint']) => {
    const { body, timeout: declared } = endpoint?.declaration ?? {}
    const ofAnswer = declared === undefined ? timeout : declared * 1000
    return body === 'stream' ? ofAnswer + (declared === undefined ? BODY_TIMEOUT : ofAnswer) : ofAnswer
  }

  /** Occupies a slot until the response closes. Health checks do not count toward `limit`. */
  function occupyUntilClosed({ response, endpoint }: Exchange, weight: number) {
    const slot = freeSlots.pop() ?? slots.length
    slots[slot] = { response, deadline: Date.now() + timeFor(endpoint), isStrict: endpoint !== undefined }
    occupied += weight
    const free = () => {
      response.off('close', free).off(STREAMING, free)
      slots[slot] = undefined
      freeSlots.push(slot)
      occupied -= weight
    }
    // Streams have their own limits: engine/live/stream-limits.ts.
    response.on('close', free).on(STREAMING, free)
  }

  /** Refuses a request. Returns true: the request has its answer (`Step`). */
  function shed(response: ServerResponse) {
    metrics?.shed('full')
    sendUnavailable(response, 'The service is at its limit of concurrent requests')
    return true
  }

  /**
   * Admits a request without a body, and a stream. Another request with a body is admitted later, when the body is complete.
   * If all slots are occupied now, the service refuses the request before the body arrives. Health checks are always admitted.
   */
  const admit: Step = (exchange) => {
    const { request, response, hasBody, endpoint } = exchange
    const isExempt = isHealthCheck(request)
    if (occupied >= limit && !isExempt) return shed(response)
    if (!hasBody || endpoint?.declaration.body === 'stream') occupyUntilClosed(exchange, isExempt ? 0 : 1)
    return false
  }

  /**
   * Admits a request with a body, when the body is complete. A large body counts as several requests, but is admitted if
   * one slot is free.
   */
  const admitBody: Step = (exchange) => {
    const { response, bytes } = exchange
    if (!bytes) return false
    if (occupied >= limit) return shed(response)
    occupyUntilClosed(exchange, Math.max(1, Math.ceil(bytes.length / MAX_BODY)))
    return false
  }

  /**
   * Occupies a slot for a further call of an admitted batch. Returns the function that frees the slot, or undefined if all
   * slots are occupied.
   */
  const occupySlot = () => {
    if (occupied >= limit) {
      metrics?.shed('full')
      return undefined
    }
    occupied++
    return () => {
      occupied--
    }
  }
  return { admit, admitBody, occupySlot }
}
