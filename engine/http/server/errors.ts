import { ORPCError } from '@orpc/client'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Logger } from 'pino'
import { errorBody } from 'tallystick-contract/internal'

import { toPublicDatabaseError } from '../../guard/outages.ts'
import { toJson } from '../../values/output.ts'
import { preferredMediaType } from './accept.ts'
import { isBatch, refusedBatch, retryHeaders, RPC, rpcErrorBody } from '../protocols/rpc-format.ts'
import { MCP } from './protocol.ts'

export type PublicError = Pick<ORPCError<string, unknown>, 'message' | 'status' | 'toJSON'>

/**
 * Returns an error that callers may see. An unexpected error becomes an internal error without details. Logs errors
 * with a status >= 500.
 */
export function toKnownError(error: unknown, log: Logger, requestId: IncomingMessage['id']) {
  const publicError =
    (isORPCError(error) ? error : toPublicDatabaseError(error)) ?? new ORPCError('INTERNAL_SERVER_ERROR')
  if (publicError.status >= 500) log.error({ err: error, req: { id: requestId } }, 'a request failed')
  return publicError
}

const isORPCError = (error: unknown): error is ORPCError<string, unknown> => error instanceof ORPCError

/** The properties of a request that select the representation of an error. `url` is the normalized path. */
type Recipient = Pick<IncomingMessage, 'url' | 'headers'> & Partial<Pick<IncomingMessage, 'id'>>

export interface EncodedError {
  status: number
  type: string
  text: string
  headers: Record<string, string>
}

/** Returns the error that an AI agent receives. Internal errors contain no details. */
export function toAgentError(error: unknown) {
  const isKnown = isORPCError(error) && (error.status < 500 || error.status === 503)
  const { code, message, data } = errorBody(isKnown ? error : new ORPCError('INTERNAL_SERVER_ERROR'))
  return { code, message, data }
}

const JSON_TYPE = 'application/json'
const PROBLEM_TYPE = 'application/problem+json'

/**
 * Encodes an error for the client of a request, for every layer of the service:
 * - under /rpc/, as oRPC's link reads it;
 * - as problem details (RFC 9457), if `Accept` prefers them to `application/json`;
 * - otherwise as the error body of the service.
 */
export function encodeError(request: Recipient, error: PublicError): EncodedError {
  const { url: path = '', headers } = request
  const shared = { status: error.status, type: JSON_TYPE, headers: retryHeaders(error) }
  if (path.startsWith(RPC))
    return { ...shared, text: JSON.stringify(isBatch(headers) ? refusedBatch(error) : rpcErrorBody(error)) }
  if (path !== MCP && prefersProblem(headers))
    return { ...shared, type: PROBLEM_TYPE, text: toJson(problemOf(error, request)) }
  return { ...shared, text: toJson(errorBody(error)) }
}

/** Parses `Accept` only if the header contains `problem`, because almost no request asks for problem details. */
const prefersProblem = ({ accept = '' }: IncomingMessage['headers']) =>
  /problem/i.test(accept) && preferredMediaType(accept, [JSON_TYPE, PROBLEM_TYPE]) === PROBLEM_TYPE

/**
 * Problem details (RFC 9457). `about:blank` means that `title` is the text of the status. The members `code` and `data`
 * are extensions with the values of the error body. `instance` contains the id of the request, as in `X-Request-Id`.
 */
function problemOf(error: PublicError, { id }: Recipient) {
  const { code, status, message, data } = error.toJSON()
  const instance = typeof id === 'string' ? `urn:uuid:${id}` : undefined
  return { type: 'about:blank', title: STATUS_CODES[status], status, detail: message, instance, code, data }
}
