import { ORPCError } from '@orpc/server'
import { isObject } from '@orpc/shared'
import { type Meta, type RateLimit, readTopics } from 'tallystick-contract/internal'

import type { Database } from '../db/connection/database.ts'
import { findId } from '../db/accounts/users.ts'
import type { Caller } from '../call/caller.ts'
import type { Context } from '../call/context.ts'
import type { Recipient } from '../call/live-stream.ts'
import { isBearer } from './authentication.ts'
import { networkOf } from './networks.ts'
import { isPermitted, type RequiredPermission } from './permissions.ts'
import type { ProcedureContract } from './procedure-contract.ts'

type Code = 'UNAUTHORIZED' | 'INSUFFICIENT_SCOPE' | 'NOT_FOUND' | 'FORBIDDEN'

/** Creates an error of the guard, with the status and the message that the contract declares. */
export const createError = ({ errorMap }: ProcedureContract, code: Code) =>
  new ORPCError(code, { status: errorMap[code]?.status, message: errorMap[code]?.message ?? code })

/** Returns whether a call needs no caller. An unknown topic needs no caller, because input validation rejects it (400). */
function isPublicCall({ access, watches }: Meta, input: unknown) {
  if (!watches) return access === 'public'
  const named = readTopics(isObject(input) ? input.topics : undefined)
  return !watches.some((topic) => topic.access === 'signedIn' && named.includes(topic.name))
}

/** Returns whether a page of this service sent a call. Callers without `Origin` are not browsers. */
const isOwnPage = ({ headers: { origin }, settings }: Pick<Context, 'headers' | 'settings'>) =>
  origin === undefined || origin === settings.baseUrl

/**
 * Checks the caller (401), the scope, the impersonation, the page and the role (403), and the rate limit (429). Returns the
 * caller, or undefined for a public call.
 */
export async function authenticate(context: Context, procedure: ProcedureContract, input: unknown) {
  const isPublic = isPublicCall(procedure.meta, input)
  const caller = isPublic ? undefined : await context.caller()
  if (!isPublic && !caller) throw challenge(context, createError(procedure, 'UNAUTHORIZED'))
  requireAccess(context, procedure, caller)
  const { rateLimit } = procedure.meta
  if (rateLimit) await consumeProcedureLimit(context, rateLimit, caller)
  return caller
}

/**
 * Checks what the contract declares about the caller: the scope, the impersonation, the page and the role (403). Live
 * streams check the same again for each topic, with the current data of the caller.
 */
export function requireAccess(
  context: Pick<Context, 'settings' | 'headers' | 'reply'>,
  procedure: ProcedureContract,
  caller: Caller | undefined,
) {
  const { scope, noImpersonation, ownPagesOnly, administratorsOnly } = procedure.meta
  // Only callers with a token have scopes. A token can call no procedure without a scope.
  if (caller?.scopes && !(scope && caller.scopes.includes(scope)))
    throw challenge(context, createError(procedure, 'INSUFFICIENT_SCOPE'), scope)
  // These two conditions also refuse a call without a caller.
  if (noImpersonation && caller?.session.impersonatedBy !== null) throw createError(procedure, 'FORBIDDEN')
  if (administratorsOnly && caller?.user.role !== 'admin') throw createError(procedure, 'FORBIDDEN')
  if (ownPagesOnly && !isOwnPage(context)) throw createError(procedure, 'FORBIDDEN')
}

/**
 * Checks that the item exists (404) and that a relation of the caller permits the action (403). Returns the recipients of an
 * announcement: those whose live states show the item.
 */
export async function requirePermission(
  db: Database,
  procedure: ProcedureContract,
  { action, items, id }: RequiredPermission,
  { user }: Caller,
): Promise<readonly Recipient[]> {
  const { permissions = {}, findRelation } = items
  const relations = await findRelation?.(db, user, id as never)
  if (!relations) throw createError(procedure, 'NOT_FOUND')
  if (!relations.names.some((name) => isPermitted(permissions, name, action.name)))
    throw createError(procedure, 'FORBIDDEN')
  return relations.recipients
}

/**
 * Checks that the account of the caller still exists (401), after a change whose row refers to a missing row. Passes if the
 * database cannot tell: within a transaction that has failed.
 */
export async function requireAccount({ db }: Context, procedure: ProcedureContract, { user }: Caller) {
  const id = await findId(db, user.id).catch(() => user.id)
  if (id === null) throw createError(procedure, 'UNAUTHORIZED')
}

/**
 * Counts a call against the rate limit of the procedure, for the person or for the network of the caller. A call from
 * the same process has no network, so a limit by network does not count the call.
 */
async function consumeProcedureLimit(context: Context, limit: RateLimit, caller?: Caller) {
  const key = limit.perAccount && caller ? caller.user.id : networkOf(context.ipAddress?.())
  if (key !== undefined) await consumeLimit(context, limit, key)
}

/**
 * Counts a call under a key. If there are too many calls, throws 429, and sets the headers of the answer.
 *
 * @example
 * await consumeLimit(context, addressLimit, `${user.id} ${address}`)
 */
export async function consumeLimit(
  { consumeRateLimit, reply }: Pick<Context, 'consumeRateLimit' | 'reply'>,
  limit: RateLimit,
  key: string,
) {
  const refusal = await consumeRateLimit(limit, key)
  if (!refusal) return
  for (const [name, value] of Object.entries(refusal.headers)) reply.set(name, value)
  throw refusal.error
}

/**
 * Sets `WWW-Authenticate`, with the required scope and the URL of the resource metadata (RFC 6750, RFC 9728). Returns the error.
 */
function challenge<Refusal extends { code: string }>(
  { settings, headers, reply }: Pick<Context, 'settings' | 'headers' | 'reply'>,
  refusal: Refusal,
  scope?: string,
) {
  // RFC 6750: a request without a token receives no error code.
  const tokenError = isBearer(headers) ? 'invalid_token' : undefined
  const error = refusal.code === 'INSUFFICIENT_SCOPE' ? 'insufficient_scope' : tokenError
  const parameters = {
    resource_metadata: `${settings.baseUrl}/.well-known/oauth-protected-resource`,
    error,
    scope,
  }
  const defined = Object.entries(parameters).flatMap(([name, value]) => (value ? [`${name}="${value}"`] : []))
  reply.set('www-authenticate', `Bearer ${defined.join(', ')}`)
  return refusal
}
