import { ORPCError } from '@orpc/client'
import { StandardRPCHandler } from '@orpc/server/standard'
import { StrictGetMethodPlugin } from '@orpc/server/plugins'

import type { Context } from '../context.ts'
import { parseObject } from './body.ts'
import { router } from '../procedures/index.ts'
import {
  answer,
  type Call,
  sendMethodNotAllowed,
  setReplyHeaders,
  standardRequest,
  type Protocol,
} from './protocol.ts'

const METHODS = ['GET', 'POST']

/** Creates the RPC protocol of oRPC under /rpc, for the typed client. */
export function createRpc(): Protocol {
  const handler = new StandardRPCHandler<Context>(router, { plugins: [new StrictGetMethodPlugin()] })

  return async (call, response) => {
    if (!call.url().pathname.startsWith('/rpc/')) return false
    if (!METHODS.includes(call.method)) return sendMethodNotAllowed(response, METHODS)
    const malformed = call.context.malformed ?? malformationOf(call)
    const context = { ...call.context, malformed }
    const request = standardRequest(malformed ? emptied(call) : call)
    const result = await handler.handle(request, { context, prefix: '/rpc' })
    if (!result.matched) return false
    setReplyHeaders(response, call.context.reply)
    return answer(response, result.response.status, JSON.stringify(result.response.body))
  }
}

/**
 * Returns the error of a request that cannot be parsed, or that has a non-empty `meta`. oRPC uses `meta` to encode
 * values that JSON cannot represent (bigint, date, regexp, map). No input of the contract has such values. The guard
 * throws the error (400) after its own checks.
 */
function malformationOf({ method, url, body }: Call) {
  const data = method === 'GET' ? url().searchParams.getAll('data').at(-1) : undefined
  const parsed = data ? parseObject(Buffer.from(data)) : { body }
  if (parsed.malformed) return parsed.malformed
  const meta = parsed.body?.meta ?? []
  if (Array.isArray(meta) && meta.length === 0) return undefined
  return new ORPCError('BAD_REQUEST', { message: 'An input is plain JSON: `meta` must be empty' })
}

/** Returns a copy of the call without input, so that oRPC does not decode malformed input. */
function emptied(call: Call): Call {
  const url = new URL(call.url().pathname, call.url())
  return { ...call, url: () => url, body: {} }
}
