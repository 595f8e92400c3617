import { STANDARD_RPC_JSON_SERIALIZER_BUILT_IN_TYPES as types, toHttpPath } from '@orpc/client/standard'
import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import { badRequest } from 'tallystick-contract/internal'

import { type BatchParts, createBatch, type OccupySlot } from './batch.ts'
import { MAX_DEPTH, parseJson } from '../server/body.ts'
import type { CompiledProcedure } from './compile.ts'
import { createHandler, createRunCall, type HandlerParts, type WireFormat } from '../server/handler.ts'
import type { Call, Protocol } from '../server/protocol.ts'
import { BATCH, isBatch, RPC, rpcSerializer } from './rpc-format.ts'

const METHODS = ['GET', 'POST']

/** Creates the wire format of oRPC's RPC under /rpc/, for the typed client. */
export function createRpcFormat(procedures: readonly CompiledProcedure[]): WireFormat {
  const routes = new Map(
    procedures.map((each) => [RPC.slice(0, -1) + toHttpPath(each.operation.split('.')), each]),
  )
  const findProcedure = (method: string, path: string) => {
    const procedure = routes.get(path)
    // Procedures that the contract declares with GET also accept GET over RPC.
    const isSupported = method === 'POST' || (method === 'GET' && procedure?.route.method === 'GET')
    return procedure && isSupported ? procedure : undefined
  }
  return {
    find: ({ method, path }) => {
      const procedure = findProcedure(method, path)
      return procedure && { procedure }
    },
    listAt: (method, path) => {
      const procedure = findProcedure(method, path)
      return procedure ? [procedure] : []
    },
    decode: (call) => deserialize(call.method === 'GET' ? bodyOf(call.url()) : call.body),
    encode: (output) => ({ status: 200, text: JSON.stringify(rpcSerializer.serialize(output)) }),
    // The events of a procedure with a stream. `formatEvent` writes an event of `live.watch`: a state is encoded once for all streams.
    encodeEvents: (events) => rpcSerializer.serialize(events),
    formatEvent: (update) => `event: message\ndata: ${JSON.stringify(rpcSerializer.serialize(update))}\n\n`,
  }
}

/** Returns the body that a GET request has in its query. */
function bodyOf(url: URL): Call['body'] {
  const data = url.searchParams.getAll('data').at(-1)
  if (!data) return undefined
  const { body, malformed } = parseJson(Buffer.from(data), 'object')
  if (malformed) throw malformed
  return body
}

/** The types of native values, each with the path of its value. */
const NativeTypes = z.array(z.tuple([z.number()], z.union([z.string(), z.number()])))

/** Reads an input with native values: Date, bigint, URL, Set, Map, NaN and undefined. `meta` contains the types of the values. */
function deserialize(body: Call['body']) {
  for (const [type, ...path] of NativeTypes.parse(body?.meta ?? [])) {
    // A regular expression of a caller could take exponential time.
    if (type === types.REGEXP) throw badRequest([{ path, message: 'A regular expression is not accepted' }])
    // A body has at most MAX_DEPTH levels.
    if (path.length > MAX_DEPTH)
      throw badRequest([{ path: ['meta'], message: 'A path has too many segments' }])
  }
  return rpcSerializer.deserialize(body)
}

/** Creates the protocol RPC: calls, and batches of calls. */
export function createRpc(
  parts: BatchParts & HandlerParts,
  format: WireFormat,
  occupySlot: OccupySlot,
): Protocol {
  const run = createRunCall(format)
  const answerCall = createHandler(parts, format, run)
  const { methodsAt } = answerCall
  const answerBatch = createBatch(parts, { run, methodsAt, occupySlot })
  const answer = (call: Call, response: ServerResponse) => {
    if (!isBatch(call.request.headers)) return answerCall(call, response)
    return METHODS.includes(call.method) && answerBatch(call, response)
  }
  return Object.assign(answer, {
    // A preflight does not have the header of a batch, only its path.
    methodsAt: (call: Call) => (call.path.endsWith(BATCH) ? METHODS : methodsAt(call)),
  })
}
