import { type AnyProcedure, ORPCError, os } from '@orpc/server'
import type { Promisable } from '@orpc/shared'
import { isChange, type Meta, type Topic } from 'tallystick-contract/internal'

import { isForeignKeyViolation, isRolledBack } from '../db/errors.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { Items } from '../items.ts'
import type { Announce, Recipient } from '../live-stream.ts'
import { recordCall, recordings } from '../telemetry/recording.ts'
import { tracing } from '../telemetry/tracing.ts'
import { authenticate, requireAccount, requirePermission } from './access.ts'
import { requireAcceptedVersion, runIfMatching } from './conditions.ts'
import { withIdempotencyKey } from './idempotency.ts'
import { withAuditEntry } from './impersonation.ts'
import type { ProcedureContract } from './procedure-contract.ts'
import { toPublicError } from './public-errors.ts'
import {
  decodeId,
  isOfOwnItem,
  type RequiredPermission,
  requiredPermissionsOf,
} from './required-permissions.ts'
import { statementChecksOf } from './statement-checks.ts'

const builder = os.$context<Context>().$meta<Meta>({})

/**
 * Collects the announcements of a procedure, which begin with `updates`, and sends the announcements after the procedure
 * has committed. Also sends the announcements after an unexpected error, because the database may have committed before
 * the error. Drops the announcements after another error, or after a rollback.
 */
async function announceAfter<Output>(
  { announce }: Context,
  updates: readonly Topic[],
  recipients: readonly Recipient[],
  run: (announce: Announce) => Promisable<Output>,
): Promise<Output> {
  const collected = updates.map((topic): Parameters<Announce> => [topic, ...recipients])
  const send = () => {
    for (const change of collected) announce(...change)
  }
  try {
    const output = await run((topic, ...recipients) => {
      if (topic.access !== 'public' && recipients.length === 0)
        throw new Error(`An announcement of the topic ${topic.name} needs a person, an address or a parent`)
      collected.push([topic, ...recipients])
    })
    send()
    return output
  } catch (error) {
    const isUnexpected = error instanceof ORPCError ? error.status >= 500 : !isRolledBack(error)
    if (isUnexpected) send()
    throw error
  }
}

/** The part of the context that the guard replaces for each procedure. */
type Announcing = Pick<Context, 'announce' | 'checkPermissions'>

/**
 * Handles an error of a change, if the statement of the change checks the relation and the version. Reads the items again,
 * and throws 404, 403 or 412 if one of these errors applies: each has priority over an invalid input (400).
 */
async function throwByPriority(error: unknown, check: () => Promise<void>) {
  if (error instanceof ORPCError && error.status < 500) await check()
}

/** Returns the items of the resource with a procedure that supports If-Match. */
function itemsOf({ resources }: Context, { ifMatch }: Meta, [name = '']: readonly string[]) {
  const items = ifMatch ? resources[name]?.items : undefined
  if (!items && ifMatch) throw new Error(`The resource ${name} has If-Match, but no items`)
  return items
}

/** Returns which permissions the statement of a procedure checks. Undefined if the guard checks all before the procedure. */
const checksOf = ({ handler, meta }: ProcedureContract, items: Items | undefined) =>
  statementChecksOf(handler) ?? (meta.ifMatch && items?.ifMatch?.by === 'statement' ? () => true : undefined)

/** Handles a call after the checks of the guard. `id` is the id of the item, if the call concerns an item. */
type Handle<Output> = (caller: Caller | undefined, id: unknown, announcing: Announcing) => Promisable<Output>

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
 * (relation), 400 (malformed request). An id that the contract rejects is 400 instead of 404. Then `handle` checks
 * `Idempotency-Key` (400, 409, 422) or `If-Match` (400, 412), and finally the input (400). If the statement of a change
 * checks the owner and the version, the guard reads the item only after an error: see `throwByPriority`.
 */
async function guardMiddleware<Output extends { output: unknown }>(
  { context, procedure, path }: Invocation,
  input: unknown,
  handle: Handle<Output>,
): Promise<Output> {
  const declared = procedure['~orpc']
  const operation = path.join('.')
  context.attributes.operation = operation
  // A proxy must not compress secrets, because the size could reveal them (BREACH).
  if (declared.meta.secrets) context.reply.set('cache-control', 'no-transform')
  const run = () => checkAndHandle({ context, procedure: declared, path }, input, handle)
  const observed = () => (tracing ? tracing.procedure(path, run) : run())
  const recording = recordings.getStore()
  try {
    return await (recording ? recordCall(recording, { operation, input, context }, observed) : observed())
  } catch (error) {
    throw await toPublicError(error, context, operation, declared.errorMap)
  }
}

/** The steps of the guard, in the order of the errors. */
async function checkAndHandle<Output>(
  { context, procedure, path }: { context: Context; procedure: ProcedureContract; path: readonly string[] },
  input: unknown,
  handle: Handle<Output>,
): Promise<Output> {
  const { updates = [], ifMatch } = procedure.meta
  const items = itemsOf(context, procedure.meta, path)
  const caller = await authenticate(context, procedure, input)
  const required = caller ? await requiredPermissionsOf(context.resources, procedure, path, input) : []
  const own = required.find(({ action }) => isOfOwnItem(action))
  const id = own?.id ?? (ifMatch ? await decodeId(procedure, input) : undefined)
  const checkAll = async (permissions: readonly RequiredPermission[]) => {
    const recipients: Recipient[] = []
    if (caller)
      for (const permission of permissions)
        recipients.push(...(await requirePermission(context, procedure, permission, caller)))
    return recipients
  }
  // A malformed request never reaches the statement.
  const isInStatement = context.malformed ? undefined : checksOf(procedure, items)
  const found = await checkAll(required.filter(({ action }) => !isInStatement?.(action)))
  const ofCaller = caller ? [{ person: caller.user.id }] : []
  if (context.malformed) throw context.malformed
  const checkPermissions = async () => {
    await checkAll(required)
    if (items && caller) await requireAcceptedVersion(context, caller, items, id)
  }
  try {
    return await announceAfter(context, updates, found.length > 0 ? found : ofCaller, (announce) =>
      handle(caller, id, { announce, checkPermissions }),
    )
  } catch (error) {
    if (isInStatement) await throwByPriority(error, checkPermissions)
    if (caller && isForeignKeyViolation(error)) await requireAccount(context, procedure, caller)
    throw error
  }
}

/**
 * The middleware of procedures with public access, which require no caller:
 * `implement(contract).$context<Context>().use(withoutCaller)`.
 */
export const withoutCaller = builder.middleware((invocation, input) =>
  guardMiddleware(invocation, input, (_caller, _id, announcing) => invocation.next({ context: announcing })),
)

/**
 * The middleware of procedures that require a caller for some topics. The context contains the caller as `watcher`, if
 * one of the topics in the input requires a caller, and the input before its validation as `given`.
 */
export const callerByTopic = builder.middleware((invocation, input) =>
  guardMiddleware(invocation, input, (watcher) => invocation.next({ context: { watcher, given: input } })),
)

/** The middleware of procedures that require a caller. Applies the headers `Idempotency-Key` and `If-Match`. */
export const withCaller = builder.middleware((invocation, input) =>
  guardMiddleware(invocation, input, (caller, id, announcing) => {
    const { context, procedure, path, next } = invocation
    if (!caller)
      throw new Error(
        `${path.join('.')} requires a caller, but its contract declares public access. Use withoutCaller, or change the contract.`,
      )
    const { meta, outputSchema } = procedure['~orpc']
    const { idempotencyKey, ifMatch } = meta
    const run = (overrides?: Partial<Context>) =>
      next<Caller>({ context: { ...caller, ...announcing, ...overrides } })
    const proceed = (overrides?: Partial<Context>) =>
      isChange(procedure) && caller.session.impersonatedBy !== null
        ? withAuditEntry({ ...context, ...overrides }, caller, path.join('.'), (audited) =>
            run({ ...overrides, ...audited }),
          )
        : run(overrides)
    if (idempotencyKey && context.headers['idempotency-key'] !== undefined)
      return withIdempotencyKey(context, caller, { path, input, outputSchema }, proceed)
    const items =
      ifMatch && context.headers['if-match'] !== undefined ? itemsOf(context, meta, path) : undefined
    if (items) {
      const isInStatement = checksOf(procedure['~orpc'], items) !== undefined
      return runIfMatching(context, caller, { items, id, isInStatement }, proceed)
    }
    return proceed()
  }),
)

const guards = new Set<unknown>([withoutCaller, callerByTopic, withCaller])

/** Returns whether a procedure has the middleware of the guard. */
export const isGuarded = (procedure: AnyProcedure) =>
  procedure['~orpc'].middlewares.some((middleware) => guards.has(middleware))
