import { ORPCError } from '@orpc/client'
import fresh from 'fresh'
import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream'

import type { Reply } from '../../caller.ts'
import type { LimitRefusal } from '../../context.ts'
import { type Coding, firstElements } from './accept.ts'
import { compressors, MIN_COMPRESSED, selectCoding } from './compression.ts'
import { encodeError, type PublicError } from './errors.ts'
import type { Call } from './protocol.ts'
import { enqueueAnswer } from './tick.ts'

/** Returns whether the status must be 304, because the first tags of `If-None-Match` contain the entity tag of the answer. */
export function isNotModified({ method, request: { headers }, context: { reply } }: Call) {
  const condition = headers['if-none-match']
  if (condition === undefined || method !== 'GET') return false
  const etag = reply.get('etag')
  // Ignores the request's Cache-Control. Browsers add `no-cache` to every `fetch` with If-None-Match; the header is
  // addressed to caches between the browser and the service.
  return etag !== undefined && fresh({ 'if-none-match': firstElements(condition) }, { etag })
}

/**
 * Maximum time of a lingering close, in milliseconds: after the answer, the connection stays open while the client
 * still sends its body. If the connection closed immediately, the client could lose the answer.
 */
export const LINGER = 1000

/** Sends a complete answer, `application/json` by default, with the headers that are set on the response. */
export function sendBody(response: ServerResponse, status: number, body: string | Buffer, type?: string) {
  const { req: request } = response
  response.writeHead(status, {
    'content-type': type ?? response.getHeader('content-type') ?? 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  if (request.complete) enqueueAnswer(() => response.end(body))
  else {
    response.write(body)
    const deadline = setTimeout(() => response.end(), LINGER).unref()
    // Discards the rest of the request body.
    finished(request.resume(), () => {
      // The rest of the request body has arrived. If the response stayed open until the deadline, open connections
      // would accumulate under overload.
      clearTimeout(deadline)
      response.end()
    })
  }
  return true
}

/**
 * Sends an error in the representation for the client (engine/http/server/errors.ts). 503 includes `Retry-After: 1`.
 */
export function sendError(response: ServerResponse, error: PublicError) {
  const { status, type, text, headers } = encodeError(response.req, error)
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  return sendBody(response, status, text, type)
}

export function sendLimitRefusal(response: ServerResponse, { error, headers }: LimitRefusal) {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  return sendError(response, error)
}

/** Answers OPTIONS with the supported methods of the path, and an unsupported method with 405. */
export function sendAllowedMethods({ method }: Call, response: ServerResponse, methods: readonly string[]) {
  const allowed = methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]))
  response.setHeader('allow', [...allowed, 'OPTIONS'].join(', '))
  if (method !== 'OPTIONS') return sendError(response, new ORPCError('METHOD_NOT_SUPPORTED'))
  response.writeHead(204).end()
  return true
}

/**
 * Sends the answer of a procedure with the headers of its reply. A successful answer is compressed if it is large, see
 * `selectCoding`. If `isConditional`, sends 304 if the client already has the answer.
 */
export function sendOutput(
  { call, response }: { call: Call; response: ServerResponse },
  { status, text, type }: { status: number; text: string; type?: string | undefined },
  isConditional = false,
) {
  const { request, context } = call
  const isLarge = status === 200 && Buffer.byteLength(text) >= MIN_COMPRESSED
  const coding = isLarge ? selectCoding(request, context.reply) : undefined
  setReplyHeaders(response, context.reply)
  const bodyless = isConditional && status === 200 && isNotModified(call) ? 304 : status
  if (bodyless === 304 || bodyless === 204) {
    response.writeHead(bodyless).end()
    return true
  }
  return coding ? sendCompressed(response, text, coding, type) : sendBody(response, status, text, type)
}

async function sendCompressed(response: ServerResponse, text: string, coding: Coding, type?: string) {
  const compressed = await compressors[coding](text)
  // ANSWER_TIMEOUT has passed, and the service has sent 503.
  if (response.headersSent) return true
  response.setHeader('content-encoding', coding)
  return sendBody(response, 200, compressed, type)
}

/** The headers of a reply that extend the header with the same name that the response already has. */
const EXTENDING = ['vary', 'cache-control']

export function setReplyHeaders(response: ServerResponse, reply: Reply) {
  for (const [name, value] of reply)
    if (EXTENDING.includes(name)) response.appendHeader(name, value)
    else response.setHeader(name, value)
}
