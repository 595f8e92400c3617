import type { ServerResponse } from 'node:http'
import { z } from 'zod'

import type { Services } from '../context.ts'
import { FetchRefused } from '../identity/client-documents.ts'
import { type AuthorizationRequest, type Grants, OAuthError } from '../identity/grants.ts'
import { networkOf } from '../guard/rate-limits.ts'
import { emailPage, codePage, consentPage, contentSecurityPolicy, errorPage } from '../views/account.ts'
import { callAuth } from './auth.ts'
import { answer, type Call, type Protocol } from './protocol.ts'

const field = z.string().catch('')
const Form = z.object({ action: field, email: field, otp: field })

/**
 * Creates the pages on which a person signs in and grants access to an app. The pages need no scripts. The URL of every
 * page contains the authorization request as its query. Every HTTP request validates the authorization request again.
 */
export function createAuthorize(services: Services, grants: Grants): Protocol {
  /** The actions of the buttons on the pages. The key is the value of the form field `action`. */
  const actions: Record<
    string,
    (call: Call, form: z.infer<typeof Form>, authorization: AuthorizationRequest) => Promise<Outcome>
  > = {
    send: async (call, { email }) => {
      const sent = await callAuth(services, call, '/email-otp/send-verification-otp', {
        email,
        type: 'sign-in',
      })
      return { html: sent.ok ? codePage(email) : emailPage(sent.problem) }
    },
    'sign-in': async (call, { email, otp }) => {
      const entered = await callAuth(services, call, '/sign-in/email-otp', { email, otp })
      if (!entered.ok) return { html: codePage(email, entered.problem) }
      const { pathname, search } = call.url()
      return { location: pathname + search, cookies: entered.cookies }
    },
    allow: async (call, _, authorization) => {
      const caller = await findPerson(call)
      if (!caller) return { html: emailPage() }
      const exceeded = await services.consumeRateLimit('grants', caller.user.id)
      if (exceeded) return { html: errorPage(exceeded.error.message) }
      return { location: await grants.issueCode(caller, authorization) }
    },
    deny: async (call, _, authorization) =>
      (await findPerson(call))
        ? { location: grants.authorizationResponse(authorization, { error: 'access_denied' }) }
        : { html: emailPage() },
  }

  return async (call, response) => {
    const { method, url, context } = call
    if (method === 'POST' && !isOwnPage(call, services.settings.baseUrl))
      return showProblem(response, 403, 'Another page sent this form. Start again in the app.')
    const parameters = url().searchParams
    // Parameters must not be repeated (RFC 6749, section 3.1).
    if (new Set(parameters.keys()).size < parameters.size || context.malformed)
      return showProblem(response, 400, 'The request repeats a parameter, or cannot be read.')
    const query = Object.fromEntries(parameters)
    try {
      const target = await grants.findRedirectTarget(query, networkOf(context.address?.()))
      return target
        ? await respond(call, response, target, query)
        : showProblem(response, 400, 'The app that sent you here is not known, or not at this address.')
    } catch (error) {
      if (!(error instanceof FetchRefused)) throw error
      for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value)
      return showProblem(response, error.status, error.message)
    }
  }

  async function respond(
    call: Call,
    response: ServerResponse,
    target: Pick<AuthorizationRequest, 'client' | 'redirectUri'>,
    query: Record<string, string>,
  ) {
    const form = Form.parse(call.method === 'POST' ? (call.body ?? {}) : {})
    try {
      const authorization = { ...target, ...grants.parseAuthorizationRequest(query) }
      const action = new Map(Object.entries(actions)).get(form.action)
      const outcome = action ? await action(call, form, authorization) : await showStart(call, authorization)
      return 'html' in outcome
        ? show(response, 200, outcome.html, originOf(authorization.redirectUri))
        : redirect(response, outcome.location, outcome.cookies)
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      const { code, message } = error
      // Prevents an open redirect (RFC 9700, section 4.11.2): an attacker can register an app, and publish a link to
      // this service with an invalid request. Therefore, the service redirects with the error only to an app in
      // OAUTH_CLIENTS, or if a signed-in person has allowed the access. Otherwise, the service shows the error.
      const isAgreed = form.action === 'allow' && (await findPerson(call)) !== undefined
      if (!target.client.trusted && !isAgreed)
        return showProblem(response, 400, `The app sent a request that is not allowed: ${code} (${message})`)
      const outcome = { error: code, error_description: message }
      return redirect(response, grants.authorizationResponse({ ...target, state: query.state }, outcome))
    }
  }
}

/**
 * Returns whether a page of this service sent the form. TRUSTED_ORIGINS is ignored, because pages of those origins must
 * not grant access to an app.
 */
function isOwnPage({ request: { headers } }: Call, baseUrl: string) {
  const { origin = baseUrl, 'sec-fetch-site': site } = headers
  return site === undefined ? origin === baseUrl : site === 'same-origin' || site === 'none'
}

type Outcome = { html: string } | { location: string; cookies?: string[] }

/** Shows the consent page to a signed-in person, otherwise the sign-in page. */
async function showStart(call: Call, { client, redirectUri, scope }: AuthorizationRequest): Promise<Outcome> {
  const caller = await findPerson(call)
  return { html: caller ? consentPage(client, redirectUri, scope, caller.user.email) : emailPage() }
}

/**
 * Returns the signed-in person. Returns undefined for apps and for administrators during an impersonation, because
 * neither may grant access.
 */
async function findPerson({ context }: Call) {
  const caller = await context.caller()
  return caller?.scopes || caller?.session.impersonatedBy ? undefined : caller
}

const originOf = (uri: string) => {
  const { protocol, origin, hostname } = new URL(uri)
  // A content security policy cannot contain an opaque origin or an IPv6 address. The policy then contains only the
  // scheme of the redirect URI.
  return origin === 'null' || hostname.startsWith('[') ? protocol : origin
}

function show(response: ServerResponse, status: number, html: string, redirectTarget?: string) {
  response.setHeader('content-security-policy', contentSecurityPolicy(redirectTarget))
  // With the default policy `no-referrer`, browsers send `Origin: null` with forms. `isOwnPage` needs the real origin
  // if the service uses plain HTTP, because browsers send `Sec-Fetch-Site` only to secure origins.
  response.setHeader('referrer-policy', 'same-origin')
  return answer(response, status, html, 'text/html; charset=utf-8')
}

const showProblem = (response: ServerResponse, status: number, problem: string) =>
  show(response, status, errorPage(problem))

function redirect(response: ServerResponse, location: string, cookies: string[] = []) {
  if (cookies.length > 0) response.appendHeader('set-cookie', cookies)
  response.writeHead(303, { location }).end()
  return true
}
