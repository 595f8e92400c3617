import { z } from 'zod'

import { ErrorBody } from '../../engine/contract/errors.ts'
import type { Exchange, RawResponse, Step } from '../../engine/test/fixtures/raw-http.ts'

/** Bytes to send to the service, and the expected responses. */
export interface ExpectedExchange {
  kind: string
  steps: Step[]
  /** Minimum and maximum number of responses. */
  responses: [minimum: number, maximum: number]
  /** The service must close the connection. */
  endsConnection?: true
  /** Every response must have a status of 400 or higher. */
  mustBeRefused?: true
  /** A HEAD request: responses have no body. */
  isHead?: boolean
}

const Envelope = z.object({
  json: z.object({ defined: z.boolean(), code: z.string(), status: z.int(), message: z.string() }),
})
const OAuthError = z.object({ error: z.string(), error_description: z.string() })
const JsonRpcError = z.object({
  jsonrpc: z.literal('2.0'),
  error: z.object({ code: z.int(), message: z.string() }),
})

/** An error body of the API, or an error body in the format of oRPC, OAuth or JSON-RPC. */
const Refusal = z.union([ErrorBody.strict(), Envelope.strict(), OAuthError.strict(), JsonRpcError])

/** Returns a description of each fault in the responses. `secrets` are texts that this caller must not receive. */
export function faultsOf(
  { responses: [minimum, maximum], endsConnection, mustBeRefused, isHead }: ExpectedExchange,
  exchange: Exchange,
  secrets: string[],
) {
  const { responses, rest, closed } = exchange
  const isComplete = responses.length >= minimum
  const faults = {
    'got no response in time': !isComplete && !closed,
    'got no response before the connection was closed': !isComplete && closed,
    'got too many responses': responses.length > maximum,
    'got an incomplete response': rest !== '' && !isHead,
    'left the connection open': isComplete && endsConnection && !closed,
    'was not refused': mustBeRefused && !responses.every(({ status }) => status >= 400),
    'caused an internal error': responses.some(({ status }) => status >= 500),
    'got an error in an undocumented format': !isHead && !responses.every(hasDocumentedFormat),
    'got data of another caller': responses.some(({ body, headers }) =>
      secrets.some((secret) => body.includes(secret) || [...headers.values()].join().includes(secret)),
    ),
  }
  return Object.entries(faults).flatMap(([fault, isTrue]) => (isTrue ? [fault] : []))
}

export function hasDocumentedFormat({ status, headers, body }: RawResponse) {
  const type = headers.get('content-type') ?? ''
  if (status < 400) return true
  // Only the pages for apps return errors in HTML: 400, 403 for a form of another origin, and 503 during an outage.
  if (type.startsWith('text/html')) return [400, 403, 503].includes(status)
  return type.startsWith('application/json') && Refusal.safeParse(parse(body)).data !== undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
