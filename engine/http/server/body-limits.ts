import { ORPCError } from '@orpc/client'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

import { blockOf } from '../../guard/networks.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { CompiledProcedure } from '../protocols/compile.ts'
import { isBatch, RPC } from '../protocols/rpc-format.ts'
import type { Exchange } from './protocol.ts'

/** Maximum size of a body, in bytes, unless the procedure declares `maxBytes`. */
export const MAX_BODY = 1024 * 1024

/** Finds the procedures that can answer a request, before its body is read. */
export type FindProcedures = (method: string, path: string) => readonly CompiledProcedure[]

/** Creates the step that sets the maximum size of the body. A batch, and a path without a declaration, have MAX_BODY. */
export function createBodyLimits(
  procedures: readonly CompiledProcedure[],
  find: { rest: FindProcedures; rpc: FindProcedures },
) {
  const isDeclared = procedures.some(({ meta }) => meta.maxBytes !== undefined)
  return (exchange: Exchange) => {
    if (exchange.endpoint) {
      const { body, maxBytes = MAX_BODY } = exchange.endpoint.declaration
      exchange.limit = body === undefined ? 0 : maxBytes
      return false
    }
    const { method = 'GET', headers } = exchange.request
    const { path } = exchange.target
    const isRpc = path.startsWith(RPC)
    const isKnown = isDeclared && !(isRpc && isBatch(headers))
    const found = isKnown ? find[isRpc ? 'rpc' : 'rest'](method, path) : []
    exchange.limit =
      found.length === 0 ? MAX_BODY : Math.max(...found.map(({ meta }) => meta.maxBytes ?? MAX_BODY))
    return false
  }
}

/**
 * The number of usual bodies that a large body counts as, for the limits of incomplete and of concurrent requests: a body
 * without a declared size can have the maximum size.
 */
function weightOf({ 'content-length': length }: IncomingHttpHeaders, limit: number) {
  const size = Math.min(Number(length ?? limit), limit)
  return Math.max(1, Math.ceil(size / MAX_BODY))
}

export const tooSlow = () =>
  new ORPCError('REQUEST_TIMEOUT', { status: 408, message: 'The body took too long to arrive' })

/** Maximum number of requests with an incomplete body in one process. */
export const MAX_INCOMPLETE = 256

/** The limit for one network is the limit for the process, divided by this number. */
const NETWORK_DIVISOR = 4

type Abort = (error: Error) => void

interface IncompleteParts {
  metrics?: Pick<Metrics, 'shed'> | undefined
  networkOfRequest: (request: IncomingMessage) => string | undefined
}

/**
 * Limits the number of requests with an incomplete body, for the process and for each network (`networkOf`). A new request
 * is always accepted:
 * - If the network is at its limit, the oldest request of the network is aborted with 408.
 * - If the process is at its limit, the oldest request of the network with the most incomplete requests is aborted with
 *   408. For this choice, all networks of an IPv6 /48 count as one.
 *
 * Therefore, incomplete requests cannot block other callers. A body that is sent at normal speed is complete before its
 * request becomes the oldest.
 *
 * Returns the function that counts a request, with its weight: a large body counts as several. This function returns the
 * function that ends the count: the caller calls it when the body is complete, and before `abort` returns.
 */
export function createIncompleteLimit({ metrics, networkOfRequest }: IncompleteParts) {
  let total = 0
  const byNetwork = new Map<string, Group>()
  const byBlock = new Map<string, Group>()
  const limitPerNetwork = Math.ceil(MAX_INCOMPLETE / NETWORK_DIVISOR)
  const abortOldest = ({ requests: [oldest] }: Group) => {
    metrics?.shed('incomplete')
    oldest?.(tooSlow())
  }

  return ({ request, limit, endpoint }: Pick<Exchange, 'request' | 'limit' | 'endpoint'>, abort: Abort) => {
    // A closed connection has no network.
    const network = networkOfRequest(request) ?? 'unknown'
    // A stream is not stored.
    const weight = endpoint?.declaration.body === 'stream' ? 1 : weightOf(request.headers, limit)
    for (
      let group = byNetwork.get(network);
      group && group.weight + weight > limitPerNetwork;
      group = byNetwork.get(network)
    )
      abortOldest(group)
    while (total > 0 && total + weight > MAX_INCOMPLETE) abortOldest(largest(byBlock.values()))
    const counted = { abort, weight }
    const leave = [enter(byNetwork, network, counted), enter(byBlock, blockOf(network) ?? network, counted)]
    total += weight
    let isCounted = true
    return () => {
      if (!isCounted) return
      isCounted = false
      total -= weight
      for (const each of leave) each()
    }
  }
}

/** The incomplete requests of a network, and the sum of their weights. */
interface Group {
  requests: Set<Abort>
  weight: number
}

/** Adds a request to the group of a key. Returns the function that removes the request. */
function enter(groups: Map<string, Group>, key: string, { abort, weight }: { abort: Abort; weight: number }) {
  const group = groups.get(key) ?? { requests: new Set(), weight: 0 }
  groups.set(key, group)
  group.requests.add(abort)
  group.weight += weight
  return () => {
    group.requests.delete(abort)
    group.weight -= weight
    if (group.requests.size === 0 && groups.get(key) === group) groups.delete(key)
  }
}

const largest = (groups: Iterable<Group>) =>
  [...groups].reduce((most, each) => (each.weight > most.weight ? each : most))
