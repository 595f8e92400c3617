import { z } from 'zod'
import { grantLimit } from 'tallystick-contract/internal'

import type { AuthorizationRequest, Grants } from '../../identity/grants.ts'
import { OAuthError } from '../../identity/oauth-error.ts'
import { networkOf } from '../../guard/networks.ts'
import { type RequestingApp, consentPage, emailPage } from '../../html/account.ts'
import {
  createPageAnswers,
  type Outcome,
  type PageAnswers,
  type PageParts,
  showLimit,
} from './page-answers.ts'
import { offeredProviders } from '../../app/sign-in.ts'
import type { Call, Protocol } from '../server/protocol.ts'
import {
  createSignInActions,
  findPerson,
  isOwnPage,
  nameApp,
  problemOf,
  showSignedOut,
  type SignIn,
  signInFields,
} from './sign-in-pages.ts'

const Form = z.object(signInFields)

interface Submission extends SignIn {
  app: RequestingApp
  authorization: AuthorizationRequest
}

/**
 * Creates the pages on which a person signs in and grants access to an app. The pages need no scripts. The URL of every
 * page contains the authorization request as its query. Every HTTP request validates the authorization request again.
 */
export function createConsentPages(parts: PageParts, grants: Grants): Protocol {
  const { settings, consumeRateLimit } = parts

  /** The actions of the buttons on the pages. The key is the value of the form field `action`. */
  const actions: Record<string, (submission: Submission) => Promise<Outcome>> = {
    ...createSignInActions(settings, offeredProviders(parts.app.signIn)),
    allow: async (submission) => {
      const caller = await findPerson(submission.call)
      if (!caller) return showSignedOut(submission)
      const exceeded = await consumeRateLimit(grantLimit, caller.user.id)
      if (exceeded) return showLimit(submission.translator, exceeded)
      return { location: await grants.issueCode(caller, submission.authorization) }
    },
    deny: async (submission) =>
      (await findPerson(submission.call))
        ? { location: grants.authorizationResponse(submission.authorization, { error: 'access_denied' }) }
        : showSignedOut(submission),
  }

  /** Shows the consent page to a signed-in person, otherwise the sign-in page. */
  async function showStart({ call, authorization, app, translator }: Submission): Promise<Outcome> {
    const caller = await findPerson(call)
    if (!caller) return { html: emailPage(translator, app, problemOf(call)) }
    const { redirectUri, scope } = authorization
    const { scopeResources } = parts.app
    return { html: consentPage(translator, { app, redirectUri, scope, scopeResources }, caller.user.email) }
  }

  return async (call, response) => {
    const { method, url, context } = call
    const pages = createPageAnswers(parts.app, call, response)
    if (method === 'POST' && !isOwnPage(call, settings.baseUrl))
      return pages.showProblem(403, { code: 'FOREIGN_FORM' })
    const parameters = url().searchParams
    // Parameters must not be repeated (RFC 6749, section 3.1).
    if (new Set(parameters.keys()).size < parameters.size || context.malformed)
      return pages.showProblem(400, { code: 'BAD_REQUEST' })
    // A parameter without a value counts as absent (RFC 6749, section 3.1).
    const query = Object.fromEntries([...parameters].filter(([, value]) => value !== ''))
    try {
      const target = await grants.findRedirectTarget(query, networkOf(context.ipAddress?.()))
      return target
        ? await respond(call, pages, target, query)
        : pages.showProblem(400, { code: 'UNKNOWN_APP' })
    } catch (error) {
      return pages.showError(error)
    }
  }

  async function respond(
    call: Call,
    pages: PageAnswers,
    target: Pick<AuthorizationRequest, 'client' | 'redirectUri'>,
    query: Record<string, string>,
  ) {
    const { translator } = pages
    const form = Form.parse(call.method === 'POST' ? (call.body ?? {}) : {})
    const { client } = target
    const app = nameApp(client, translator)
    try {
      const authorization = { ...target, ...grants.parseAuthorizationRequest(query) }
      // Not `actions[…]`, because an object also has inherited keys.
      const action = new Map(Object.entries(actions)).get(form.action) ?? showStart
      // The policy of the page permits its form to redirect to the app.
      return pages.show(await action({ call, form, authorization, app, translator }), target.redirectUri)
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      const { code, message } = error
      // Prevents an open redirect (RFC 9700, section 4.11.2): an attacker can register an app, and publish a link to
      // this service with an invalid request. Therefore, the service redirects with the error only to an app in
      // OAUTH_CLIENTS, or if a signed-in person has allowed the access. Otherwise, the service shows the error.
      const isAgreed = form.action === 'allow' && (await findPerson(call)) !== undefined
      if (!client.trusted && !isAgreed)
        return pages.showProblem(400, {
          code: 'INVALID_REQUEST',
          values: { details: `${code} (${message})` },
        })
      const outcome = { error: code, error_description: message }
      return pages.show({
        location: grants.authorizationResponse({ ...target, state: query.state }, outcome),
      })
    }
  }
}
