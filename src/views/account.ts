import { htmlEscape } from 'escape-goat'
import { createHash } from 'node:crypto'

import { resourcesOf } from '../../contract/scopes.ts'

const style = `
:root { color-scheme: light dark; font: 1.1rem/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 26rem; padding: 2rem 1.25rem; overflow-wrap: anywhere }
h1 { font-size: 1.4rem }
label { display: block; margin-top: 1rem }
input { box-sizing: border-box; font: inherit; padding: .6rem; width: 100% }
button { font: inherit; margin: 1rem .5rem 0 0; padding: .6rem 1.2rem }
dt { margin-top: 1rem }
dd { margin: 0 }
.problem { border-left: .3rem solid #c33; padding-left: .8rem }
`
const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * The Content-Security-Policy of a page. `redirectTarget` is an additional permitted target of the form, because the
 * form on the consent page redirects to the app.
 */
export const contentSecurityPolicy = (redirectTarget = '') =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self' ${redirectTarget}; base-uri 'none'; frame-ancestors 'none'`

const page = (title: string, body: string) =>
  htmlEscape`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Tallystick</title>
<style>` +
  style +
  htmlEscape`</style>
</head>
<body>
<main>
<h1>${title}</h1>
` +
  body +
  '\n</main>\n</body>\n</html>\n'

const problemAlert = (problem?: string) =>
  problem === undefined ? '' : htmlEscape`<p class="problem" role="alert">${problem}</p>\n`

export const errorPage = (problem: string) => page('The request failed', problemAlert(problem))

export const emailPage = (problem?: string) =>
  page(
    'Sign in',
    problemAlert(problem) +
      `<form method="post">
<label for="email">Your e-mail address</label>
<input id="email" name="email" type="email" autocomplete="email" required autofocus>
<button name="action" value="send">Send me a code</button>
</form>`,
  )

export const codePage = (email: string, problem?: string) =>
  page(
    'Enter the code',
    problemAlert(problem) +
      htmlEscape`<form method="post">
<p>We sent a code to ${email}.</p>
<input type="hidden" name="email" value="${email}">
<label for="otp">Six digits</label>
<input id="otp" name="otp" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{6}" required autofocus>
<button name="action" value="sign-in">Sign in</button>
<button name="action" value="send" formnovalidate>Send another code</button>
</form>`,
  )

const permissions: Record<string, string> = {
  read: `see your ${resourcesOf('read')}`,
  write: `add, change, share and delete your ${resourcesOf('write')}`,
}

/**
 * Describes the redirect target on the consent page. `URL` shows non-ASCII letters of a host as Punycode (`xn--…`), so
 * that a host with look-alike letters does not look like the imitated host.
 */
function describeDestination(redirectUri: string) {
  const { protocol, host } = new URL(redirectUri)
  if (protocol === 'https:') return htmlEscape`the website <strong>${host}</strong>`
  if (protocol === 'http:') return htmlEscape`a program on this computer, at <strong>${host}</strong>`
  return htmlEscape`an app on this device that opens <strong>${protocol}</strong> links`
}

/** The properties of an OAuth client that the consent page needs. */
interface App {
  id: string
  name: string
  trusted: boolean
}

/**
 * Facts that the service has verified about an app: the redirect target, and the host of the client metadata document.
 */
const verifiedDetails = ({ id, trusted }: App, redirectUri: string) =>
  `<dl>
<dt>You will be sent to</dt>
<dd>${describeDestination(redirectUri)}</dd>
` +
  (!trusted && URL.canParse(id)
    ? htmlEscape`<dt>The app is described by</dt>
<dd>the website <strong>${new URL(id).host}</strong></dd>
`
    : '') +
  `</dl>
` +
  (trusted
    ? ''
    : '<p>The app chose its name itself. Allow access only if you started this sign-in and recognize the destination.</p>\n')

export const consentPage = (app: App, redirectUri: string, scope: string, email: string) =>
  page(
    `Authorize ${app.name}?`,
    htmlEscape`<p><bdi>${app.name}</bdi> requests access to the account ${email}. It will be able to:</p>
<ul>` +
      scope
        .split(' ')
        .map((name) => htmlEscape`<li>${permissions[name] ?? name}</li>`)
        .join('') +
      '</ul>\n' +
      verifiedDetails(app, redirectUri) +
      htmlEscape`<p>The complete redirect address is <code>${redirectUri}</code>. You can revoke this access at any time in the list of your sessions.</p>
<form method="post">
<button name="action" value="allow">Allow</button>
<button name="action" value="deny">Deny</button>
</form>`,
  )
