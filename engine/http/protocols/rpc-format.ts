import type { ORPCError } from '@orpc/client'
import { StandardRPCJsonSerializer, StandardRPCSerializer } from '@orpc/client/standard'

/** The prefix of every path of the RPC protocol. */
export const RPC = '/rpc/'

/** The end of the path of a batch, by default. The link adds this segment to the path of the first call. */
export const BATCH = '/__batch__'

/** Maximum number of calls in one batch: the default of oRPC's BatchLinkPlugin. */
export const MAX_CALLS = 10

/** Returns whether oRPC's BatchLinkPlugin sent the request, which then contains several calls. */
export const isBatch = (headers: Readonly<Record<string, unknown>>) => headers['x-orpc-batch'] !== undefined

export const rpcSerializer = new StandardRPCSerializer(new StandardRPCJsonSerializer())

type EncodableError = Pick<ORPCError<string, unknown>, 'status' | 'toJSON'>

export const rpcErrorBody = (error: EncodableError) => rpcSerializer.serialize(error.toJSON())

/** A temporary error (503) tells the client to retry after one second. */
export const retryHeaders = ({ status }: EncodableError): Record<string, string> =>
  status === 503 ? { 'retry-after': '1' } : {}

/**
 * Returns the body for a batch that is refused as a whole. The link reads only lists with an answer for each call, so
 * each call receives the error. The link ignores answers for calls that the batch does not contain.
 */
export const refusedBatch = (error: EncodableError, calls = MAX_CALLS) =>
  Array.from({ length: calls }, (_, index) => ({
    index,
    headers: retryHeaders(error),
    body: rpcErrorBody(error),
  }))
