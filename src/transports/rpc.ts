import { StandardRPCHandler } from '@orpc/server/standard'
import { StrictGetMethodPlugin } from '@orpc/server/plugins'

import type { Context } from '../access.ts'
import { router } from '../procedures/index.ts'
import { answer, sendReply, standardRequest, type Transport } from './transport.ts'

/** The typed client's own protocol, under /rpc. */
export function createRpc(): Transport {
  const handler = new StandardRPCHandler<Context>(router, { plugins: [new StrictGetMethodPlugin()] })

  return async (call, response) => {
    const result = await handler.handle(standardRequest(call), { context: call.context, prefix: '/rpc' })
    if (!result.matched) return false
    sendReply(response, call.context.reply)
    return answer(response, result.response.status, JSON.stringify(result.response.body))
  }
}
