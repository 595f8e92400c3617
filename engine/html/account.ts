import { htmlEscape } from 'escape-goat'
import { type Scope, scopes } from 'tallystick-contract/internal'

import type { TextByLanguage } from '../texts/catalogues.ts'
import { isMessage } from '../texts/engine-texts.ts'
import type { Translator, Values } from '../texts/translation.ts'
import { page, type MessageWithValues, toHtml } from './page.ts'
import type { PageTranslator } from './page-translator.ts'

/** An error that a page shows: the code of the error, and the values of the message of this code. */
export interface Problem {
  code: string
  values?: Values
}

/** The properties of an OAuth client that the pages need. */
export interface RequestingApp {
  id: string
  name: string
  trusted: boolean
}

const paragraph = (translator: Translator, ...text: MessageWithValues) =>
  `<p>${toHtml(translator, ...text)}</p>\n`

/** An error without a message of its own has the message of an internal error. */
const problemAlert = (translator: Translator, problem?: Problem) =>
  problem
    ? `<p class="problem" role="alert">${toHtml(translator, isMessage(problem.code) ? problem.code : 'INTERNAL_SERVER_ERROR', problem.values)}</p>\n`
    : ''

export const errorPage = (translator: PageTranslator, problem: Problem) =>
  page(translator, ['problemTitle'], problemAlert(translator, problem))

/** Warns about the name of an app that is not in OAUTH_CLIENTS, because the app chose its name itself. */
const caution = (
  translator: Translator,
  { trusted }: RequestingApp,
  message: 'signInCaution' | 'consentCaution',
) => (trusted ? '' : `<p class="caution">${toHtml(translator, message)}</p>\n`)

/** Without an app, the sign-in is for an app on another device. */
const requestingApp = (translator: Translator, app?: RequestingApp) =>
  app
    ? paragraph(translator, 'signInFor', { app: app.name }) + caution(translator, app, 'signInCaution')
    : paragraph(translator, 'signInForDevice')

export const emailPage = (translator: PageTranslator, app?: RequestingApp, problem?: Problem) =>
  page(
    translator,
    ['signInTitle'],
    problemAlert(translator, problem) +
      requestingApp(translator, app) +
      `<form method="post">
<label for="email">${toHtml(translator, 'emailLabel')}</label>
<input id="email" name="email" type="email" autocomplete="email" required autofocus>
<button name="action" value="send">${toHtml(translator, 'sendCode')}</button>
</form>
` +
      providerButtons(translator),
  )

/** The value of the form field `action` for the sign-in by a provider. */
export const providerAction = ({ id }: { id: string }) => `provider:${id}`

/** A form of its own, because the form of the code requires an address. */
const providerButtons = (translator: PageTranslator) =>
  translator.providers.length === 0
    ? ''
    : '<form method="post">\n' +
      translator.providers
        .map(
          ({ id, name }) =>
            htmlEscape`<button name="action" value="${providerAction({ id })}">` +
            `${toHtml(translator, 'continueWith', { provider: name })}</button>\n`,
        )
        .join('') +
      '</form>\n'

/** Leads to a provider, for browsers that ignore the header `Refresh`. */
export const providerPage = (translator: PageTranslator, { name }: { name: string }, url: string) =>
  page(
    translator,
    ['signInTitle'],
    `<p>${htmlEscape`<a href="${url}">`}${toHtml(translator, 'continueWith', { provider: name })}</a></p>\n`,
  )

/** The link without an address loads the page again, which then asks for the e-mail address. */
export const codePage = (
  translator: PageTranslator,
  app: RequestingApp | undefined,
  email: string,
  problem?: Problem,
) =>
  page(
    translator,
    ['codeTitle'],
    problemAlert(translator, problem) +
      paragraph(translator, 'codeSent', { email }) +
      requestingApp(translator, app) +
      htmlEscape`<form method="post">
<input type="hidden" name="email" value="${email}">
` +
      `<label for="otp">${toHtml(translator, 'codeLabel')}</label>
<input id="otp" name="otp" inputmode="numeric" autocomplete="one-time-code" pattern="[\\s\\-]*([0-9][\\s\\-]*){6}" required autofocus>
<button name="action" value="sign-in">${toHtml(translator, 'signIn')}</button>
<button name="action" value="send" formnovalidate>${toHtml(translator, 'sendAnotherCode')}</button>
</form>
<p><a href="">${toHtml(translator, 'otherAddress')}</a></p>
`,
  )

/**
 * Describes the redirect target on the consent page. `URL` shows non-ASCII letters of a host as Punycode (`xn--…`), so
 * that a host with look-alike letters does not look like the imitated host.
 */
function describeDestination(redirectUri: string): MessageWithValues {
  const { protocol, host } = new URL(redirectUri)
  if (protocol === 'https:') return ['website', { host }]
  if (protocol === 'http:') return ['localProgram', { host }]
  return ['localApp', { scheme: protocol }]
}

const definition = (translator: Translator, term: 'destination' | 'description', text: MessageWithValues) =>
  `<dt>${toHtml(translator, term)}</dt>\n<dd>${toHtml(translator, ...text)}</dd>\n`

/** Facts that the service has verified about an app: the redirect target, and the host of the client metadata document. */
const verifiedDetails = (translator: Translator, { id, trusted }: RequestingApp, redirectUri: string) =>
  '<dl>\n' +
  definition(translator, 'destination', describeDestination(redirectUri)) +
  (!trusted && URL.canParse(id)
    ? definition(translator, 'description', ['website', { host: new URL(id).host }])
    : '') +
  '</dl>\n'

interface ConsentRequest {
  app: RequestingApp
  scope: string
  /** The names of the resources that an app with a scope can access. */
  scopeResources: Readonly<Record<Scope, readonly TextByLanguage[]>>
}

const requestedAccess = (
  translator: PageTranslator,
  { app, scope, scopeResources }: ConsentRequest,
  email: string,
) =>
  paragraph(translator, 'consentRequest', { app: app.name, email }) +
  '<ul>' +
  scopes
    .filter((name) => scope.split(' ').includes(name))
    .map((name) => {
      const resources = translator.translateResources(scopeResources[name])
      return htmlEscape`<li>${translator.translate(name, { resources })}</li>`
    })
    .join('') +
  '</ul>\n'

/**
 * Asks for the decision about a request. “Deny” is the first button, so that the Enter key and the first stop of the Tab
 * key do not grant access.
 */
const decisionPage = (
  translator: PageTranslator,
  request: ConsentRequest,
  email: string,
  { details, fields = '' }: { details: string; fields?: string },
) =>
  page(
    translator,
    ['consentTitle', { app: request.app.name }],
    requestedAccess(translator, request, email) +
      details +
      `<form method="post">
${fields}<button name="action" value="deny">${toHtml(translator, 'deny')}</button>
<button name="action" value="allow">${toHtml(translator, 'allow')}</button>
</form>
`,
  )

export const consentPage = (
  translator: PageTranslator,
  { redirectUri, ...request }: ConsentRequest & { redirectUri: string },
  email: string,
) =>
  decisionPage(translator, request, email, {
    details:
      verifiedDetails(translator, request.app, redirectUri) +
      caution(translator, request.app, 'consentCaution') +
      `<p class="details">${toHtml(translator, 'redirectAddress', { address: redirectUri })}
${toHtml(translator, 'revocation')}</p>
`,
  })

/** Asks for the code that an app on another device shows. `userCode` is the prefilled code. */
export const deviceCodePage = (translator: PageTranslator, userCode: string, problem?: Problem) =>
  page(
    translator,
    ['deviceTitle'],
    problemAlert(translator, problem) +
      paragraph(translator, 'deviceInstruction') +
      `<form method="post">
<label for="user_code">${toHtml(translator, 'deviceCodeLabel')}</label>
` +
      htmlEscape`<input id="user_code" name="user_code" value="${userCode}" dir="ltr" autocapitalize="characters" autocomplete="off" spellcheck="false" maxlength="50" required autofocus>
` +
      `<button name="action" value="continue">${toHtml(translator, 'continue')}</button>
</form>
`,
  )

/**
 * Asks for the decision about an app on another device. Does not name the host of a client metadata document, because
 * anyone can start a request with the public id of an app.
 */
export const deviceConsentPage = (
  translator: PageTranslator,
  { userCode, ...request }: ConsentRequest & { userCode: string },
  email: string,
) =>
  decisionPage(translator, request, email, {
    details:
      `<dl>
<dt>${toHtml(translator, 'deviceCode')}</dt>
` +
      htmlEscape`<dd dir="ltr">${userCode}</dd>
</dl>
` +
      caution(translator, request.app, 'signInCaution') +
      `<p class="caution">${toHtml(translator, 'deviceCaution')}</p>
<p class="details">${toHtml(translator, 'revocation')}</p>
`,
    fields: htmlEscape`<input type="hidden" name="user_code" value="${userCode}">
`,
  })

/** Shows the outcome of the decision about an app on another device. */
export const deviceDecidedPage = (
  translator: PageTranslator,
  { name }: RequestingApp,
  outcome: 'deviceAllowed' | 'deviceDenied',
) => page(translator, ['deviceTitle'], paragraph(translator, outcome, { app: name }))
