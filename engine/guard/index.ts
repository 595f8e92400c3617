import { type AnyProcedure, ORPCError, os } from '@orpc/server'
import type { Promisable } from '@orpc/shared'
import { isChange, type Meta } from 'tallystick-contract/internal'

import type { Database } from '../db/connection/database.ts'
import { isForeignKeyViolation } from '../db/errors.ts'
import type { Caller } from '../call/caller.ts'
import type { Context } from '../call/context.ts'
import type { Recipient } from '../call/live-stream.ts'
import { recordings } from '../telemetry/recording.ts'
import { authenticate, requireAccount, requirePermission } from './access.ts'
import { announceAfter } from './announcements.ts'
import { requireAcceptedVersion, runIfMatching } from './conditions.ts'
import { withIdempotencyKey } from './idempotency.ts'
import { entriesOf, withAuditEntries } from './audit-entries.ts'
import { observeCall } from './observed-calls.ts'
import type { ProcedureContract } from './procedure-contract.ts'
import {
  decodeId,
  concernsOwnItem,
  type RequiredPermission,
  requiredPermissionsOf,
  statementChecksOf,
} from './permissions.ts'

const builder = os.$context<Context>().$meta<Meta>({})

/** The part of the context that the guard replaces for each procedure. */
type Guarded = Pick<Context, 'announce' | 'checkPermissions'>

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

/** Handles a call after the checks of the guard. `id` is the id of the item, if the call concerns an item. */
type Handle<Output> = (caller: Caller | undefined, id: unknown, guarded: Guarded) => Promisable<Output>

interface Invocation {
  context: Context
  procedure: { '~orpc': ProcedureContract }
  path: readonly string[]
}

/**
 * Returns which permissions the statement of the handler checks. Undefined if the guard must check all: a middleware between the
 * guard and the handler could answer without the statement.
 */
const inStatement = ({ handler, middlewares }: ProcedureContract) =>
  guards.has(middlewares.at(-1)) ? statementChecksOf(handler) : undefined

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
  // A proxy must not compress secrets, because the size could reveal them (BREACH).
  if (declared.meta.secrets) context.reply.set('cache-control', 'no-transform')
  return observeCall({ context, path, input, errorMap: declared.errorMap }, () =>
    checkAndHandle({ context, procedure: declared, path }, input, handle),
  )
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
  const own = required.find(({ action }) => concernsOwnItem(action))
  const id = own?.id ?? (ifMatch ? await decodeId(procedure, input) : undefined)
  const checkAll = async (permissions: readonly RequiredPermission[], db = context.db) => {
    const recipients: Recipient[] = []
    if (caller)
      for (const permission of permissions)
        recipients.push(...(await requirePermission(db, procedure, permission, caller)))
    return recipients
  }
  // A malformed request never reaches the statement.
  const isInStatement = context.malformed ? undefined : inStatement(procedure)
  const itemRecipients = await checkAll(required.filter(({ action }) => !isInStatement?.(action)))
  // Without a checked item, the guard announces to the caller. Operations of rows announce to the other recipients themselves.
  const recipients = itemRecipients.length > 0 ? itemRecipients : caller ? [{ person: caller.user.id }] : []
  if (context.malformed) throw context.malformed
  const checkPermissions = async (db: Database) => {
    await checkAll(required, db)
    if (items && caller) await requireAcceptedVersion(db, context.headers, caller, items, id)
  }
  // Set for a call that the console for developers records.
  const recorded = recordings.getStore()?.call
  if (recorded) recorded.permittedAt = performance.now()
  try {
    return await announceAfter(context, updates, recipients, (announce) =>
      handle(caller, id, { announce, checkPermissions }),
    )
  } catch (error) {
    if (isInStatement) await throwByPriority(error, () => checkPermissions(context.db))
    if (caller && isForeignKeyViolation(error)) await requireAccount(context, procedure, caller)
    throw error
  }
}

/**
 * The middleware of procedures with public access, which require no caller:
 * `implement(contract).$context<Context>().use(withoutCaller)`.
 */
export const withoutCaller = builder.middleware((invocation, input) =>
  guardMiddleware(invocation, input, (_caller, _id, guarded) => invocation.next({ context: guarded })),
)

/**
 * The middleware of procedures that require a caller for some topics. The context contains the caller as `watcher`, if
 * one of the topics in the input requires a caller, and the input before its validation as `given`.
 */
export const callerByTopic = builder.middleware((invocation, input) =>
  guardMiddleware(invocation, input, (watcher) => invocation.next({ context: { watcher, given: input } })),
)

/**
 * The middleware of procedures that require a caller. Applies the headers `Idempotency-Key` and `If-Match`.
 *
 * @example
 * const os = implement(loans.procedures).$context<Context>().use(withCaller)
 */
export const withCaller = builder.middleware((invocation, input) =>
  guardMiddleware(invocation, input, (caller, id, guarded) => {
    const { context, procedure, path, next } = invocation
    if (!caller)
      throw new Error(
        `${path.join('.')} requires a caller, but its contract declares public access. Use withoutCaller, or change the contract.`,
      )
    const { meta, outputSchema } = procedure['~orpc']
    const { idempotencyKey, ifMatch } = meta
    const run = (overrides?: Partial<Context>) =>
      next<Caller>({ context: { ...caller, ...guarded, ...overrides } })
    const isAudited = isChange(procedure) && (meta.audit || caller.session.impersonatedBy !== null)
    const proceed = isAudited
      ? (overrides?: Partial<Context>) =>
          withAuditEntries(
            { ...context, ...overrides },
            entriesOf(meta, caller, path.join('.'), id),
            (audited) => run({ ...overrides, ...audited }),
          )
      : run
    if (idempotencyKey && context.headers['idempotency-key'] !== undefined)
      return withIdempotencyKey(context, caller, { path, input, outputSchema }, proceed)
    const items =
      ifMatch && context.headers['if-match'] !== undefined ? itemsOf(context, meta, path) : undefined
    if (items) {
      const isInStatement = inStatement(procedure['~orpc']) !== undefined
      return runIfMatching(context, caller, { items, id, isInStatement }, proceed)
    }
    return proceed()
  }),
)

const guards: ReadonlySet<unknown> = new Set([withoutCaller, callerByTopic, withCaller])

/** Returns whether a procedure has the middleware of the guard. */
export const isGuarded = (procedure: AnyProcedure) =>
  procedure['~orpc'].middlewares.some((middleware) => guards.has(middleware))
