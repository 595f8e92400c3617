import { StandardRPCHandler } from '@orpc/server/standard'
import { StrictGetMethodPlugin } from '@orpc/server/plugins'

import type { Context } from '../access.ts'
import { router } from '../procedures/index.ts'
import { answer, refuseMethod, sendReply, standardRequest, type Transport } from './transport.ts'

const METHODS = ['GET', 'POST']

/** The typed client's own protocol, under /rpc. */
export function createRpc(): Transport {
  const handler = new StandardRPCHandler<Context>(router, { plugins: [new StrictGetMethodPlugin()] })

  return async (call, response) => {
    if (!call.url().pathname.startsWith('/rpc/')) return false
    if (!METHODS.includes(call.method)) return refuseMethod(response, METHODS)
    const result = await handler.handle(standardRequest(call), { context: call.context, prefix: '/rpc' })
    if (!result.matched) return false
    sendReply(response, call.context.reply)
    return answer(response, result.response.status, JSON.stringify(result.response.body))
  }
}
