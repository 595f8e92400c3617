import { z } from 'zod'

import type { Settings } from '../../settings/settings.ts'
import { UNNAMED } from '../../settings/oauth-clients.ts'
import { type RequestingApp, codePage, emailPage, providerAction, providerPage } from '../../html/account.ts'
import type { PageTranslator } from '../../html/page-translator.ts'
import { callAuth } from './better-auth.ts'
import type { ProviderName } from '../../app/sign-in.ts'
import type { Outcome } from './page-answers.ts'
import { providerOperations, START } from './provider-operations.ts'
import type { Call } from '../server/protocol.ts'

/** The problems of a sign-in by a provider. */
const PROBLEMS = ['BANNED_USER', 'NOT_CONNECTED', 'PROVIDER_FAILED', 'UNVERIFIED_ADDRESS']

export const field = z.string().catch('')

/** The fields of the sign-in pages. The page that asks for the e-mail address has no field `otp`. */
export const signInFields = { action: field, email: field, otp: z.string().optional().catch(undefined) }

export interface SignIn {
  call: Call
  form: { email: string; otp?: string | undefined }
  /** The app that requests access. Absent if the app runs on another device. */
  app?: RequestingApp
  translator: PageTranslator
}

/**
 * The actions of the buttons on the sign-in pages, which need no scripts. The key is the value of the form field
 * `action`.
 */
export const createSignInActions = (
  settings: Settings,
  providers: readonly ProviderName[],
): Record<string, (signIn: SignIn) => Promise<Outcome>> => ({
  ...Object.fromEntries(
    providers.map((provider) => [
      providerAction(provider),
      (signIn: SignIn) => startAtProvider(settings, provider, signIn),
    ]),
  ),
  send: async ({ call, form: { email, otp }, app, translator }: SignIn): Promise<Outcome> => {
    const path = '/email-otp/send-verification-otp'
    const sent = await callAuth(settings, call, path, { email, type: 'sign-in' })
    if (sent.ok) return { html: codePage(translator, app, email) }
    const { problem, exceeded } = sent
    // The person may still have a valid code.
    const isCodePage = otp !== undefined && problem.code !== 'INVALID_EMAIL'
    const html = isCodePage ? codePage(translator, app, email, problem) : emailPage(translator, app, problem)
    return { html, exceeded }
  },
  'sign-in': async ({ call, form: { email, otp }, app, translator }: SignIn): Promise<Outcome> => {
    const entered = await callAuth(settings, call, '/sign-in/email-otp', { email, otp: otp ?? '' })
    if (!entered.ok) {
      const { problem, exceeded } = entered
      return { html: codePage(translator, app, email, problem), exceeded }
    }
    const { pathname, search } = call.url()
    return { location: pathname + search, cookies: entered.cookies }
  },
})

const StartAnswer = z.object({ url: z.url({ protocol: /^https?$/ }) })

/** Sends a person to a provider, which sends the person back to this page. */
async function startAtProvider(
  settings: Settings,
  provider: ProviderName,
  { call, app, translator }: SignIn,
): Promise<Outcome> {
  const { pathname, search } = call.url()
  const input = { provider: provider.id, callbackURL: pathname + search }
  const started = await callAuth(settings, call, START, input, providerOperations([provider])[START])
  if (!started.ok) {
    const { problem, exceeded } = started
    return { html: emailPage(translator, app, problem), exceeded }
  }
  const { url } = StartAnswer.parse(JSON.parse(started.body))
  return { html: providerPage(translator, provider, url), cookies: started.cookies, refresh: url }
}

/** Returns the problem that an answer of a provider has added to the address of the page. */
export const problemOf = (call: Call) => {
  const code = call.url().searchParams.get('error')
  return code !== null && PROBLEMS.includes(code) ? { code } : undefined
}

/** Shows the sign-in page to a person who submits another page without a session. */
export const showSignedOut = ({ app, translator }: Pick<SignIn, 'app' | 'translator'>): Outcome => ({
  html: emailPage(translator, app, { code: 'UNAUTHORIZED' }),
})

/**
 * Prevents cross-site request forgery: returns whether a page of this service sent the form. Also applies without a
 * cookie, because a page of an attacker must not sign a person in to the account of the attacker (login CSRF).
 * TRUSTED_ORIGINS is ignored, because pages of those origins must not grant access to an app.
 */
export function isOwnPage({ request: { headers } }: Call, baseUrl: string) {
  const { origin, 'sec-fetch-site': site } = headers
  // Browsers send `none` for an address that a person has entered, and older ones send no such header.
  if (site !== undefined && site !== 'none') return site === 'same-origin'
  return origin === undefined || origin === baseUrl
}

/**
 * Returns the signed-in person. Returns undefined for apps and for administrators during an impersonation, because
 * neither may grant access.
 */
export async function findPerson({ context }: Call) {
  const caller = await context.caller()
  return caller?.scopes || caller?.session.impersonatedBy ? undefined : caller
}

/** Returns the app with a name in the language of the page. */
export const nameApp = <Client extends RequestingApp>(client: Client, translator: PageTranslator) =>
  client.name === UNNAMED ? { ...client, name: translator.translate('unnamedApp') } : client
