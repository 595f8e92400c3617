import { badRequest } from 'tallystick-contract/internal'

import type { Datastar, Resources } from '../../resource.ts'
import type { Services } from '../../services.ts'
import { EVENT_STREAM, hasDatastarHeader, isDatastar, patchEvents } from './datastar-events.ts'
import { createHandler, createRunCall, type RunCall, type WireFormat } from '../server/handler.ts'
import type { Call, Protocol } from '../server/protocol.ts'

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
  frame: (topic, state) => {
    const patch = topics.get(topic)?.(state as never)
    return patch ? patchEvents(patch) : ''
  },
  isDatastar: true,
})

/** Creates the protocol for Datastar pages: server-sent events with patches of the page. Errors are JSON. */
export function createDatastar(services: Services, rest: WireFormat): Protocol {
  const views = findViews(services.app.resources)
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
  const answer = createHandler(services, format, runSupported)
  const answerPage: Protocol = (call, response) => {
    const { 'last-event-id': _, ...headers } = call.context.headers
    return answer({ ...call, context: { ...call.context, headers, isDatastar: true } }, response)
  }
  return Object.assign(answerPage, { accepts: ({ request }: Call) => isDatastar(request.headers) })
}
