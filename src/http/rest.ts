import type { HTTPPath } from '@orpc/client'
import { StandardOpenAPIHandler, StandardOpenAPIMatcher } from '@orpc/openapi/standard'
import type { TraverseContractProcedureCallbackOptions } from '@orpc/server'
import type { StandardHandlerOptions } from '@orpc/server/standard'
import Negotiator from 'negotiator'

import { metaOf } from '../../contract/base.ts'
import { errorBody } from '../../contract/errors.ts'
import { firstFormMediaType } from '../../contract/legacy-notes.ts'
import type { Context } from '../context.ts'
import { router } from '../procedures/index.ts'
import { isDatastar } from './datastar.ts'
import { answer, type Call, isNotModified, sendMethodNotAllowed, setReplyHeaders, standardRequest } from './protocol.ts'
import type { Protocol } from './protocol.ts'

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE']

/** The documented paths, through oRPC's OpenAPI handler. Where both notes forms share a path, each has a handler. */
export function createRest(): Protocol {
  const handlers = { 1: createHandler(1), 2: createHandler(2) }
  const matcher = new StandardOpenAPIMatcher()
  matcher.init(router)
  const allowed = async (path: HTTPPath) => {
    const matches = await Promise.all(METHODS.map((method) => matcher.match(method, path)))
    return METHODS.filter((_, index) => matches[index])
  }

  return async (call, response) => {
    const { context } = call
    const result = await handlers[formOf(call)].handle(standardRequest(call), { context })
    if (!result.matched) {
      const methods = await allowed(`/${call.url().pathname.slice(1)}`)
      return methods.length > 0 && sendMethodNotAllowed(response, methods)
    }
    setReplyHeaders(response, context.reply)
    const { status, body } = result.response
    if (status === 200 && isNotModified(call)) {
      response.writeHead(304).end()
      return true
    }
    return answer(response, status, JSON.stringify(body))
  }
}

const createHandler = (form: 1 | 2) =>
  new StandardOpenAPIHandler<Context>(router, {
    filter: ofForm(form),
    customErrorResponseBodyEncoder: errorBody,
    clientInterceptors: [nameForm],
  })

/** The procedures of one form: most are of both. */
export const ofForm =
  (form: 1 | 2) =>
  ({ contract }: TraverseContractProcedureCallbackOptions) =>
    (metaOf(contract).form ?? form) === form

/** Where two forms share a path, the answer says which it is. */
const nameForm: NonNullable<StandardHandlerOptions<Context>['clientInterceptors']>[number] = async ({
  context: { reply },
  procedure,
  next,
}) => {
  const output = await next()
  if (metaOf(procedure).form === 1) reply.set('content-type', firstFormMediaType)
  return output
}

/** The first form is for those who ask for it: by media type, as Datastar does, or with a body of its own. */
function formOf({ request: { headers }, body }: Call) {
  const type = new Negotiator({ headers }).mediaType(['application/json', firstFormMediaType])
  return type === firstFormMediaType || isDatastar(headers) || isFirstForm(body) ? 1 : 2
}

export const isFirstForm = (body: Call['body']) =>
  body !== undefined && 'newNote' in body && !('title' in body)
