import type { ErrorMap } from '@orpc/contract'
import { implement, ORPCError, ValidationError } from '@orpc/server'
import { isObject, type Promisable } from '@orpc/shared'

import { type Action, type Meta, RowId } from '../contract/base.ts'
import { badRequest } from '../contract/errors.ts'
import { contract } from '../contract/index.ts'
import type { Database } from '../db/index.ts'
import * as notes from '../db/notes.ts'
import * as tasks from '../db/tasks.ts'
import type { Caller, Context } from './access.ts'
import { after, attempt } from './after.ts'
import { whereMatched } from './conditions.ts'
import { once } from './idempotency.ts'
import { isPersonal, networkOf } from './limits.ts'
import { refusalOf } from './outages.ts'
import { tracing } from './tracing.ts'

/** How a caller stands to the thing they want to act on. */
export type Relation = 'author' | notes.Role | 'owner' | 'anyone'

/** Who may do what. The guard and the `can` of every answer read this one table. */
const permitted: Record<Relation, readonly Action[]> = {
  author: ['VIEW_NOTE', 'EDIT_NOTE', 'SHARE_NOTE', 'DELETE_NOTE'],
  editor: ['VIEW_NOTE', 'EDIT_NOTE'],
  reader: ['VIEW_NOTE'],
  owner: ['EDIT_TASK'],
  anyone: ['CREATE_NOTE'],
}

export const may = (relation: Relation, action: Action) => permitted[relation].includes(action)

export const relationTo = ({ note, role }: notes.Listed, userId: string): Relation =>
  note.userId === userId ? 'author' : (role ?? 'anyone')

type Subject = (db: Database, user: Caller['user'], id: unknown) => Promise<Relation | undefined>

const note: Subject = async (db, user, id) => {
  const found = typeof id === 'string' ? await notes.find(db, user, id) : undefined
  return found && relationTo(found, user.id)
}
const task: Subject = async (db, user, id) => {
  const { success, data } = RowId.safeParse(id)
  // What is no number at all is for validation to refuse.
  if (!success) return 'owner'
  return (await tasks.find(db, user.id, data)) && 'owner'
}

/** How a caller stands to what an action is done to, or nothing where that does not exist for them. */
const subjects: Record<Action, Subject> = {
  CREATE_NOTE: () => Promise.resolve('anyone'),
  VIEW_NOTE: note,
  EDIT_NOTE: note,
  SHARE_NOTE: note,
  DELETE_NOTE: note,
  EDIT_TASK: task,
}

/** The contract, for its procedures to be put together by. */
export const root = implement(contract).$context<Context>()

/** What the contract says of a procedure. */
interface Declared {
  meta: Meta
  errorMap: ErrorMap
}

/** What an error leaves as, in one shape: broken bounds as a short list of issues, the unexpected logged and masked. */
function reported(error: unknown, context: Context, operation: string) {
  const refusal = refusalOf(error)
  if (refusal?.code === 'UNAUTHORIZED') return refusal
  const { cause } = error instanceof ORPCError ? error : {}
  if (error instanceof ORPCError && error.code === 'BAD_REQUEST' && cause instanceof ValidationError)
    return badRequest(cause.issues)
  if (!(error instanceof ORPCError) || error.status >= 500)
    context.log.error({ err: cause ?? error, procedure: operation }, 'a procedure failed')
  if (!refusal) return error
  context.reply.set('retry-after', '1')
  return refusal
}

type Code = 'UNAUTHORIZED' | 'INSUFFICIENT_SCOPE' | 'NOT_FOUND' | 'FORBIDDEN'

const refusal = ({ errorMap }: Declared, code: Code) =>
  new ORPCError(code, { status: errorMap[code]?.status, message: errorMap[code]?.message ?? code })

/** Who calls, if they may call this at all: 401, then 403, then 429. Where nobody need be asked, nothing is waited for. */
function admit(context: Context, declared: Declared) {
  const { access, scope, inPerson, limit } = declared.meta
  // A token that is none is refused even where nobody need show one.
  const shown = access !== 'open' || context.headers.authorization !== undefined
  return after(shown ? context.caller() : undefined, (identity) => {
    if (shown && !identity) throw challenge(context, refusal(declared, 'UNAUTHORIZED'))
    if (identity?.scopes && access !== 'open' && !(scope && identity.scopes.includes(scope)))
      throw challenge(context, refusal(declared, 'INSUFFICIENT_SCOPE'), scope)
    if (inPerson && identity?.session.impersonatedBy !== null) throw refusal(declared, 'FORBIDDEN')
    const counted = limit && context.settings.rateLimits ? spend(context, limit, identity) : undefined
    return after(counted, () => identity)
  })
}

/** Whether they may do it to this thing: 404, then 403. */
async function permit(
  context: Context,
  declared: Declared,
  input: unknown,
  { user }: Caller,
  action: Action,
) {
  const id = isObject(input) ? input.id : undefined
  const relation = await subjects[action](context.db, user, id)
  if (!relation) throw refusal(declared, 'NOT_FOUND')
  if (!may(relation, action)) throw refusal(declared, 'FORBIDDEN')
}

/** Counts a call by whom its limit goes. Where nobody is at the other end, as in process, nobody is counted. */
async function spend(context: Context, limit: NonNullable<Meta['limit']>, identity?: Caller) {
  const by = isPersonal(limit) ? identity?.user.id : networkOf(context.address?.())
  const refusal = by === undefined ? undefined : await context.spend(limit, by)
  if (!refusal) return
  for (const [name, value] of Object.entries(refusal.headers)) context.reply.set(name, value)
  throw refusal.error
}

/** Tells an app what token it lacks, and where to get one (RFC 6750, RFC 9728). */
function challenge<Refusal extends { code: string }>(context: Context, refusal: Refusal, scope?: string) {
  const { settings, headers, reply } = context
  const shown = headers.authorization === undefined ? undefined : 'invalid_token'
  const error = refusal.code === 'INSUFFICIENT_SCOPE' ? 'insufficient_scope' : shown
  const parameters = {
    resource_metadata: `${settings.baseUrl}/.well-known/oauth-protected-resource`,
    error,
    scope,
  }
  const given = Object.entries(parameters).flatMap(([name, value]) => (value ? [`${name}="${value}"`] : []))
  reply.set('www-authenticate', `Bearer ${given.join(', ')}`)
  return refusal
}

interface Asked {
  context: Context
  procedure: { '~orpc': Declared }
  path: readonly string[]
}

/** The guard and the error handling, as one middleware: each middleware costs a call some microseconds. */
function enforce<Output>(
  { context, procedure, path }: Asked,
  input: unknown,
  answer: (identity: Caller | undefined) => Promisable<Output>,
) {
  const declared = procedure['~orpc']
  const { action } = declared.meta
  const operation = path.join('.')
  context.seen.operation = operation
  const run = () =>
    after(admit(context, declared), (identity) =>
      after(identity && action ? permit(context, declared, input, identity, action) : undefined, () => {
        // A body that could not be read is refused only now: 400.
        if (context.malformed) throw context.malformed
        return answer(identity)
      }),
    )
  return attempt(
    () => (tracing ? tracing.procedure(path, run) : run()),
    (error) => {
      throw reported(error, context, operation)
    },
  )
}

/** Implements a procedure that anyone may call. */
export const open = root.use((asked, input) => enforce(asked, input, () => asked.next()))

/** Implements a procedure that knows its caller, and applies `Idempotency-Key` and `If-Match` where they are sent. */
export const signedIn = root.use((asked, input) =>
  enforce(asked, input, (identity) => {
    const { context, procedure, path, next } = asked
    if (!identity) throw new Error(`${path.join('.')} needs a caller, but its contract lets anyone in`)
    const { creates, changes } = procedure['~orpc'].meta
    const proceed = (own?: Partial<Context>) => next<Caller>({ context: { ...identity, ...own } })
    if (creates && context.headers['idempotency-key'] !== undefined)
      return once(context, identity, { path, input }, proceed)
    if (changes && context.headers['if-match'] !== undefined)
      return whereMatched(context, identity, { thing: changes, input }, proceed)
    return proceed()
  }),
)
