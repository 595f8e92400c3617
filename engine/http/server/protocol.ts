import type { ORPCError } from '@orpc/client'
import type { Promisable } from '@orpc/shared'
import type { IncomingMessage, ServerResponse } from 'node:http'

import type { Context } from '../../call/context.ts'
import type { FoundEndpoint } from './endpoint-routes.ts'

/** The path of the endpoint for AI agents. A slash at the end is ignored, because people often add one to the address. */
export const MCP = '/mcp'

export const EVENT_STREAM = 'text/event-stream'

/** The normalized target of a request, which routing, admission, log and traces use. */
export interface Target {
  path: string
  url: () => URL
  /** The error of an invalid target. The server throws this error before it reads the body. */
  refusal?: ORPCError<string, unknown>
  /** Path and query without the slash at the end of the path, for a path that is refused because of this slash. */
  withoutSlash?: string
  /** The error of a query that is too complex. In this case, `url()` has no query, and the guard answers 400. */
  malformed?: ORPCError<'BAD_REQUEST', unknown>
}

/** A request and its response on their way through the steps of the server (engine/http/server/app.ts). */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  target: Target
  /** Whether the request has a body. */
  hasBody: boolean
  /** The endpoint of the application that the request has found by its method and path. */
  endpoint?: FoundEndpoint | undefined
  /** The call of the endpoint. */
  call?: Call
  /** Maximum size of the body, in bytes. */
  limit: number
  /** The body, when it is complete. */
  bytes?: Buffer
  /** Handles the request. Steps can replace the function, for example to run it in the context of a span. */
  handle: () => void
}

/** A step of a request. Returns true if the step has sent the answer, or will send it, so that no other step follows. */
export type Step = (exchange: Exchange) => boolean

/** A step that may wait, for example for the body. The client receives the error that the step throws. */
export type AsyncStep = (exchange: Exchange) => Promisable<boolean>

/** A request with its parsed body, in the form that every protocol uses. */
export interface Call {
  method: string
  /** The normalized path. */
  path: string
  url: () => URL
  /** The JSON object of the body, or undefined if the request has no body. */
  body: Record<string, unknown> | undefined
  /** The error (415) of an unsupported body. An unknown path (404) and an unsupported method (405) have priority. */
  refusal?: ORPCError<string, unknown> | undefined
  context: Context
  request: IncomingMessage
}

/** Answers calls of one protocol. */
export interface Protocol {
  /** Answers a call, or returns false if the protocol does not support the path with this method. */
  (call: Call, response: ServerResponse): Promisable<boolean>
  /** Returns false if the protocol does not support the call. By default, the protocol may support every call. */
  accepts?: (call: Call) => boolean
  /** Returns the methods that the protocol supports for the path of a call. Empty if the protocol does not have the path. */
  methodsAt?: (call: Call) => readonly string[]
}
