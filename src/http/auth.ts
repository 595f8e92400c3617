import { ORPCError } from '@orpc/client'
import { z } from 'zod'

import { text } from '../../contract/base.ts'
import { badRequest } from '../../contract/errors.ts'
import type { Caller, Services } from '../context.ts'
import { signOut } from '../guard/authentication.ts'
import { withSource } from '../telemetry/audit.ts'
import { ADDRESS_HEADER } from '../identity/auth.ts'
import { networkOf, consumeSignInLimits } from '../guard/rate-limits.ts'
import { answer, type Call, refuse, refuseBy, refuseMethod, sendReply, type Transport } from './protocol.ts'

const PREFIX = '/api/auth'
const GET_SESSION = '/get-session'
const SIGN_IN = '/sign-in/email-otp'
const STOP = '/admin/stop-impersonating'

const Email = z.email().max(254)
const Id = z.object({ id: text({ min: 1, max: 64 }) })
const UserId = z.object({ userId: text({ min: 1, max: 64 }) })
const Role = z.enum(['user', 'admin'])
const Name = text({ max: 120 })
const Whole = z.string().regex(/^\d{1,9}$/, 'Must be a whole number')
const Column = z.enum(['id', 'name', 'email', 'role', 'createdAt', 'updatedAt'])
const TEN_YEARS = 10 * 365 * 24 * 3600

const Nothing = z.object({})
const UserQuery = z.object({
  limit: Whole.optional(),
  offset: Whole.optional(),
  sortBy: Column.optional(),
  sortDirection: z.enum(['asc', 'desc']).optional(),
  searchField: z.enum(['email', 'name']).optional(),
  searchOperator: z.enum(['contains', 'starts_with', 'ends_with']).optional(),
  searchValue: text({ max: 254 }).optional(),
})

interface Operation {
  method: 'GET' | 'POST'
  /** `session`: about the session of the cookie, if there is one. */
  access: 'open' | 'session' | 'signedIn' | 'admin'
  /** The query of a GET, the body of a POST. */
  input: z.ZodType<Record<string, unknown>>
  /** Counted by address, then by account. Other operations are counted by address alone. */
  limit?: 'codes' | 'tries'
}
const operation =
  (method: Operation['method']) =>
  (
    access: Operation['access'],
    input: Operation['input'] = Nothing,
    limit?: Operation['limit'],
  ): Operation => ({
    method,
    access,
    input,
    limit,
  })
const get = operation('GET')
const post = operation('POST')

/** The part of better-auth that is reachable, and all that each operation takes. */
export const operations: Record<string, Operation> = {
  '/email-otp/send-verification-otp': post(
    'open',
    z.object({ email: Email, type: z.literal('sign-in') }),
    'codes',
  ),
  [SIGN_IN]: post('open', z.object({ email: Email, otp: text({ min: 1, max: 16 }) }), 'tries'),
  '/sign-out': post('session'),
  [GET_SESSION]: get('session'),
  '/update-user': post('signedIn', z.object({ name: Name })),
  '/admin/list-users': get('admin', UserQuery),
  '/admin/get-user': get('admin', Id),
  '/admin/create-user': post('admin', z.object({ email: Email, name: Name, role: Role.optional() })),
  '/admin/update-user': post('admin', UserId.extend({ data: z.object({ name: Name }) })),
  '/admin/set-role': post('admin', UserId.extend({ role: Role })),
  '/admin/ban-user': post(
    'admin',
    UserId.extend({ banReason: Name.optional(), banExpiresIn: z.int().min(1).max(TEN_YEARS).optional() }),
  ),
  '/admin/unban-user': post('admin', UserId),
  '/admin/list-user-sessions': post('admin', UserId),
  '/admin/revoke-user-session': post('admin', z.object({ sessionToken: text({ min: 1, max: 64 }) })),
  '/admin/revoke-user-sessions': post('admin', UserId),
  '/admin/impersonate-user': post('admin', UserId),
  [STOP]: post('signedIn'),
  '/admin/remove-user': post('admin', UserId),
}

/** Sign-in, sign-out and the administrative area, by better-auth; its answers, in the shape of all others. */
export function createAuthTransport({ settings: { baseUrl } }: Services): Transport {
  return async (call, response) => {
    const { method, context } = call
    const url = call.url()
    if (!url.pathname.startsWith(`${PREFIX}/`)) return false
    const operation = operations[url.pathname.slice(PREFIX.length)]
    if (!operation) return false
    if (method !== operation.method) return refuseMethod(response, [operation.method])
    context.attributes.operation = url.pathname

    const caller = await callerOf(operation, context)
    const refusal = refusalOf(operation, caller) ?? context.malformed
    if (refusal) {
      // An impersonation that has ended already: the browser must not keep its cookies.
      if (operation === operations[STOP] && refusal.status === 401 && !(await context.cookieCaller()))
        await signOut(context)
      sendReply(response, context.reply)
      return refuse(response, refusal)
    }
    const given = method === 'GET' ? Object.fromEntries(url.searchParams) : (call.body ?? {})
    const { success, data, error } = operation.input.safeParse(given)
    if (!success) return refuse(response, badRequest(error.issues))

    const exceeded = await spendOn(context, operation, data)
    if (exceeded) return refuseBy(response, exceeded)

    const result = await ask(authRequest(call, operation, data, baseUrl), context)
    sendReply(response, context.reply)
    for (const cookie of result.headers.getSetCookie()) response.appendHeader('set-cookie', cookie)
    // better-auth does not know why the guard refuses a session, such as a ban.
    const body = operation === operations[GET_SESSION] && !caller ? 'null' : await result.text()
    if (result.ok) return answer(response, result.status, body || 'null')
    const failure = errorOf(result.status, body)
    if (failure.status >= 500)
      context.log.error({ operation: url.pathname }, 'an operation of better-auth failed')
    return refuse(response, failure)
  }
}

/** Asks better-auth on behalf of one of our own pages. */
export async function askAuth({ settings }: Services, call: Call, path: string, input: object) {
  const operation = operations[path]
  const checked = operation?.input.safeParse(input)
  if (!operation || !checked?.success)
    return { ok: false, problem: 'That is no address, or no code.' } as const
  const exceeded = await spendOn(call.context, operation, checked.data)
  if (exceeded) return { ok: false, problem: exceeded.error.message } as const
  const target = new URL(PREFIX + path, settings.baseUrl)
  const request = authRequest({ ...call, url: () => target }, operation, checked.data, settings.baseUrl)
  const result = await ask(request, call.context)
  if (result.ok) return { ok: true, cookies: result.headers.getSetCookie() } as const
  return { ok: false, problem: errorOf(result.status, await result.text()).message } as const
}

/** What came of a sign-in is noted. */
async function ask(request: Request, context: Call['context']) {
  const result = await withSource(context, () => context.identity.handle(request))
  if (request.url.endsWith(SIGN_IN) && result.status < 500) context.attributes.signedIn = result.ok
  return result
}

function spendOn(context: Call['context'], { limit }: Operation, { email }: Record<string, unknown>) {
  const network = networkOf(context.address?.())
  return limit
    ? consumeSignInLimits(context, limit, String(email), network)
    : context.consumeRateLimit('auth', network)
}

/** Open operations look at no credentials. `session` ones look at the cookie alone, as better-auth does: this renews it. */
function callerOf({ access }: Operation, { caller, cookieCaller }: Call['context']) {
  if (access === 'open') return undefined
  return access === 'session' ? cookieCaller() : caller()
}

/** 401, then 403, then a body that could not be read, as everywhere. */
function refusalOf({ access }: Operation, caller: Caller | undefined) {
  if (access === 'open' || access === 'session') return undefined
  if (!caller) return new ORPCError('UNAUTHORIZED', { message: 'Sign in first' })
  if (caller.scopes) return new ORPCError('FORBIDDEN', { message: 'An app may not do this' })
  if (access === 'admin' && caller.user.role !== 'admin')
    return new ORPCError('FORBIDDEN', { message: 'Only an administrator may do this' })
  return undefined
}

/** The request for better-auth, with the cookies only where they count. The origin has been checked before. */
function authRequest(
  { url, context, request }: Call,
  { method, access }: Operation,
  input: object,
  baseUrl: string,
) {
  const target = new URL(url().pathname, baseUrl)
  if (method === 'GET')
    for (const [name, value] of Object.entries(input)) target.searchParams.set(name, String(value))
  const headers = new Headers({ origin: baseUrl, 'content-type': 'application/json' })
  for (const name of access === 'open' ? (['user-agent'] as const) : (['cookie', 'user-agent'] as const))
    if (request.headers[name] !== undefined) headers.set(name, request.headers[name])
  const address = context.address?.()
  if (address !== undefined) headers.set(ADDRESS_HEADER, address)
  return new Request(target, { method, headers, ...(method === 'POST' && { body: JSON.stringify(input) }) })
}

const Failure = z.object({ code: z.string().optional(), message: z.string().optional() })

/** better-auth's refusal as one of ours. What it says of its own failures stays inside. */
function errorOf(status: number, body: string) {
  if (status >= 500) return new ORPCError('INTERNAL_SERVER_ERROR')
  const { code, message } = Failure.safeParse(parse(body)).data ?? {}
  return new ORPCError(code ?? CODES[status] ?? 'BAD_REQUEST', { status, ...(message && { message }) })
}

const CODES: Record<number, string> = {
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
