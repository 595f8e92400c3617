import { ORPCError } from '@orpc/client'
import type { ServerResponse } from 'node:http'

import type { Endpoint } from '../../app/endpoint.ts'
import type { Context } from '../../call/context.ts'
import { countsOfNetwork, createOpenCounts, withRetryAfter } from '../../guard/open-counts.ts'
import { networkOf } from '../../guard/networks.ts'

/** Maximum number of open requests of an account, or of a network without an account, to endpoints in one process. */
export const MAX_TRANSFERS = 50

/**
 * Limits the open requests to endpoints: a client can read an answer slowly, or send a stream slowly, and each request occupies one of
 * MAX_REQUESTS meanwhile.
 */
export function createTransferLimits() {
  const open = createOpenCounts()
  return (
    response: ServerResponse,
    { access, body }: Pick<Endpoint, 'access' | 'body'>,
    { ipAddress, reply }: Pick<Context, 'ipAddress' | 'reply'>,
    person: string | undefined,
  ) => {
    // An endpoint for all callers with a complete body. Not counted, because all webhooks of one sender come from one network.
    const isWebhook = access === undefined && body !== undefined && body !== 'stream'
    if (isWebhook) return
    // The client has left, so that no event would end the count.
    if (response.destroyed) return
    const counts =
      person === undefined
        ? countsOfNetwork(networkOf(ipAddress?.()), MAX_TRANSFERS)
        : [[`person ${person}`, MAX_TRANSFERS] satisfies [string, number]]
    if (open.isFull(counts))
      throw withRetryAfter(
        reply,
        new ORPCError('TOO_MANY_REQUESTS', { message: 'Too many open requests; wait for the end of one' }),
      )
    response.once('close', open.occupy(counts))
  }
}
