import { z } from 'zod'
import { grantLimit, type RateLimit } from 'tallystick-contract/internal'

import type { Caller } from '../../call/caller.ts'
import { rateLimits } from '../../app/rate-limits.ts'
import { networkOf } from '../../guard/networks.ts'
import { type DeviceFlow, formatUserCode } from '../../identity/device-flow.ts'
import { deviceCodePage, deviceConsentPage, deviceDecidedPage, emailPage } from '../../html/account.ts'
import type { PageTranslator } from '../../html/page-translator.ts'
import { createPageAnswers, type Outcome, type PageParts, showLimit } from './page-answers.ts'
import { offeredProviders } from '../../app/sign-in.ts'
import type { Protocol } from '../server/protocol.ts'
import {
  createSignInActions,
  field,
  findPerson,
  isOwnPage,
  nameApp,
  problemOf,
  showSignedOut,
  type SignIn,
  signInFields,
} from './sign-in-pages.ts'

const Form = z.object({ ...signInFields, user_code: field })

/** Maximum length of a code in the URL, which prefills the field. */
const MAX_CODE = 50

interface Submission extends SignIn {
  form: z.infer<typeof Form>
}

/**
 * Creates the pages on which a person connects an app on another device (RFC 8628). The pages need no scripts. Nothing
 * happens without a decision of the person: a link with a code only prefills the field.
 */
export function createDevicePages(parts: PageParts, devices: DeviceFlow): Protocol {
  const { settings, consumeRateLimit } = parts

  /**
   * Finds the request of the entered code, for a signed-in person. Counts against the limit of guesses. Returns an
   * outcome if there is no such request.
   */
  async function findRequest({ call, form, translator }: Submission, caller: Caller) {
    const network = networkOf(call.context.ipAddress?.())
    const exceeded =
      (network === undefined
        ? undefined
        : await consumeRateLimit(rateLimits.deviceCodesByAddress, network)) ??
      (await consumeRateLimit(rateLimits.deviceCodes, caller.user.id))
    if (exceeded) return { outcome: showLimit(translator, exceeded) }
    // For an app whose id is a URL, `findRequest` fetches the metadata, which counts against the rate limit of the network.
    const request = await devices.findRequest(form.user_code, network)
    return request
      ? { request: { ...request, client: nameApp(request.client, translator) } }
      : { outcome: showUnknown(form.user_code, translator) }
  }

  /** Decides on the request of the entered code. */
  const decide =
    (
      decision: 'allow' | 'deny',
      text: 'deviceAllowed' | 'deviceDenied',
      limit?: RateLimit,
    ): ((submission: Submission) => Promise<Outcome>) =>
    async (submission) => {
      const { call, form, translator } = submission
      const caller = await findPerson(call)
      if (!caller) return showSignedOut(submission)
      const { request, outcome } = await findRequest(submission, caller)
      if (!request) return outcome
      const exceeded = limit && (await consumeRateLimit(limit, caller.user.id))
      if (exceeded) return showLimit(translator, exceeded)
      return (await devices[decision](request, caller))
        ? { html: deviceDecidedPage(translator, request.client, text) }
        : showUnknown(form.user_code, translator)
    }

  /** The actions of the buttons on the pages. The key is the value of the form field `action`. */
  const actions: Record<string, (submission: Submission) => Promise<Outcome>> = {
    ...createSignInActions(settings, offeredProviders(parts.app.signIn)),
    continue: async (submission) => {
      const caller = await findPerson(submission.call)
      if (!caller) return showSignedOut(submission)
      const { request, outcome } = await findRequest(submission, caller)
      if (!request) return outcome
      const { client: app, scope, userCode } = request
      const { scopeResources } = parts.app
      const consent = { app, scope, scopeResources, userCode: formatUserCode(userCode) }
      return { html: deviceConsentPage(submission.translator, consent, caller.user.email) }
    },
    allow: decide('allow', 'deviceAllowed', grantLimit),
    deny: decide('deny', 'deviceDenied'),
  }

  return async (call, response) => {
    const { method, context } = call
    const pages = createPageAnswers(parts.app, call, response)
    if (method === 'POST' && !isOwnPage(call, settings.baseUrl))
      return pages.showProblem(403, { code: 'FOREIGN_FORM' })
    if (context.malformed) return pages.showProblem(400, { code: 'BAD_REQUEST' })
    try {
      const form = Form.parse(method === 'POST' ? (call.body ?? {}) : {})
      // A map, because an object also has properties such as `constructor`.
      const action = new Map(Object.entries(actions)).get(form.action) ?? showStart
      return pages.show(await action({ call, form, translator: pages.translator }))
    } catch (error) {
      return pages.showError(error)
    }
  }
}

/** Shows the page for the code to a signed-in person, otherwise the sign-in page. */
async function showStart({ call, translator }: Submission): Promise<Outcome> {
  if (!(await findPerson(call))) return { html: emailPage(translator, undefined, problemOf(call)) }
  const code = call.url().searchParams.get('user_code') ?? ''
  return { html: deviceCodePage(translator, code.slice(0, MAX_CODE)) }
}

const showUnknown = (code: string, translator: PageTranslator): Outcome => ({
  html: deviceCodePage(translator, code.slice(0, MAX_CODE), { code: 'UNKNOWN_DEVICE_CODE' }),
})
