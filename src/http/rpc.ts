import { ORPCError } from '@orpc/client'
import { StandardRPCHandler } from '@orpc/server/standard'
import { StrictGetMethodPlugin } from '@orpc/server/plugins'

import type { Context } from '../context.ts'
import { parseObject } from './body.ts'
import { router } from '../procedures/index.ts'
import { answer, type Call, refuseMethod, sendReply, standardRequest, type Transport } from './protocol.ts'

const METHODS = ['GET', 'POST']

/** The typed client's own protocol, under /rpc. */
export function createRpc(): Transport {
  const handler = new StandardRPCHandler<Context>(router, { plugins: [new StrictGetMethodPlugin()] })

  return async (call, response) => {
    if (!call.url().pathname.startsWith('/rpc/')) return false
    if (!METHODS.includes(call.method)) return refuseMethod(response, METHODS)
    const malformed = call.context.malformed ?? malformationOf(call)
    const context = { ...call.context, malformed }
    const request = standardRequest(malformed ? emptied(call) : call)
    const result = await handler.handle(request, { context, prefix: '/rpc' })
    if (!result.matched) return false
    sendReply(response, call.context.reply)
    return answer(response, result.response.status, JSON.stringify(result.response.body))
  }
}

/**
 * No input of the contract has a value that JSON lacks. The types of `meta` (bigint, date, regexp, map and others) are
 * therefore refused, before oRPC makes values of them: 400, after the guard.
 */
function malformationOf({ method, url, body }: Call) {
  const data = method === 'GET' ? url().searchParams.getAll('data').at(-1) : undefined
  const parsed = data ? parseObject(Buffer.from(data)) : { body }
  if (parsed.malformed) return parsed.malformed
  const meta = parsed.body?.meta ?? []
  if (Array.isArray(meta) && meta.length === 0) return undefined
  return new ORPCError('BAD_REQUEST', { message: 'An input is plain JSON: `meta` must be empty' })
}

/** What the guard refuses is not decoded. */
function emptied(call: Call): Call {
  const url = new URL(call.url().pathname, call.url())
  return { ...call, url: () => url, body: {} }
}
