import type { ErrorMap } from '@orpc/contract'
import { implement, ORPCError, ValidationError } from '@orpc/server'
import { isObject, type Promisable } from '@orpc/shared'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Logger } from 'pino'

import { type Action, type Meta, RowId } from '../contract/base.ts'
import { badRequest } from '../contract/errors.ts'
import { contract } from '../contract/index.ts'
import type { Database } from '../db/index.ts'
import * as notes from '../db/notes.ts'
import * as sessions from '../db/sessions.ts'
import * as tasks from '../db/tasks.ts'
import type { Auth, createTokenReader } from './auth.ts'
import { whereMatched } from './conditions.ts'
import { once } from './idempotency.ts'
import { isPersonal, networkOf, type Spend } from './limits.ts'
import type { Metrics } from './metrics.ts'
import { askingAuth, refusalOf } from './outages.ts'
import type { Settings } from './settings.ts'
import type { createVerifier } from './tokens.ts'
import { tracing } from './tracing.ts'

/** What the service is made of. */
export interface Parts {
  settings: Settings
  db: Database
  auth: Auth
  readToken: Awaited<ReturnType<typeof createTokenReader>>
  verifyToken: ReturnType<typeof createVerifier>
  log: Logger
  /** Whether the database answers. */
  isReachable: () => Promise<boolean>
  spend: Spend
  /** Where they are asked for. */
  metrics?: Metrics | undefined
  state: {
    /** Whether the process is about to end, and should be sent no more requests. */
    stopping: boolean
  }
}

/** Who calls, by which session; and, where an app calls for them, what that may do. */
export type Caller = NonNullable<Awaited<ReturnType<typeof sessions.findByToken>>> & { scopes?: string[] }

export type Reply = Map<string, string | string[]>

/** What the log and the figures say of a request: what was called, by whom, and whether a code that was tried was right. */
export interface Seen {
  operation?: string
  person?: string
  signedIn?: boolean
}

/** Known in full only once a request has been answered; nothing of one that was turned away at the door. */
export type SeenOf = (request: IncomingMessage) => Seen | undefined

/** What a procedure knows of the call it answers. */
export interface Context {
  db: Database
  auth: Auth
  settings: Settings
  log: Logger
  headers: IncomingHttpHeaders
  /** Headers of the answer, by name in lower case. */
  reply: Reply
  caller: () => Promise<Caller | undefined>
  spend: Spend
  seen: Seen
  /** The caller's address, if they call over a network, true through trusted proxies. */
  address?: () => string | undefined
  /** A body that could not be read: refused after the guard, so that a stranger learns nothing from it. */
  malformed?: ORPCError<'BAD_REQUEST', unknown>
}

interface Received extends Pick<Context, 'malformed' | 'address'>, Partial<Pick<Context, 'seen' | 'reply'>> {
  /** What a token must have been issued for to be taken: the service, unless told otherwise. */
  audience?: string
}

export function createContext(
  parts: Parts,
  headers: IncomingHttpHeaders,
  { audience, malformed, address, seen = {}, reply = new Map<string, string | string[]>() }: Received = {},
): Context {
  const { db, auth, settings, log } = parts
  let found: Promise<Caller | undefined> | undefined
  const identifyAny = async () => {
    const caller = await (headers.authorization === undefined
      ? identify(parts, headers.cookie, reply)
      : identifyApp(parts, headers.authorization, audience ?? settings.baseUrl))
    seen.person = caller?.user.id
    return caller
  }
  return {
    db,
    auth,
    settings,
    log,
    headers,
    reply,
    malformed,
    seen,
    address,
    spend: parts.spend,
    caller: () => (found ??= identifyAny()),
  }
}

const MINUTE = 60_000

async function identify({ auth, db, readToken, log }: Parts, cookie: string | undefined, reply: Reply) {
  const token = await readToken(cookie)
  const caller = token === undefined ? undefined : await sessions.findByToken(db, token)
  if (!caller || isBanned(caller.user)) return undefined
  const { session } = caller
  noteActivity(db, caller, log)
  if (session.impersonatedBy === null) await renew(auth, session.expiresAt, cookie, reply)
  return caller
}

function noteActivity(db: Database, { session, user }: Caller, log: Logger) {
  if (Date.now() - session.updatedAt.getTime() <= MINUTE) return
  sessions.touch(db, user.id, session.id).catch((error: unknown) => {
    log.error({ err: error }, 'activity could not be noted')
  })
}

/** An Authorization header alone decides who calls: a bad one never falls back to the cookie. */
async function identifyApp({ db, verifyToken, log }: Parts, authorization: string, audience: string) {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  const claims = token === undefined ? undefined : await verifyToken(token, audience)
  const caller = claims && (await sessions.findGrant(db, claims.properties.sessionId))
  if (!caller || isBanned(caller.user)) return undefined
  noteActivity(db, caller, log)
  return { ...caller, scopes: (caller.session.scope ?? '').split(' ') }
}

const isBanned = ({ banned, banExpires }: Caller['user']) =>
  banned === true && (banExpires === null || banExpires > new Date())

/** A session in use is prolonged by better-auth, once a day; the browser hears of it. */
async function renew(auth: Auth, expiresAt: Date, cookie = '', reply: Reply) {
  const { expiresIn, updateAge } = (await auth.$context).sessionConfig
  if (expiresAt.getTime() - (expiresIn - updateAge) * 1000 > Date.now()) return
  const request = { method: 'POST', headers: new Headers({ cookie }), returnHeaders: true } as const
  const { headers } = await askingAuth(() => auth.api.getSession(request))
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) reply.set('set-cookie', cookies)
}

/** Ends the session that the cookie stands for, and has the browser forget it. */
export async function signOut({ auth, headers: { cookie = '' }, reply }: Context) {
  const request = { headers: new Headers({ cookie }), returnHeaders: true } as const
  const { headers } = await askingAuth(() => auth.api.signOut(request))
  reply.set('set-cookie', headers.getSetCookie())
}

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

export const relationTo = ({ note, role }: notes.Seen, userId: string): Relation =>
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

/** Enforces what the contract declares, before the input is looked at: 401, then 404, then 403, then 400. */
async function admit(context: Context, { meta, errorMap }: Declared, input: unknown) {
  const refusal = (code: 'UNAUTHORIZED' | 'INSUFFICIENT_SCOPE' | 'NOT_FOUND' | 'FORBIDDEN') =>
    new ORPCError(code, { status: errorMap[code]?.status, message: errorMap[code]?.message ?? code })
  const { access, scope, inPerson, action, limit } = meta
  // A token that is none is refused even where nobody need show one.
  const shown = access !== 'open' || context.headers.authorization !== undefined
  const identity = shown ? await context.caller() : undefined
  if (shown && !identity) throw challenge(context, refusal('UNAUTHORIZED'))
  if (identity?.scopes && access !== 'open' && !(scope && identity.scopes.includes(scope)))
    throw challenge(context, refusal('INSUFFICIENT_SCOPE'), scope)
  if (inPerson && identity?.session.impersonatedBy !== null) throw refusal('FORBIDDEN')
  if (limit && context.settings.rateLimits) await spend(context, limit, identity)
  if (identity && action) {
    const id = isObject(input) ? input.id : undefined
    const relation = await subjects[action](context.db, identity.user, id)
    if (!relation) throw refusal('NOT_FOUND')
    if (!may(relation, action)) throw refusal('FORBIDDEN')
  }
  if (context.malformed) throw context.malformed
  return identity
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

/** The guard, and how errors leave, as one middleware: each that is put around a procedure costs a call some microseconds. */
async function enforce<Answer>(
  { context, procedure, path }: Asked,
  input: unknown,
  answer: (identity: Caller | undefined) => Promisable<Answer>,
) {
  const operation = path.join('.')
  context.seen.operation = operation
  const run = async () => answer(await admit(context, procedure['~orpc'], input))
  try {
    return await (tracing ? tracing.procedure(path, run) : run())
  } catch (error) {
    throw reported(error, context, operation)
  }
}

/** Implements a procedure that anyone may call. */
export const open = root.use((asked, input) => enforce(asked, input, () => asked.next()))

/** Implements a procedure that knows who calls, and heeds what they ask of a request that is sent again, or too late. */
export const signedIn = root.use((asked, input) =>
  enforce(asked, input, (identity) => {
    const { context, procedure, path, next } = asked
    if (!identity) throw new Error(`${path.join('.')} knows who calls, but its contract lets anyone in`)
    const { creates, changes } = procedure['~orpc'].meta
    const proceed = (own: Partial<Context>) => next<Caller>({ context: { ...identity, ...own } })
    if (creates && context.headers['idempotency-key'] !== undefined)
      return once(context, identity, { path, input }, proceed)
    if (changes && context.headers['if-match'] !== undefined)
      return whereMatched(context, identity, { thing: changes, input }, proceed)
    return next({ context: identity })
  }),
)
