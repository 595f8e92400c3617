import type { ServerResponse } from 'node:http'
import { z } from 'zod'

import type { Services } from '../context.ts'

import { type Asked, FetchRefused, type Grants, OAuthError } from '../identity/grants.ts'
import { protectPage } from './response-headers.ts'
import { networkOf } from '../guard/rate-limits.ts'
import { emailPage, codePage, consentPage, contentSecurityPolicy, errorPage } from '../views/account.ts'
import { askAuth } from './auth.ts'
import { answer, type Call, refuseMethod, type Transport } from './protocol.ts'

const field = z.string().catch('')
const Form = z.object({ action: field, email: field, otp: field })

/**
 * The pages on which a person signs in and lets an app in. The request stays in the address, which is checked anew at
 * every step; the pages need no scripts.
 */
export function createAuthorize(services: Services, grants: Grants): Transport {
  /** Each button of the pages. Answers where to go, or what to show. */
  const actions: Record<string, (call: Call, form: z.infer<typeof Form>, asked: Asked) => Promise<Outcome>> =
    {
      send: async (call, { email }) => {
        const sent = await askAuth(services, call, '/email-otp/send-verification-otp', {
          email,
          type: 'sign-in',
        })
        return { html: sent.ok ? codePage(email) : emailPage(sent.problem) }
      },
      'sign-in': async (call, { email, otp }) => {
        const entered = await askAuth(services, call, '/sign-in/email-otp', { email, otp })
        if (!entered.ok) return { html: codePage(email, entered.problem) }
        const { pathname, search } = call.url()
        return { location: pathname + search, cookies: entered.cookies }
      },
      allow: async (call, _, asked) => {
        const caller = await personOf(call)
        if (!caller) return { html: emailPage() }
        const exceeded = await services.consumeRateLimit('grants', caller.user.id)
        if (exceeded) return { html: errorPage(exceeded.error.message) }
        return { location: await grants.consent(caller, asked) }
      },
      deny: async (call, _, asked) =>
        (await personOf(call))
          ? { location: grants.answerTo(asked, { error: 'access_denied' }) }
          : { html: emailPage() },
    }

  return async (call, response) => {
    const { method, url, context } = call
    protectPage(response)
    if (method !== 'GET' && method !== 'POST') return refuseMethod(response, ['GET', 'POST'])
    if (method === 'POST' && !isOwnPage(call, services.settings.baseUrl))
      return showProblem(response, 403, 'Another page sent this form. Start again in the app.')
    const parameters = url().searchParams
    // RFC 6749, section 3.1.
    if (new Set(parameters.keys()).size < parameters.size || context.malformed)
      return showProblem(response, 400, 'The request repeats a parameter, or cannot be read.')
    const query = Object.fromEntries(parameters)
    try {
      const asker = await grants.findAsker(query, networkOf(context.address?.()))
      return asker
        ? await respond(call, response, asker, query)
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
    asker: Pick<Asked, 'client' | 'redirectUri'>,
    query: Record<string, string>,
  ) {
    const form = Form.parse(call.method === 'POST' ? (call.body ?? {}) : {})
    try {
      const asked = { ...asker, ...grants.check(query) }
      const action = new Map(Object.entries(actions)).get(form.action)
      const outcome = action ? await action(call, form, asked) : await ask(call, asked)
      return 'html' in outcome
        ? show(response, 200, outcome.html, originOf(asked.redirectUri))
        : lead(response, outcome.location, outcome.cookies)
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      const { code, message } = error
      // Anyone can register an app and link to a faulty request: a redirect would lead from here to any site, although
      // nobody signed in and agreed (RFC 9700, section 4.11.2).
      const isAgreed = form.action === 'allow' && (await personOf(call)) !== undefined
      if (!asker.client.trusted && !isAgreed)
        return showProblem(response, 400, `The app sent a request that is not allowed: ${code} (${message})`)
      const outcome = { error: code, error_description: message }
      return lead(response, grants.answerTo({ ...asker, state: query.state }, outcome))
    }
  }
}

/** A trusted origin may call the API with a person's cookie, but only the own page may let an app in. */
function isOwnPage({ request: { headers } }: Call, baseUrl: string) {
  const { origin = baseUrl, 'sec-fetch-site': site } = headers
  return site === undefined ? origin === baseUrl : site === 'same-origin' || site === 'none'
}

type Outcome = { html: string } | { location: string; cookies?: string[] }

/** Whoever is signed in is asked; anybody else signs in first. */
async function ask(call: Call, { client, redirectUri, scope }: Asked): Promise<Outcome> {
  const caller = await personOf(call)
  return { html: caller ? consentPage(client, redirectUri, scope, caller.user.email) : emailPage() }
}

/** Only a person can let an app in, in their own name: an app cannot let in another, or itself to more. */
async function personOf({ context }: Call) {
  const caller = await context.caller()
  return caller?.scopes || caller?.session.impersonatedBy ? undefined : caller
}

const originOf = (uri: string) => {
  const { protocol, origin, hostname } = new URL(uri)
  // A policy can name neither a scheme's own nowhere, nor an IPv6 address.
  return origin === 'null' || hostname.startsWith('[') ? protocol : origin
}

function show(response: ServerResponse, status: number, html: string, leadsTo?: string) {
  response.setHeader('content-security-policy', contentSecurityPolicy(leadsTo))
  // So that a browser says whose page a form stood on, over plain http too.
  response.setHeader('referrer-policy', 'same-origin')
  return answer(response, status, html, 'text/html; charset=utf-8')
}

const showProblem = (response: ServerResponse, status: number, problem: string) =>
  show(response, status, errorPage(problem))

function lead(response: ServerResponse, location: string, cookies: string[] = []) {
  if (cookies.length > 0) response.appendHeader('set-cookie', cookies)
  response.writeHead(303, { location }).end()
  return true
}
