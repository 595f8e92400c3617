import type { ServerResponse } from 'node:http'
import { z } from 'zod'

import type { Parts } from '../access.ts'
import { type Asked, type Grants, OAuthError } from '../grants.ts'
import { protectPage } from '../head.ts'
import { addressPage, codePage, consentPage, policy, problemPage } from '../views/account.ts'
import { askAuth } from './auth.ts'
import { answer, type Call, refuseMethod, type Transport } from './transport.ts'

const Form = z.object({
  action: z.string().optional(),
  email: z.string().default(''),
  otp: z.string().default(''),
})

/**
 * The pages on which a person signs in and lets an app in. The request stays in the address, which is checked anew at
 * every step; the pages need no scripts.
 */
export function createAuthorize(parts: Parts, grants: Grants): Transport {
  /** Each button of the pages. Answers where to go, or what to show. */
  const actions: Record<string, (call: Call, form: z.infer<typeof Form>, asked: Asked) => Promise<Outcome>> =
    {
      send: async (call, { email }) => {
        const sent = await askAuth(parts, call, '/email-otp/send-verification-otp', {
          email,
          type: 'sign-in',
        })
        return { html: sent.ok ? codePage(email) : addressPage(sent.problem) }
      },
      'sign-in': async (call, { email, otp }) => {
        const entered = await askAuth(parts, call, '/sign-in/email-otp', { email, otp })
        if (!entered.ok) return { html: codePage(email, entered.problem) }
        const { pathname, search } = call.url()
        return { location: pathname + search, cookies: entered.cookies }
      },
      allow: async (call, _, asked) => {
        const caller = await personOf(call)
        if (!caller) return { html: addressPage() }
        const exceeded = await parts.spend('grants', caller.user.id)
        if (exceeded) return { html: problemPage(exceeded.error.message) }
        return { location: await grants.consent(caller, asked) }
      },
      deny: (_, __, asked) =>
        Promise.resolve({ location: grants.answerTo(asked, { error: 'access_denied' }) }),
    }

  return async (call, response) => {
    protectPage(response)
    if (call.method !== 'GET' && call.method !== 'POST') return refuseMethod(response, ['GET', 'POST'])
    const query = Object.fromEntries(call.url().searchParams)
    const asker = await grants.findAsker(query)
    if (!asker)
      return show(
        response,
        400,
        problemPage('The app that sent you here is not known, or not at this address.'),
      )
    try {
      const asked = { ...asker, ...grants.check(query) }
      const form = Form.parse(call.body ?? {})
      const action = new Map(Object.entries(actions)).get(form.action ?? '')
      const outcome =
        call.method === 'POST' && action ? await action(call, form, asked) : await ask(call, asked)
      return 'html' in outcome
        ? show(response, 200, outcome.html, originOf(asked.redirectUri))
        : lead(response, outcome.location, outcome.cookies)
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      const { code, message } = error
      const outcome = { error: code, error_description: message }
      return lead(response, grants.answerTo({ ...asker, state: query.state }, outcome))
    }
  }
}

type Outcome = { html: string } | { location: string; cookies?: string[] }

/** Whoever is signed in is asked; anybody else signs in first. */
async function ask(call: Call, { client, redirectUri, scope }: Asked): Promise<Outcome> {
  const caller = await personOf(call)
  return { html: caller ? consentPage(client.name, redirectUri, scope, caller.user.email) : addressPage() }
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
  response.setHeader('content-security-policy', policy(leadsTo))
  // So that a browser says whose page a form stood on, over plain http too.
  response.setHeader('referrer-policy', 'same-origin')
  return answer(response, status, html, 'text/html; charset=utf-8')
}

function lead(response: ServerResponse, location: string, cookies: string[] = []) {
  if (cookies.length > 0) response.appendHeader('set-cookie', cookies)
  response.writeHead(303, { location }).end()
  return true
}
