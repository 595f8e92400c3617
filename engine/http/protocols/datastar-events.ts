import { ServerSentEventGenerator } from '@starfederation/datastar-sdk/abstractServerSentEventGenerator'
import type { IncomingHttpHeaders } from 'node:http'

import type { Patch } from '../../resource.ts'
import { parseAccept } from '../server/accept.ts'

export const EVENT_STREAM = 'text/event-stream'

/**
 * Returns whether a Datastar page sent the request: the request has the header `Datastar-Request: true`, or its
 * `Accept` header prefers `text/event-stream`.
 */
export const isDatastar = (headers: IncomingHttpHeaders) =>
  hasDatastarHeader(headers) || prefersEvents(headers)

export const hasDatastarHeader = (headers: IncomingHttpHeaders) => headers['datastar-request'] === 'true'

const prefersEvents = ({ accept = '' }: IncomingHttpHeaders) => {
  // Parses `Accept` only if the header contains the type, because almost no request asks for events.
  if (!/event-stream/i.test(accept)) return false
  const [first] = parseAccept(accept).sort((a, b) => b.weight - a.weight)
  return first?.type === EVENT_STREAM && first.weight > 0
}

/** Returns the lines of each event. The class of the package writes them to a stream, but answers here are complete. */
class EventWriter extends ServerSentEventGenerator {
  static readonly instance = new EventWriter()

  close() {
    throw new Error('There is no stream to close')
  }
}

const events = EventWriter.instance

export const patchEvents = ({ selector, html, signals }: Patch) =>
  [
    ...events.patchElements(html, { selector, mode: 'inner' }),
    ...events.patchSignals(JSON.stringify(signals)),
  ].join('')
