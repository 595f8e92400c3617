import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

import type { CompiledProcedure } from '../protocols/compile.ts'
import { isBatch, RPC } from '../protocols/rpc-format.ts'
import type { Target } from './target.ts'

/** Maximum size of a body, in bytes, unless the procedure declares `maxBytes`. */
export const MAX_BODY = 1024 * 1024

/** Finds the procedures that can answer a request, before its body is read. */
export type FindProcedures = (method: string, path: string) => readonly CompiledProcedure[]

/**
 * Creates the function that returns the maximum size of the body of a request, in bytes. A batch, and a path outside of the
 * contract, have MAX_BODY.
 */
export function createBodyLimits(
  procedures: readonly CompiledProcedure[],
  find: { rest: FindProcedures; rpc: FindProcedures },
) {
  const isDeclared = procedures.some(({ meta }) => meta.maxBytes !== undefined)
  return ({ method = 'GET', headers }: Pick<IncomingMessage, 'method' | 'headers'>, { path }: Target) => {
    if (!isDeclared) return MAX_BODY
    const isRpc = path.startsWith(RPC)
    const found = isRpc && isBatch(headers) ? [] : find[isRpc ? 'rpc' : 'rest'](method, path)
    return found.length === 0 ? MAX_BODY : Math.max(...found.map(({ meta }) => meta.maxBytes ?? MAX_BODY))
  }
}

/**
 * The number of usual bodies that a large body counts as, for the limits of incomplete and of concurrent requests: a body
 * without a declared size can have the maximum size.
 */
export function weightOf({ 'content-length': length }: IncomingHttpHeaders, limit: number) {
  const size = Math.min(Number(length ?? limit), limit)
  return Math.max(1, Math.ceil(size / MAX_BODY))
}
