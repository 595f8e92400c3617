import { StandardOpenAPIHandler } from '@orpc/openapi/standard'
import { createRouterClient, ORPCError, type RouterClient } from '@orpc/server'
import { toAbortSignal } from '@orpc/standard-server-node'

import type { Page } from '../../contract/base.ts'
import type { Context } from '../context.ts'
import { router } from '../procedures/index.ts'
import { notesHtml } from '../views/notes.ts'
import { EVENT_STREAM, patchEvents, type Patch } from './datastar-events.ts'
import { isDatastar } from './note-forms.ts'
import { answerProcedure, sendError, setReplyHeaders, standardRequest, type Protocol } from './protocol.ts'

type Client = RouterClient<typeof router>

/** The procedures that Datastar pages can call. Each function returns the patch to send after the procedure has run. */
const views: Record<string, (client: Client, input: never) => Promise<Patch>> = {
  'counter.fragment': async (client) => {
    const { count, html } = await client.counter.fragment()
    return { selector: '#server-fragment', html, signals: { count } }
  },
  'legacyNotes.list': (client, page: Page | undefined) => notesPatch(client, {}, page),
  'legacyNotes.create': (client) => notesPatch(client, { newNote: '' }),
  'legacyNotes.delete': (client) => notesPatch(client),
}

async function notesPatch(client: Client, signals = {}, page?: Page): Promise<Patch> {
  const { notes, noteCount } = await client.legacyNotes.list(page)
  return { selector: '#notes-list', html: notesHtml(notes), signals: { noteCount, ...signals } }
}

/**
 * Creates the protocol for Datastar pages. Uses the routes, the guard and the validation of REST. Sends a patch as
 * server-sent events.
 */
export function createDatastar(): Protocol {
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
    const result = await handler.handle(standardRequest(call, toAbortSignal(response)), { context })
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
