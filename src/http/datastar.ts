import { createRouterClient, type RouterClient } from '@orpc/server'

import type { Topic } from '../../contract/meta.ts'
import { badRequest } from '../../contract/errors.ts'
import type { NotesList } from '../../contract/legacy-notes.ts'
import type { Services } from '../services.ts'
import { counterHtml } from '../html/counter.ts'
import { notesHtml } from '../html/notes.ts'
import { router } from '../procedures/index.ts'
import { EVENT_STREAM, hasDatastarHeader, isDatastar, type Patch, patchEvents } from './datastar-events.ts'
import { createHandler, createRunCall, type RunCall, type WireFormat } from './handler.ts'
import type { Call, Protocol } from './protocol.ts'

type Client = RouterClient<typeof router>

/**
 * The procedures that Datastar pages can call. Each function returns the patch to send after the procedure has run,
 * given the output of the procedure.
 */
const views: Record<string, (output: never, client: Client) => Patch | Promise<Patch>> = {
  'counter.fragment': (output: { count: number }) => counterView(output),
  'legacyNotes.list': (output: NotesList) => notesView(output),
  'legacyNotes.create': async (_, client) => notesView(await client.legacyNotes.list(), { newNote: '' }),
  'legacyNotes.delete': async (_, client) => notesView(await client.legacyNotes.list()),
}

const notesView = ({ notes, noteCount }: NotesList, signals = {}): Patch => ({
  selector: '#notes-list',
  html: notesHtml(notes),
  signals: { noteCount, ...signals },
})

const counterView = ({ count }: { count: number }): Patch => ({
  selector: '#server-fragment',
  html: counterHtml(count),
  signals: { count },
})

/** The topics that Datastar pages can watch. Each function returns the patch for a state. */
const liveViews: Partial<Record<Topic, (state: never) => Patch>> = { counter: counterView, notes: notesView }

const hasLiveView = (topic: Topic) => liveViews[topic] !== undefined
const refuseTopics = () =>
  badRequest([
    { path: ['topics'], message: `Datastar pages can watch: ${Object.keys(liveViews).join(', ')}` },
  ])

const LIVE = 'live.watch'

/** Creates the wire format of Datastar pages: REST with patches instead of JSON, for the procedures with a view. */
const createFormat = (rest: WireFormat): WireFormat => ({
  ...rest,
  find: (call) => {
    const match = rest.find(call)
    if (!match) return undefined
    const { operation } = match.procedure
    // A browser's EventSource, which sends only the header `Accept`, receives the live events of REST.
    const isSupported =
      operation === LIVE ? hasDatastarHeader(call.request.headers) : Object.hasOwn(views, operation)
    return isSupported ? match : undefined
  },
  encode: async (output, { operation }, { context }) => {
    const patch = await views[operation]?.(output as never, createRouterClient(router, { context }))
    // A patch replaces the whole list, so `Link` with the URL of the next results would have no use.
    context.reply.delete('link')
    return { status: 200, text: patch ? patchEvents(patch) : '', type: EVENT_STREAM }
  },
  frame: (topic, state) => {
    const patch = liveViews[topic]?.(state as never)
    return patch ? patchEvents(patch) : ''
  },
  isDatastar: true,
})

/** Creates the protocol for Datastar pages: server-sent events with patches of the page. Errors are JSON. */
export function createDatastar(services: Services, rest: WireFormat): Protocol {
  const format = createFormat(rest)
  const run = createRunCall(format)
  const runSupported: RunCall = async (call) => {
    const result = await run(call)
    if (!result || !('stream' in result) || result.stream.topics.every(hasLiveView)) return result
    result.stream.close()
    return { error: refuseTopics() }
  }
  const answer = createHandler(services, format, runSupported)
  const answerPage: Protocol = (call, response) => {
    const { 'last-event-id': _, ...headers } = call.context.headers
    return answer({ ...call, context: { ...call.context, headers, isFirstForm: true } }, response)
  }
  return Object.assign(answerPage, { accepts: ({ request }: Call) => isDatastar(request.headers) })
}
