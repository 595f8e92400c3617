import { ServerSentEventGenerator } from '@starfederation/datastar-sdk/abstractServerSentEventGenerator'
import type { IncomingHttpHeaders } from 'node:http'
import { badRequest } from 'tallystick-contract/internal'

import type { App, Datastar, Patch, Resources } from '../../app/resource.ts'
import {
  createHandler,
  createRunCall,
  type HandlerParts,
  type RunCall,
  type WireFormat,
} from '../server/handler.ts'
import { parseAccept } from '../server/accept.ts'
import { type Call, EVENT_STREAM, type Protocol } from '../server/protocol.ts'

/** The views of all resources: the patches of procedures by operation, and the patches of topics by name. */
function findViews(resources: Resources) {
  const all = Object.entries(resources).flatMap(([name, { datastar }]) =>
    datastar ? [{ name, ...datastar }] : [],
  )
  return {
    patches: new Map<string, Datastar['patches'][string]>(
      all.flatMap(({ name, patches }) =>
        Object.entries(patches).map(([procedure, patch]) => [`${name}.${procedure}`, patch] as const),
      ),
    ),
    topics: new Map(all.flatMap(({ live }) => (live ? [[live.topic.name, live.patch] as const] : []))),
  }
}

type Views = ReturnType<typeof findViews>

const LIVE = 'live.watch'

/** Creates the wire format of Datastar pages: REST with patches instead of JSON, for the procedures with a view. */
const createFormat = (rest: WireFormat, { patches, topics }: Views): WireFormat => ({
  ...rest,
  find: (call) => {
    const match = rest.find(call)
    if (!match) return undefined
    const { operation } = match.procedure
    // A browser's EventSource, which sends only the header `Accept`, receives the live events of REST.
    const isSupported = operation === LIVE ? hasDatastarHeader(call.request.headers) : patches.has(operation)
    return isSupported ? match : undefined
  },
  encode: async (output, { operation }, { context }) => {
    const patch = await patches.get(operation)?.(output as never, context)
    // A patch replaces the whole list, so `Link` with the URL of the next results would have no use.
    context.reply.delete('link')
    return { status: 200, text: patch ? patchEvents(patch) : '', type: EVENT_STREAM }
  },
  formatEvent: ({ topic, of, state }) => {
    const patch = topics.get(topic)?.(state as never, of as never)
    return patch ? patchEvents(patch) : ''
  },
  isDatastar: true,
})

/** Creates the protocol for Datastar pages: server-sent events with patches of the page. Errors are JSON. */
export function createDatastar(
  { app, ...parts }: HandlerParts & { app: Pick<App, 'resources'> },
  rest: WireFormat,
): Protocol {
  const views = findViews(app.resources)
  const format = createFormat(rest, views)
  const run = createRunCall(format)
  const runSupported: RunCall = async (call) => {
    const result = await run(call)
    if (!result || !('stream' in result) || result.stream.topics.every((topic) => views.topics.has(topic)))
      return result
    result.stream.close()
    const message = `Datastar pages can watch: ${[...views.topics.keys()].join(', ')}`
    return { error: badRequest([{ path: ['topics'], message }]) }
  }
  const answer = createHandler(parts, format, runSupported)
  const answerPage: Protocol = (call, response) => {
    const { 'last-event-id': _, ...headers } = call.context.headers
    return answer({ ...call, context: { ...call.context, headers, isDatastar: true } }, response)
  }
  return Object.assign(answerPage, { accepts: ({ request }: Call) => isDatastar(request.headers) })
}

const hasDatastarHeader = (headers: IncomingHttpHeaders) => headers['datastar-request'] === 'true'

/**
 * Returns whether a Datastar page sent the request: the request has the header `Datastar-Request: true`, or its
 * `Accept` header prefers `text/event-stream`.
 */
export function isDatastar(headers: IncomingHttpHeaders) {
  const { accept = '' } = headers
  if (hasDatastarHeader(headers)) return true
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

const patchEvents = ({ selector, html, signals }: Patch) =>
  [
    ...events.patchElements(html, { selector, mode: 'inner' }),
    ...events.patchSignals(JSON.stringify(signals)),
  ].join('')
