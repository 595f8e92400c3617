import { type HTTPPath, ORPCError } from '@orpc/client'
import type { StandardLazyRequest } from '@orpc/standard-server'
import fresh from 'fresh'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream'

import { errorBody } from '../../contract/errors.ts'
import type { Context, Reply, LimitRefusal } from '../context.ts'

/** One request, read: the same for every protocol. */
export interface Call {
  method: string
  /** The address, where it is a path of plain steps and nothing else: such a one needs no parsing. */
  plainPath: HTTPPath | undefined
  url: () => URL
  /** The JSON object of the body, if there is one. */
  body: Record<string, unknown> | undefined
  context: Context
  request: IncomingMessage
}

/** Answers a call in one protocol, or passes with `false`. */
export type Transport = (call: Call, response: ServerResponse) => Promise<boolean>

/** A call as oRPC's standard handlers take it. */
export const standardRequest = ({ method, url, body, request }: Call): StandardLazyRequest => ({
  method,
  url: url(),
  headers: request.headers,
  body: () => Promise.resolve(body),
  signal: undefined,
})

/** Whether the caller has what they would be answered: they sent its tag. */
export function isKnown({ method, request: { headers }, context: { reply } }: Call) {
  const condition = headers['if-none-match']
  if (condition === undefined || method !== 'GET') return false
  const etag = reply.get('etag')
  // Cache-Control is not asked: with this header every `fetch` says no-cache, to the caches on its way.
  return etag !== undefined && fresh({ 'if-none-match': condition }, { etag })
}

/** How long who is refused may go on sending, in milliseconds: closed at once, a connection takes the answer along. */
export const FAREWELL = 1000

/** Writes a whole answer at once, JSON if nobody says otherwise; headers already set on the response go with it. */
export function answer(response: ServerResponse, status: number, body: string | Buffer, type?: string) {
  const { req: request } = response
  response.writeHead(status, {
    'content-type': type ?? response.getHeader('content-type') ?? 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  if (request.complete) response.end(body)
  else {
    response.write(body)
    const late = setTimeout(() => response.end(), FAREWELL).unref()
    // The rest of it, which is thrown away.
    finished(request.resume(), () => {
      // While there is too much, every request comes here: none is to be kept for longer than it takes.
      clearTimeout(late)
      response.end()
    })
  }
  return true
}

/** Answers with an error, in the one shape that every error has. What is not to be had now may be in a second. */
export function refuse(
  response: ServerResponse,
  error: Pick<ORPCError<string, unknown>, 'message' | 'status' | 'toJSON'>,
) {
  if (error.status === 503) response.setHeader('retry-after', '1')
  return answer(response, error.status, JSON.stringify(errorBody(error)))
}

/** Answers that something was done too often. */
export function refuseBy(response: ServerResponse, { error, headers }: LimitRefusal) {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  return refuse(response, error)
}

/** Answers that a path knows other methods than the one it was asked with. */
export function refuseMethod(response: ServerResponse, allowed: string[]) {
  response.setHeader('allow', allowed.join(', '))
  return refuse(response, new ORPCError('METHOD_NOT_SUPPORTED'))
}

/** Headers that the procedure gave the answer. */
export function sendReply(response: ServerResponse, reply: Reply) {
  for (const [name, value] of reply)
    if (name === 'vary') response.appendHeader(name, value)
    else response.setHeader(name, value)
}
