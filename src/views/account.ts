import { htmlEscape } from 'escape-goat'
import { createHash } from 'node:crypto'

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

/** What a page may load and where its forms may lead: after consent, to the app. */
export const contentSecurityPolicy = (leadsTo = '') =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self' ${leadsTo}; base-uri 'none'; frame-ancestors 'none'`

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

const problemOf = (problem?: string) =>
  problem === undefined ? '' : htmlEscape`<p class="problem" role="alert">${problem}</p>\n`

export const errorPage = (problem: string) => page('That did not work', problemOf(problem))

export const emailPage = (problem?: string) =>
  page(
    'Sign in',
    problemOf(problem) +
      `<form method="post">
<label for="email">Your e-mail address</label>
<input id="email" name="email" type="email" autocomplete="email" required autofocus>
<button name="action" value="send">Send me a code</button>
</form>`,
  )

export const codePage = (email: string, problem?: string) =>
  page(
    'Enter the code',
    problemOf(problem) +
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
  read: 'see your tasks, notes and account',
  write: 'add, change, share and delete your tasks and notes',
}

/** Where the person is sent back to. `URL` writes a host in ASCII, so that no letter can pass for another one. */
function destinationOf(redirectUri: string) {
  const { protocol, host } = new URL(redirectUri)
  if (protocol === 'https:') return htmlEscape`the website <strong>${host}</strong>`
  if (protocol === 'http:') return htmlEscape`a program on this computer, at <strong>${host}</strong>`
  return htmlEscape`an app on this device that opens <strong>${protocol}</strong> links`
}

/** The part of a client that the page shows. */
interface App {
  id: string
  name: string
  trusted: boolean
}

/** What the service knows of an app, apart from what the app says of itself. */
const identityOf = ({ id, trusted }: App, redirectUri: string) =>
  `<dl>
<dt>You will be sent to</dt>
<dd>${destinationOf(redirectUri)}</dd>
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
    : '<p>The app chose its name itself. Allow it only if you started this, and know where you will be sent.</p>\n')

export const consentPage = (app: App, redirectUri: string, scope: string, email: string) =>
  page(
    `Let ${app.name} in?`,
    htmlEscape`<p><bdi>${app.name}</bdi> asks to act for ${email}. It may</p>
<ul>` +
      scope
        .split(' ')
        .map((name) => htmlEscape`<li>${permissions[name] ?? name}</li>`)
        .join('') +
      '</ul>\n' +
      identityOf(app, redirectUri) +
      htmlEscape`<p>The whole address is <code>${redirectUri}</code>. You can end this at any time among your sessions.</p>
<form method="post">
<button name="action" value="allow">Allow</button>
<button name="action" value="deny">Deny</button>
</form>`,
  )
