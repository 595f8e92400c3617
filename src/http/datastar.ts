import { StandardOpenAPIHandler } from '@orpc/openapi/standard'
import { createRouterClient, ORPCError, type RouterClient } from '@orpc/server'
import { isObject } from '@orpc/shared'

import type { Page, Topic } from '../../contract/base.ts'
import { badRequest } from '../../contract/errors.ts'
import type { NotesList } from '../../contract/legacy-notes.ts'
import { readTopics } from '../../contract/live.ts'
import type { Context, Format, Services } from '../context.ts'
import { router } from '../procedures/index.ts'
import { counterHtml } from '../html/counter.ts'
import { notesHtml } from '../html/notes.ts'
import { EVENT_STREAM, patchEvents, type Patch } from './datastar-events.ts'
import { sendLive } from './event-stream.ts'
import { hasDatastarHeader, isDatastar } from './note-forms.ts'
import { answerProcedure, sendError, setReplyHeaders, standardRequest, type Protocol } from './protocol.ts'

const LIVE = '/api/live'

type Client = RouterClient<typeof router>

/** The procedures that Datastar pages can call. Each function returns the patch to send after the procedure has run. */
const views: Record<string, (client: Client, input: never) => Promise<Patch>> = {
  'counter.fragment': async (client) => counterView(await client.counter.fragment()),
  'legacyNotes.list': (client, page: Page | undefined) => notesPatch(client, {}, page),
  'legacyNotes.create': (client) => notesPatch(client, { newNote: '' }),
  'legacyNotes.delete': (client) => notesPatch(client),
}

const notesPatch = async (client: Client, signals = {}, page?: Page) =>
  notesView(await client.legacyNotes.list(page), signals)

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

const patchFrame: Format = (topic, state) => {
  const patch = liveViews[topic]?.(state as never)
  return patch ? patchEvents(patch) : ''
}

/**
 * Creates the protocol for Datastar pages. Uses the routes, the guard and the validation of REST. Sends a patch as
 * server-sent events.
 */
export function createDatastar(services: Services): Protocol {
  const liveHandler = new StandardOpenAPIHandler<Context>(router, {
    filter: ({ path }) => path.join('.') === 'live.watch',
    customErrorResponseBodyEncoder: (error) => error,
    clientInterceptors: [
      async ({ input, context, next }) => {
        const output = await next()
        const topics = readTopics(isObject(input) ? input.topics : undefined)
        const unsupported = topics.filter((topic) => !(String(topic) in liveViews))
        if (unsupported.length === 0) return output
        context.opened?.stream?.close()
        throw badRequest([
          { path: ['topics'], message: `Datastar pages can watch: ${Object.keys(liveViews).join(', ')}` },
        ])
      },
    ],
  })
  const answerLive: Protocol = async (call, response) => {
    const opened: Context['opened'] = {}
    const { 'last-event-id': _, ...headers } = call.context.headers
    const context = { ...call.context, headers, opened, isFirstForm: true }
    const request = standardRequest({ ...call, context })
    const result = await liveHandler.handle(request, { context })
    if (!result.matched) return false
    const { body } = result.response
    const { stream } = opened
    const { reply } = context
    if (stream && !(body instanceof ORPCError))
      return sendLive({ response, reply, stream, format: patchFrame, services, isDatastar: true })
    setReplyHeaders(response, reply)
    return sendError(response, body as ORPCError<string, unknown>)
  }

  const handler = new StandardOpenAPIHandler<Context>(router, {
    filter: ({ path }) => path.join('.') in views,
    customErrorResponseBodyEncoder: (error) => error,
    clientInterceptors: [
      async ({ path, context, input, next }) => {
        await next()
        return views[path.join('.')]?.(createRouterClient(router, { context }), input as never)
      },
    ],
  })

  return async (call, response) => {
    const { context, request } = call
    if (!isDatastar(request.headers)) return false
    // A browser's EventSource, which sends only the header `Accept`, receives the events of REST.
    if (call.url().pathname === LIVE) return hasDatastarHeader(request.headers) && answerLive(call, response)
    const result = await handler.handle(standardRequest(call), { context })
    if (!result.matched) return false
    // Removes the `Link` header with the URL of the next results, because a patch replaces the whole list.
    context.reply.delete('link')
    const { status, body } = result.response
    if (!(body instanceof ORPCError))
      return answerProcedure(
        { call, response },
        { status, text: patchEvents(body as Patch), type: EVENT_STREAM },
      )
    setReplyHeaders(response, context.reply)
    return sendError(response, body)
  }
}
