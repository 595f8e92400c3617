import { ORPCError, toORPCError } from '@orpc/client'
import { parse as parseType } from 'content-type'
import type { IncomingHttpHeaders } from 'node:http'

import type { Endpoint } from '../../app/endpoint.ts'
import { matchesType } from '../../app/media-types.ts'
import type { App } from '../../app/resource.ts'
import type { Reply } from '../../call/caller.ts'
import type { ConsumeRateLimit, Log } from '../../call/context.ts'
import { guardEndpoint } from '../../guard/endpoints.ts'
import { networkOf } from '../../guard/networks.ts'
import type { TrackIncomplete } from '../server/body-reader.ts'
import type { AsyncStep, Call, Exchange, Step } from '../server/protocol.ts'
import { sendFailure, setReplyHeaders } from '../server/send.ts'
import { createTransferLimits } from './transfer-limits.ts'
import { createWebRequest } from './web-request.ts'
import { createResponseSender, linesOf, requireUnused } from './web-response.ts'

interface Parts {
  app: Pick<App, 'cookiePrefix'>
  log: Log
  consumeRateLimit: ConsumeRateLimit
  /** Aborted when the service stops. */
  closing: AbortController
}

interface ServerParts {
  createCall: (exchange: Exchange) => Call
  setAttributes: (exchange: Exchange, call: Call) => void
  trackIncomplete: TrackIncomplete
}

/** Creates the steps of requests to the endpoints that an application declares. They ignore all other requests. */
export function createApplicationEndpoints(
  parts: Parts,
  { createCall, setAttributes, trackIncomplete }: ServerParts,
): { enter: Step; admit: AsyncStep; answer: AsyncStep } {
  const { sendResponse, setHandlerHeaders } = createResponseSender(parts)
  const limitTransfers = createTransferLimits()
  return {
    enter(exchange) {
      if (!exchange.endpoint) return false
      const call = createCall(exchange)
      call.context.attributes.operation = exchange.endpoint.path.join('.')
      setAttributes(exchange, call)
      exchange.call = call
      return false
    },

    admit: step(async ({ hasBody, response }, endpoint, call) => {
      const { rateLimit, ...declaration } = endpoint.declaration
      // A stream can be empty: an empty file has a type, too.
      if (hasBody || declaration.body === 'stream') requireType(declaration, call.request.headers)
      if (rateLimit.perAccount) return false
      const exceeded = await parts.consumeRateLimit(rateLimit, networkOf(call.context.ipAddress?.()))
      if (!exceeded) return false
      for (const [name, value] of Object.entries(exceeded.headers)) response.setHeader(name, value)
      throw exceeded.error
    }),

    answer: step(async (exchange, endpoint, call) => {
      const { response } = exchange
      const { context } = call
      const { declaration, params } = endpoint
      /** Apart from the headers of the guard, because a handler cannot set all headers. */
      const reply: Reply = new Map()
      const lost = new AbortController()
      const abort = () => {
        lost.abort()
      }
      response.once('close', abort)
      const web = createWebRequest(exchange, call, { signal: lost.signal, trackIncomplete })
      const answer = await guardEndpoint(context, endpoint, params, async (guarded) => {
        limitTransfers(response, declaration, context, guarded.user?.id)
        const given = { ...context, ...guarded, reply }
        const received = { request: web.request, params, body: web.readBody(), context: given }
        return requireUnused(await declaration.handler(received as never))
      }).catch((error: unknown) => toORPCError(error))
      if (!response.headersSent) {
        setReplyHeaders(response, context.reply)
        setHandlerHeaders(response, linesOf(reply), endpoint)
      }
      if (answer instanceof Response)
        await sendResponse(response, answer, { endpoint, ...web, isRead: isRead(exchange) })
      else {
        web.stopReading()
        sendFailure(response, answer, isRead(exchange))
      }
      response.off('close', abort)
      return true
    }),
  }
}

type Run = (exchange: Exchange, endpoint: NonNullable<Exchange['endpoint']>, call: Call) => Promise<boolean>

/** Creates a step that only requests to endpoints wait for. */
const step =
  (run: Run): AsyncStep =>
  (exchange) =>
    exchange.endpoint && exchange.call ? run(exchange, exchange.endpoint, exchange.call) : false

/** Node reports the end of a request shortly after its last bytes. */
const isRead = ({ request, bytes }: Exchange) => bytes !== undefined || request.complete

/** Refuses a body with 415 if its media type is not declared, or if its bytes are not the declared text. */
function requireType({ body, types }: Pick<Endpoint, 'body' | 'types'>, headers: IncomingHttpHeaders) {
  const { type, parameters } = parseType(headers['content-type'] ?? '')
  const accepted = body === 'form' ? ['application/x-www-form-urlencoded'] : types
  if (accepted && !matchesType(accepted, type)) throw unsupported(`A body must be ${accepted.join(' or ')}`)
  if (body !== 'text' && body !== 'form') return
  const { 'content-encoding': coding = 'identity' } = headers
  if (coding.toLowerCase() !== 'identity') throw unsupported('A body must not be compressed')
  if (!/^utf-?8$/i.test(parameters.charset ?? 'utf-8'))
    throw unsupported('The charset of a body must be UTF-8')
}

const unsupported = (message: string) => new ORPCError('UNSUPPORTED_MEDIA_TYPE', { message })
