import type { AnySchema, ErrorMap } from '@orpc/contract'
import { implement, ORPCError, ValidationError } from '@orpc/server'
import { isObject, type Promisable } from '@orpc/shared'

import { type Action, type Meta, RowId } from '../../contract/base.ts'
import { badRequest, Issues } from '../../contract/errors.ts'
import { contract } from '../../contract/index.ts'
import type { Database } from '../../db/database.ts'
import * as notes from '../../db/notes.ts'
import * as tasks from '../../db/tasks.ts'
import type { Caller, Context } from '../context.ts'
import { isBearer } from './authentication.ts'
import { mapMaybePromise, catchMaybePromise } from '../maybe-promise.ts'
import { whereMatched } from './conditions.ts'
import { once } from './idempotency.ts'
import { isPersonal, networkOf } from './rate-limits.ts'
import { refusalOf } from '../outages.ts'
import { InvalidOutput } from '../output.ts'
import { tracing } from '../telemetry/tracing.ts'

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

export const relationTo = ({ note, role }: notes.ListedNote, userId: string): Relation =>
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
  outputSchema?: AnySchema
}

/** The public form of an error: broken bounds as a list of issues; unexpected errors are logged, and masked later. */
function reported(error: unknown, context: Context, operation: string, errorMap: ErrorMap) {
  const refusal = refusalOf(error)
  if (refusal?.code === 'UNAUTHORIZED') return refusal
  const { cause } = error instanceof ORPCError ? error : {}
  if (error instanceof ORPCError && error.code === 'BAD_REQUEST' && cause instanceof ValidationError)
    return badRequest(cause.issues)
  if (!(error instanceof ORPCError) || error.status >= 500)
    context.log.error({ err: loggable(cause ?? error), procedure: operation }, 'a procedure failed')
  if (!refusal) return isPublic(error) ? declaredPart(error, errorMap) : error
  context.reply.set('retry-after', '1')
  return refusal
}

const isPublic = (error: unknown): error is ORPCError<string, unknown> => error instanceof ORPCError

/** oRPC's error about an output holds the whole output. */
const loggable = (error: unknown) =>
  error instanceof ValidationError ? new InvalidOutput(error.issues) : error

/** The error with the data that the contract declares for the error, and no other data. */
function declaredPart(error: ORPCError<string, unknown>, errorMap: ErrorMap) {
  const { code, defined, status, message, data, cause } = error
  if (data === undefined) return error
  const schema = errorMap[code]?.data ?? (code === 'BAD_REQUEST' ? Issues : undefined)
  return mapMaybePromise(schema?.['~standard'].validate(data), (result) => {
    const declared: unknown = !result || result.issues ? undefined : result.value
    return new ORPCError(code, { defined, status, message, data: declared, cause })
  })
}

type Code = 'UNAUTHORIZED' | 'INSUFFICIENT_SCOPE' | 'NOT_FOUND' | 'FORBIDDEN'

const refusal = ({ errorMap }: Declared, code: Code) =>
  new ORPCError(code, { status: errorMap[code]?.status, message: errorMap[code]?.message ?? code })

/** Authenticates the caller: 401, then 403, then 429. An open procedure never looks at credentials. */
function admit(context: Context, declared: Declared) {
  const { access, scope, noImpersonation, limit } = declared.meta
  const isOpen = access === 'open'
  return mapMaybePromise(isOpen ? undefined : context.caller(), (identity) => {
    if (!isOpen && !identity) throw challenge(context, refusal(declared, 'UNAUTHORIZED'))
    if (identity?.scopes && !(scope && identity.scopes.includes(scope)))
      throw challenge(context, refusal(declared, 'INSUFFICIENT_SCOPE'), scope)
    if (noImpersonation && identity?.session.impersonatedBy !== null) throw refusal(declared, 'FORBIDDEN')
    const counted = limit && context.settings.rateLimits ? spend(context, limit, identity) : undefined
    return mapMaybePromise(counted, () => identity)
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
  const refusal = by === undefined ? undefined : await context.consumeRateLimit(limit, by)
  if (!refusal) return
  for (const [name, value] of Object.entries(refusal.headers)) context.reply.set(name, value)
  throw refusal.error
}

/** Tells an app what token it lacks, and where to get one (RFC 6750, RFC 9728). */
function challenge<Refusal extends { code: string }>(context: Context, refusal: Refusal, scope?: string) {
  const { settings, headers, reply } = context
  const shown = isBearer(headers) ? 'invalid_token' : undefined
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
  context.attributes.operation = operation
  const run = () =>
    mapMaybePromise(admit(context, declared), (identity) =>
      mapMaybePromise(identity && action ? permit(context, declared, input, identity, action) : undefined, () => {
        // A body that could not be read is refused only now: 400.
        if (context.malformed) throw context.malformed
        return answer(identity)
      }),
    )
  return catchMaybePromise(
    () => (tracing ? tracing.procedure(path, run) : run()),
    (error) =>
      mapMaybePromise(reported(error, context, operation, declared.errorMap), (publicError) => {
        throw publicError
      }),
  )
}

/** Implements a procedure that anyone may call. */
export const open = root.use((asked, input) => enforce(asked, input, () => asked.next()))

/** Implements a procedure that knows its caller, and applies `Idempotency-Key` and `If-Match` where they are sent. */
export const signedIn = root.use((asked, input) =>
  enforce(asked, input, (identity) => {
    const { context, procedure, path, next } = asked
    if (!identity) throw new Error(`${path.join('.')} needs a caller, but its contract lets anyone in`)
    const { meta, outputSchema } = procedure['~orpc']
    const { creates, changes } = meta
    const proceed = (own?: Partial<Context>) => next<Caller>({ context: { ...identity, ...own } })
    if (creates && context.headers['idempotency-key'] !== undefined)
      return once(context, identity, { path, input, outputSchema }, proceed)
    if (changes && context.headers['if-match'] !== undefined)
      return whereMatched(context, identity, { thing: changes, input }, proceed)
    return proceed()
  }),
)
