import { ORPCError } from '@orpc/client'
import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import { badRequest } from 'tallystick-contract/internal'

import type { Caller } from '../../call/caller.ts'
import { signOut } from '../../guard/authentication.ts'
import { withAuditContext } from '../../identity/audit-context.ts'
import type { Settings } from '../../settings/settings.ts'
import { ADDRESS_HEADER } from '../../identity/better-auth.ts'
import { networkOf } from '../../guard/networks.ts'
import { isLoopback } from '../../settings/loopback.ts'
import { rateLimits } from '../../app/rate-limits.ts'
import { consumeSignInLimits } from '../../guard/rate-limiter.ts'
import { GET_SESSION, type Operation, operations, SEND_CODE, SIGN_IN, STOP } from './auth-operations.ts'
import type { BuiltInEndpoint, BuiltInEndpoints } from './endpoints.ts'
import { limitProblem, redirect } from './page-answers.ts'
import { providerOperations } from './provider-operations.ts'
import type { ProviderName } from '../../app/sign-in.ts'
import type { Call } from '../server/protocol.ts'
import { sendBody, sendError, sendLimitRefusal, setReplyHeaders } from '../server/send.ts'

const PREFIX = '/api/auth'

/** Tells the sign-in page where the code is if the service sends no e-mails. The value is percent-encoded. */
const OUTBOX_HEADER = 'outbox'

/** Tells the sign-in page the providers. The value is percent-encoded JSON. */
const PROVIDERS_HEADER = 'sign-in-providers'

/**
 * Creates the endpoints for sign-in, sign-out and administration. better-auth performs the operations. Errors have the
 * error body of the service.
 */
export function createAuthEndpoints(
  settings: Settings,
  providers: readonly ProviderName[] = [],
): BuiltInEndpoints {
  const all = { ...operations, ...providerOperations(providers) }
  return Object.fromEntries(
    Object.entries(all).map(([path, operation]) => [
      PREFIX + path,
      {
        methods: [operation.method],
        answer: (call, response) => {
          if (path === GET_SESSION && providers.length > 0)
            response.setHeader(PROVIDERS_HEADER, encodeURIComponent(JSON.stringify(providers)))
          return handle(call, response, operation, settings)
        },
      } satisfies BuiltInEndpoint,
    ]),
  )
}

async function handle(call: Call, response: ServerResponse, operation: Operation, settings: Settings) {
  const { method, context } = call
  const caller = await callerOf(operation, context)
  const refusal = refusalOf(operation, caller) ?? context.malformed
  if (refusal) {
    // This call stops an impersonation that has already ended. Deletes the cookies of the impersonation in the browser.
    if (operation === operations[STOP] && refusal.status === 401 && !(await context.cookieCaller()))
      await signOut(context)
    setReplyHeaders(response, context.reply)
    return sendError(response, refusal)
  }
  const given = method === 'GET' ? queryOf(call.url()) : (call.body ?? {})
  const { success, data, error } = operation.input.safeParse(given)
  if (!success) return sendError(response, badRequest(error.issues))

  const exceeded = await consumeLimit(settings, context, operation, data)
  if (exceeded) return sendLimitRefusal(response, exceeded)

  const result = await sendToBetterAuth(authRequest(call, operation, data, settings.baseUrl), context)
  setReplyHeaders(response, context.reply)
  for (const cookie of result.headers.getSetCookie()) response.appendHeader('set-cookie', cookie)
  const location = result.headers.get('location')
  if (location !== null) return redirect(response, location)
  if (operation === operations[SEND_CODE] && settings.smtpUrl === undefined)
    response.setHeader(OUTBOX_HEADER, encodeURI(settings.outbox))
  // If the guard finds no caller, answers null instead of the session from better-auth, because better-auth does not
  // apply every rule of the guard.
  const body = operation === operations[GET_SESSION] && !caller ? 'null' : await result.text()
  if (result.ok) return sendBody(response, result.status, body || 'null')
  const failure = errorOf(result.status, body)
  if (failure.status >= 500)
    context.log.error(
      { operation: call.path, req: { id: context.requestId } },
      'an operation of better-auth failed',
    )
  return sendError(response, failure)
}

/** Calls an operation for a page of /authorize. Returns the cookies to set, or the problem to show. */
export async function callAuth(
  settings: Settings,
  call: Call,
  path: string,
  input: object,
  operation = operations[path],
) {
  const parsed = operation?.input.safeParse(input)
  if (!operation || !parsed?.success) {
    const isCode = parsed?.error?.issues[0]?.path[0] === 'otp'
    return { ok: false, problem: { code: isCode ? 'INVALID_OTP' : 'INVALID_EMAIL' } } as const
  }
  const exceeded = await consumeLimit(settings, call.context, operation, parsed.data)
  if (exceeded) return { ok: false, problem: limitProblem(exceeded.headers), exceeded } as const
  const target = new URL(PREFIX + path, settings.baseUrl)
  const request = authRequest({ ...call, url: () => target }, operation, parsed.data, settings.baseUrl)
  const result = await sendToBetterAuth(request, call.context)
  const body = await result.text()
  if (result.ok) return { ok: true, cookies: result.headers.getSetCookie(), body } as const
  return { ok: false, problem: { code: errorOf(result.status, body).code } } as const
}

/** Sends a request to better-auth, and records whether a sign-in attempt succeeded. */
async function sendToBetterAuth(request: Request, context: Call['context']) {
  const result = await withAuditContext(context, () => context.identity.handle(request))
  if (request.url.endsWith(SIGN_IN) && result.status < 500) context.attributes.signedIn = result.ok
  return result
}

/** The numbers of LIMITS that also apply to requests from the machine of the service. */
const CODE_LIMITS = ['codesByAddress', 'codesByBoth', 'codes']

/**
 * Returns whether a developer calls a service that only this machine can reach. Such calls for codes have no limit, so that
 * trials can sign in often. A call through a proxy that TRUSTED_PROXIES does not name can come from another machine.
 */
function isDeveloper(
  { isLocal, limitPoints, trustedProxies }: Settings,
  { headers }: Call['context'],
  ipAddress = '',
) {
  if (!isLocal || !isLoopback(ipAddress) || CODE_LIMITS.some((name) => name in limitPoints)) return false
  return headers['x-forwarded-for'] === undefined || trustedProxies.length > 0
}

function consumeLimit(
  settings: Settings,
  context: Call['context'],
  { limit }: Operation,
  { email }: Record<string, unknown>,
) {
  const ipAddress = context.ipAddress?.()
  if (limit === 'codes' && isDeveloper(settings, context, ipAddress)) return undefined
  const network = networkOf(ipAddress)
  return limit
    ? consumeSignInLimits(context, limit, String(email), network)
    : context.consumeRateLimit(rateLimits.auth, network)
}

/**
 * Returns the caller of an operation. Public operations ignore credentials. `session` operations read only the cookie,
 * because better-auth reads only the cookie. `cookieCaller` also renews the session if renewal is due.
 */
function callerOf({ access }: Operation, { caller, cookieCaller }: Call['context']) {
  if (access === 'public' || access === 'state') return undefined
  return access === 'session' ? cookieCaller() : caller()
}

/**
 * Checks whether the caller may use an operation. Returns the error (401 or 403), or undefined if access is allowed.
 */
function refusalOf({ access }: Operation, caller: Caller | undefined) {
  if (access === 'public' || access === 'state' || access === 'session') return undefined
  if (!caller) return new ORPCError('UNAUTHORIZED', { message: 'Sign in first' })
  if (caller.scopes) return new ORPCError('FORBIDDEN', { message: 'An app may not do this' })
  if (access === 'admin' && caller.user.role !== 'admin')
    return new ORPCError('FORBIDDEN', { message: 'Only an administrator may do this' })
  return undefined
}

/**
 * Creates the request for better-auth. Includes cookies unless the operation is public. Sets `Origin` to the origin of
 * the service, so that better-auth accepts the request: engine/http/server/request.ts has already checked the origin of the
 * caller.
 */
function authRequest(
  { url, context, request }: Call,
  { method, access }: Operation,
  input: object,
  baseUrl: string,
) {
  const target = new URL(url().pathname, baseUrl)
  if (method === 'GET')
    for (const [name, value] of Object.entries(input))
      for (const item of [value].flat()) target.searchParams.append(name, String(item))
  const headers = new Headers({ origin: baseUrl, 'content-type': 'application/json' })
  // `Accept-Language` selects the language of the e-mail with the sign-in code.
  const passed = ['user-agent', 'accept-language', ...(access === 'public' ? [] : ['cookie'])]
  for (const name of passed) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  const ipAddress = context.ipAddress?.()
  if (ipAddress !== undefined) headers.set(ADDRESS_HEADER, ipAddress)
  return new Request(target, { method, headers, ...(method === 'POST' && { body: JSON.stringify(input) }) })
}

/** Returns the parameters of a query. The value of a repeated parameter is a list. */
function queryOf({ searchParams }: URL) {
  const values = (name: string) => searchParams.getAll(name)
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => [
      name,
      values(name).length > 1 ? values(name) : values(name)[0],
    ]),
  )
}

const Failure = z.object({ code: z.string().optional(), message: z.string().optional() })

/** Converts an error of better-auth to the error body of the service. Messages of internal errors are not exposed. */
function errorOf(status: number, body: string) {
  if (status >= 500) return new ORPCError('INTERNAL_SERVER_ERROR')
  const { code, message } = Failure.safeParse(parse(body)).data ?? {}
  // All providers of the input are declared: better-auth could not fetch the metadata of this one.
  if (code === 'PROVIDER_NOT_FOUND')
    return new ORPCError('PROVIDER_FAILED', { status: 503, message: 'The provider does not answer' })
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
