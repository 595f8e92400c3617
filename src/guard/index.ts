import type { AnySchema, ErrorMap } from '@orpc/contract'
import { implement, ORPCError } from '@orpc/server'
import { isObject, type Promisable } from '@orpc/shared'

import type { Access, Action, Meta } from '../../contract/meta.ts'
import { contract } from '../../contract/index.ts'
import { readTopics } from '../../contract/live.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { tracing } from '../telemetry/tracing.ts'
import { isBearer } from './authentication.ts'
import { isCheckedByStatement, requireAcceptedVersion, runIfMatching } from './conditions.ts'
import { withIdempotencyKey } from './idempotency.ts'
import { withAuditEntry } from './impersonation.ts'
import { findRelation, isPermitted } from './permissions.ts'
import { toPublicError } from './public-errors.ts'
import { networkOf } from './networks.ts'
import { isPersonal } from './rate-limiter.ts'

export const implementer = implement(contract).$context<Context>()

/** The parts of a procedure's contract that the guard reads. */
interface ProcedureContract {
  meta: Meta
  errorMap: ErrorMap
  outputSchema?: AnySchema
}

type Code = 'UNAUTHORIZED' | 'INSUFFICIENT_SCOPE' | 'NOT_FOUND' | 'FORBIDDEN'

const createError = ({ errorMap }: ProcedureContract, code: Code) =>
  new ORPCError(code, { status: errorMap[code]?.status, message: errorMap[code]?.message ?? code })

/** Returns whether a call needs no caller. An unknown topic needs no caller, because input validation rejects it (400). */
function isPublicCall({ access }: Meta, input: unknown) {
  if (typeof access !== 'object') return access === 'public'
  const accessOf = new Map<unknown, Access>(Object.entries(access))
  const topics = readTopics(isObject(input) ? input.topics : undefined)
  return topics.every((topic) => accessOf.get(topic) !== 'signedIn')
}

/** Returns whether a page of this service sent a call. Callers without `Origin` are not browsers. */
const isOwnPage = ({ headers: { origin }, settings }: Context) =>
  origin === undefined || origin === settings.baseUrl

/** Checks the caller (401), the scope and impersonation (403), and the rate limit (429). */
async function authenticate(context: Context, procedure: ProcedureContract, input: unknown) {
  const { scope, noImpersonation, ownPagesOnly, administratorsOnly, rateLimit } = procedure.meta
  const isPublic = isPublicCall(procedure.meta, input)
  const caller = isPublic ? undefined : await context.caller()
  if (!isPublic && !caller) throw challenge(context, createError(procedure, 'UNAUTHORIZED'))
  if (caller?.scopes && !(scope && caller.scopes.includes(scope)))
    throw challenge(context, createError(procedure, 'INSUFFICIENT_SCOPE'), scope)
  if (noImpersonation && caller?.session.impersonatedBy !== null) throw createError(procedure, 'FORBIDDEN')
  if (ownPagesOnly && !isOwnPage(context)) throw createError(procedure, 'FORBIDDEN')
  if (administratorsOnly && caller?.user.role !== 'admin') throw createError(procedure, 'FORBIDDEN')
  if (rateLimit && context.settings.rateLimits) await consumeProcedureLimit(context, rateLimit, caller)
  return caller
}

/**
 * Checks that the resource exists (404) and that the caller's relation permits the action (403). Returns the account
 * that owns the resource.
 */
async function requirePermission(
  context: Context,
  procedure: ProcedureContract,
  input: unknown,
  { user }: Caller,
  action: Action,
) {
  const id = isObject(input) ? input.id : undefined
  const found = await findRelation[action](context.db, user, id)
  if (!found) throw createError(procedure, 'NOT_FOUND')
  if (!isPermitted(found.relation, action)) throw createError(procedure, 'FORBIDDEN')
  return found.owner
}

/**
 * Announces a change after the procedure has committed. Also announces the change after an unexpected error, because the
 * database may have committed before the error.
 */
async function publishAfter<Output>(
  run: () => Promisable<Output>,
  { live }: Context,
  topic: Exclude<Meta['updates'], undefined | 'nothing'>,
  owner: string | undefined,
): Promise<Output> {
  try {
    const output = await run()
    live.publish(topic, owner)
    return output
  } catch (error) {
    if (!(error instanceof ORPCError) || error.status >= 500) live.publish(topic, owner)
    throw error
  }
}

/**
 * Counts a call against the rate limit of the procedure, for the person or for the network of the caller. A call from
 * the same process has no network, so a limit by network does not count the call.
 */
async function consumeProcedureLimit(
  context: Context,
  limit: NonNullable<Meta['rateLimit']>,
  caller?: Caller,
) {
  const key = isPersonal(limit) ? caller?.user.id : networkOf(context.address?.())
  const refusal = key === undefined ? undefined : await context.consumeRateLimit(limit, key)
  if (!refusal) return
  for (const [name, value] of Object.entries(refusal.headers)) context.reply.set(name, value)
  throw refusal.error
}

/**
 * Sets `WWW-Authenticate`, with the required scope and the URL of the resource metadata (RFC 6750, RFC 9728). Returns
 * the error.
 */
function challenge<Refusal extends { code: string }>(context: Context, refusal: Refusal, scope?: string) {
  const { settings, headers, reply } = context
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

/**
 * Handles an error of a change whose statement checks owner and version. Reads the resource, and throws 404, 403 or 412
 * if one of these applies, because these errors have priority over an invalid input (400).
 */
async function throwByPriority(
  error: unknown,
  context: Context,
  procedure: ProcedureContract,
  input: unknown,
  caller: Caller,
) {
  if (!(error instanceof ORPCError) || error.status >= 500) return
  const { action } = procedure.meta
  if (action) await requirePermission(context, procedure, input, caller, action)
  await requireAcceptedVersion(context, caller, input)
}

interface Invocation {
  context: Context
  procedure: { '~orpc': ProcedureContract }
  path: readonly string[]
}

/**
 * Authenticates and authorizes a call, runs `handle`, and converts errors. A single middleware does all of this,
 * because every additional middleware would cost each call some microseconds.
 *
 * The order of the checks determines which error a caller receives: 401, 403 (scope, impersonation), 429, 404, 403
 * (relation), 400 (malformed request). Then `handle` checks `Idempotency-Key` (400, 409, 422) or `If-Match` (400, 412),
 * and finally the input (400). The statement that changes a task checks the owner and the version, so the guard reads the
 * task only after an error: see `throwByPriority`.
 */
async function guardMiddleware<Output extends { output: unknown }>(
  { context, procedure, path }: Invocation,
  input: unknown,
  handle: (caller: Caller | undefined) => Promisable<Output>,
): Promise<Output> {
  const declared = procedure['~orpc']
  const operation = path.join('.')
  context.attributes.operation = operation
  if (declared.meta.secrets) context.reply.set('cache-control', 'no-transform')
  const run = () => checkAndHandle(context, declared, input, handle)
  try {
    return await (tracing ? tracing.procedure(path, run) : run())
  } catch (error) {
    throw await toPublicError(error, context, operation, declared.errorMap)
  }
}

/** The steps of the guard, in the order of the errors. */
async function checkAndHandle<Output>(
  context: Context,
  procedure: ProcedureContract,
  input: unknown,
  handle: (caller: Caller | undefined) => Promisable<Output>,
): Promise<Output> {
  const { action, updates, ifMatch } = procedure.meta
  const caller = await authenticate(context, procedure, input)
  const isCheckedLater = isCheckedByStatement(ifMatch) && !context.malformed
  const owner =
    caller && action && !isCheckedLater
      ? await requirePermission(context, procedure, input, caller, action)
      : caller?.user.id
  if (context.malformed) throw context.malformed
  const run = () => handle(caller)
  try {
    return await (updates && updates !== 'nothing' ? publishAfter(run, context, updates, owner) : run())
  } catch (error) {
    if (isCheckedLater && caller) await throwByPriority(error, context, procedure, input, caller)
    throw error
  }
}

/** Implements a procedure with public access, which requires no caller. */
export const withoutCaller = implementer.use((invocation, input) =>
  guardMiddleware(invocation, input, () => invocation.next()),
)

/**
 * Implements a procedure that requires a caller for some topics. The context contains the caller as `watcher`, if one of
 * the topics in the input requires a caller.
 */
export const callerByTopic = implementer.use((invocation, input) =>
  guardMiddleware(invocation, input, (watcher) => invocation.next({ context: { watcher } })),
)

/** Implements a procedure that requires a caller. Applies the headers `Idempotency-Key` and `If-Match`. */
export const withCaller = implementer.use((invocation, input) =>
  guardMiddleware(invocation, input, (caller) => {
    const { context, procedure, path, next } = invocation
    if (!caller)
      throw new Error(
        `${path.join('.')} requires a caller, but its contract declares public access. Use withoutCaller, or change the contract.`,
      )
    const { meta, outputSchema } = procedure['~orpc']
    const { idempotencyKey, ifMatch, updates } = meta
    const run = (overrides?: Partial<Context>) => next<Caller>({ context: { ...caller, ...overrides } })
    const proceed = (overrides?: Partial<Context>) =>
      updates && caller.session.impersonatedBy !== null
        ? withAuditEntry({ ...context, ...overrides }, caller, path.join('.'), (audited) =>
            run({ ...overrides, ...audited }),
          )
        : run(overrides)
    if (idempotencyKey && context.headers['idempotency-key'] !== undefined)
      return withIdempotencyKey(context, caller, { path, input, outputSchema }, proceed)
    if (ifMatch && context.headers['if-match'] !== undefined)
      return runIfMatching[ifMatch](context, caller, input, proceed)
    return proceed()
  }),
)
