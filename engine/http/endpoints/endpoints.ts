import type { ServerResponse } from 'node:http'
import type { RateLimit } from 'tallystick-contract'

import type { ConsumeRateLimit } from '../../call/context.ts'
import { networkOf } from '../../guard/networks.ts'
import type { Call, Protocol } from '../server/protocol.ts'
import { sendLimitRefusal } from '../server/send.ts'

/**
 * An endpoint outside the contract: health, reference, sign-in and OAuth. The answers are not compressed, because many
 * of them contain tokens or codes. Exception: files (engine/http/endpoints/files.ts).
 */
export interface BuiltInEndpoint {
  methods: readonly ('GET' | 'POST')[]
  answer: (call: Call, response: ServerResponse) => Promise<boolean> | boolean
  /** Sets headers on all answers from this endpoint, including errors. */
  setHeaders?: (response: ServerResponse) => void
  /** Whether pages of every origin may read the answer. Such an endpoint must not use cookies. */
  anyOrigin?: true
  /** Rate limit, counted for each client network. Requests without a known network share one count. */
  limit?: RateLimit
}

/** The keys are the exact paths of the endpoints. */
export type BuiltInEndpoints = Readonly<Record<string, BuiltInEndpoint>>

/** Dispatches a call to the endpoint with its path. */
export function createEndpoints(consumeRateLimit: ConsumeRateLimit, all: BuiltInEndpoints): Protocol {
  const endpoints = new Map(Object.entries(all))

  const answer: Protocol = async (call, response) => {
    const endpoint = endpoints.get(call.path)
    if (!endpoint) return false
    call.context.attributes.operation = call.path
    endpoint.setHeaders?.(response)
    if (endpoint.anyOrigin) {
      response.setHeader('access-control-allow-origin', '*')
      response.setHeader('access-control-expose-headers', 'retry-after, www-authenticate')
      if (call.method === 'OPTIONS') return sendPreflight(response, endpoint.methods)
    }
    if (!endpoint.methods.some((method) => method === call.method)) return false
    const { limit } = endpoint
    const exceeded = limit && (await consumeRateLimit(limit, networkOf(call.context.ipAddress?.())))
    return exceeded ? sendLimitRefusal(response, exceeded) : endpoint.answer(call, response)
  }
  return Object.assign(answer, {
    accepts: ({ path }: Call) => endpoints.has(path),
    methodsAt: ({ path }: Call) => endpoints.get(path)?.methods ?? [],
  })
}

function sendPreflight(response: ServerResponse, methods: readonly string[]) {
  response.setHeader('access-control-allow-methods', methods.join(', '))
  response.setHeader('access-control-allow-headers', 'content-type, authorization, mcp-protocol-version')
  response.writeHead(204).end()
  return true
}
