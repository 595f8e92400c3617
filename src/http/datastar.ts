import { StandardOpenAPIHandler } from '@orpc/openapi/standard'
import { createRouterClient, type RouterClient } from '@orpc/server'
import { ServerSentEventGenerator } from '@starfederation/datastar-sdk/web'

import type { Page } from '../../contract/base.ts'
import { errorBody } from '../../contract/errors.ts'
import type { Context } from '../context.ts'
import { router } from '../procedures/index.ts'
import { notesHtml } from '../views/notes.ts'
import { isDatastar } from './note-forms.ts'
import { answer, setReplyHeaders, standardRequest, type Protocol } from './protocol.ts'

/** An update of a Datastar page: the new inner HTML of one element, and new values of signals. */
interface Patch {
  selector: string
  html: string
  signals: Record<string, unknown>
}

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
 * server-sent events, and an error as JSON.
 */
export function createDatastar(): Protocol {
  const handler = new StandardOpenAPIHandler<Context>(router, {
    filter: ({ path }) => path.join('.') in views,
    customErrorResponseBodyEncoder: errorBody,
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
    const result = await handler.handle(standardRequest(call), { context })
    if (!result.matched) return false
    // Removes the `Link` header with the URL of the next results, because a patch replaces the whole list.
    context.reply.delete('link')
    setReplyHeaders(response, context.reply)
    const { status, body } = result.response
    if (status !== 200) return answer(response, status, JSON.stringify(body))
    const { selector, html, signals } = body as Patch
    const events = ServerSentEventGenerator.stream((stream) => {
      stream.patchElements(html, { selector, mode: 'inner' })
      stream.patchSignals(JSON.stringify(signals))
    })
    return answer(response, 200, await events.text(), 'text/event-stream')
  }
}
