import type { ORPCError } from '@orpc/client'
import type { Promisable } from '@orpc/shared'
import type { IncomingMessage, ServerResponse } from 'node:http'

import type { Context } from '../../context.ts'

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
