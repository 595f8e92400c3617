import { ORPCError } from '@orpc/client'
import { StandardRPCHandler, StandardRPCMatcher } from '@orpc/server/standard'
import { StrictGetMethodPlugin } from '@orpc/server/plugins'

import type { Context, Format, Services } from '../context.ts'
import { createBatch, type OccupySlot, type RunCall } from './batch.ts'
import { parseObject } from './body.ts'
import { sendLive } from './event-stream.ts'
import { router } from '../procedures/index.ts'
import { answerProcedure, type Call, standardRequest, type Protocol } from './protocol.ts'
import { BATCH, isBatch, RPC, rpcSerializer } from './rpc-format.ts'

const METHODS = ['GET', 'POST']

/** Creates the RPC protocol of oRPC under /rpc, for the typed client. */
export function createRpc(services: Services, occupySlot: OccupySlot): Protocol {
  const handler = new StandardRPCHandler<Context>(router, {
    plugins: [new StrictGetMethodPlugin()],
  })

  const run: RunCall = async (call) => {
    const malformed = call.context.malformed ?? malformationOf(call)
    const context = { ...call.context, malformed }
    const request = standardRequest(malformed ? emptied(call) : call)
    const { response: result } = await handler.handle(request, { context, prefix: '/rpc' })
    return result
  }
  const answerBatch = createBatch(services, run, occupySlot)

  const answer: Protocol = async (call, response) => {
    if (!call.url().pathname.startsWith(RPC) || !METHODS.includes(call.method)) return false
    if (isBatch(call.request.headers)) return answerBatch(call, response)
    const opened: Context['opened'] = {}
    const result = await run({ ...call, context: { ...call.context, opened } })
    if (!result) return false
    const { status, body } = result
    // StrictGetMethodPlugin has refused GET.
    if (status === 405) response.setHeader('allow', 'POST, OPTIONS')
    if (!opened.stream) return answerProcedure({ call, response }, { status, text: JSON.stringify(body) })
    return sendLive({
      response,
      reply: call.context.reply,
      stream: opened.stream,
      format: rpcFrame,
      services,
    })
  }
  return Object.assign(answer, { methodsAt: createMethodsAt() })
}

const rpcFrame: Format = (topic, state) =>
  `event: message\ndata: ${JSON.stringify(rpcSerializer.serialize({ topic, state }))}\n\n`

function createMethodsAt(): Protocol['methodsAt'] {
  const matcher = new StandardRPCMatcher()
  matcher.init(router)
  return async (path) => {
    if (!path.startsWith(RPC)) return []
    if (path.endsWith(BATCH)) return METHODS
    const match = await matcher.match('POST', `/${path.slice(RPC.length)}`)
    if (!match) return []
    return match.procedure['~orpc'].route.method === 'GET' ? METHODS : ['POST']
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
