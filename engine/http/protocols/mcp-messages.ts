import * as mcp from '@modelcontextprotocol/server'

import { preferredMediaType } from '../server/accept.ts'
import { EVENT_STREAM } from '../server/protocol.ts'

// The messages of the Model Context Protocol (MCP) in requests and responses: media types, batches and errors.

const JSON_TYPE = 'application/json'

/** The only revision with batches. Its clients send no `MCP-Protocol-Version`, because later revisions added this header. */
const BATCH_REVISION = '2025-03-26'

/** Maximum number of messages in one batch. */
const MAX_MESSAGES = 10

/** The methods of messages that a batch must not contain. */
const ALONE: unknown[] = ['initialize', 'subscriptions/listen']

/** Selects the media type of a response, JSON if the client accepts both. Undefined if the client accepts neither. */
export const selectType = (accept = '*/*') => preferredMediaType(accept, [JSON_TYPE, EVENT_STREAM])

/** Returns whether a client accepts the stream of a subscription. */
export const acceptsEvents = (accept = '*/*') => preferredMediaType(accept, [EVENT_STREAM]) !== undefined

export const errorMessage = (code: number, message: string, id: unknown = null) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })

/**
 * Returns the messages of a batch, or undefined if the body is one message. The body of a call is an object, so
 * `parseMessages` (engine/http/server/body.ts) converts a list of messages to `{ calls: [...] }`.
 */
export const batchOf = ({ jsonrpc, calls }: Record<string, unknown>) =>
  jsonrpc === undefined && Array.isArray(calls) ? (calls as unknown[]) : undefined

/** Returns the error message for a batch with an unsupported revision or number of messages, otherwise undefined. */
export function refuseBatch(
  messages: unknown[],
  revision: string | string[] = BATCH_REVISION,
): string | undefined {
  if (revision !== BATCH_REVISION)
    return errorMessage(mcp.INVALID_REQUEST, `Only the revision ${BATCH_REVISION} has batches`)
  if (messages.length === 0 || messages.length > MAX_MESSAGES)
    return errorMessage(mcp.INVALID_REQUEST, `A batch must have 1 to ${MAX_MESSAGES} messages`)
  return undefined
}

/** Returns the error message for a message that a batch must not contain, otherwise undefined. */
export const refuseInBatch = ({ method, id }: Record<string, unknown>) =>
  ALONE.includes(method)
    ? errorMessage(mcp.INVALID_REQUEST, `Send ${String(method)} outside of a batch`, id)
    : undefined

export const isEventResponse = ({ headers }: Response) =>
  headers.get('content-type')?.startsWith(EVENT_STREAM) ?? false

/** Returns the messages in a response of the MCP library: one JSON value, or server-sent events. */
export async function readMessages(response: Response) {
  const text = await response.text()
  if (!isEventResponse(response)) return text === '' ? [] : [text]
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => line.slice('data: '.length))
}

/** The last message of a response is the result. Earlier messages are notifications. */
export const withoutNotifications = (messages: string[]) => messages.slice(-1)

/** Returns the message of a response to one message of a batch. The status of the batch is 200, so errors become messages. */
export async function readBatched(response: Response, id: unknown) {
  const [message] = withoutNotifications(await readMessages(response))
  if (response.ok || message?.includes('"jsonrpc"')) return message
  return errorMessage(mcp.INVALID_REQUEST, response.status === 403 ? 'Insufficient scope' : 'Refused', id)
}

export const toEvents = (message: string) => `event: message\ndata: ${message}\n\n`
