import { type HTTPPath, ORPCError } from '@orpc/client'
import { StandardOpenAPIHandler, StandardOpenAPIMatcher } from '@orpc/openapi/standard'
import type { StandardHandlerOptions } from '@orpc/server/standard'

import { metaOf } from '../../contract/base.ts'
import type { Context, Format, Services } from '../context.ts'
import { router } from '../procedures/index.ts'
import { sendLive } from './event-stream.ts'
import { contentTypeOf, type Form, formOf, hasForm } from './note-forms.ts'
import { answerProcedure, type Protocol, sendError, setReplyHeaders, standardRequest } from './protocol.ts'

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE']

/**
 * Creates the protocol REST, with the OpenAPI handler of oRPC. Each form of notes (src/http/note-forms.ts) has its own
 * handler.
 */
export function createRest(services: Services): Protocol {
  const handlers = { 1: createHandler(1), 2: createHandler(2) }
  const matcher = new StandardOpenAPIMatcher()
  matcher.init(router)
  const methodsAt = async (path: HTTPPath) => {
    const matches = await Promise.all(METHODS.map((method) => matcher.match(method, path)))
    return METHODS.filter((_, index) => matches[index])
  }

  const answer: Protocol = async (call, response) => {
    const opened: Context['opened'] = {}
    const context = { ...call.context, opened }
    const request = standardRequest(call)
    const result = await handlers[formOf(call)].handle(request, { context })
    if (!result.matched) return false
    const { status, body } = result.response
    const { stream } = opened
    if (!stream && !(body instanceof ORPCError))
      return answerProcedure({ call, response }, { status, text: JSON.stringify(body) }, true)
    if (stream) return sendLive({ response, reply: context.reply, stream, format: restFrame, services })
    setReplyHeaders(response, context.reply)
    return sendError(response, body as ORPCError<string, unknown>)
  }
  return Object.assign(answer, { methodsAt })
}

const restFrame: Format = (topic, state) => `data: ${JSON.stringify({ topic, state })}\n\n`

const createHandler = (form: Form) =>
  new StandardOpenAPIHandler<Context>(router, {
    filter: hasForm(form),
    customErrorResponseBodyEncoder: (error) => error,
    clientInterceptors: [setContentType],
  })

/** Sets the content type of the first form of notes, so that clients can distinguish the two forms. */
const setContentType: NonNullable<StandardHandlerOptions<Context>['clientInterceptors']>[number] = async ({
  context: { reply },
  procedure,
  next,
}) => {
  const output = await next()
  const contentType = contentTypeOf(metaOf(procedure))
  if (contentType) reply.set('content-type', contentType)
  return output
}
