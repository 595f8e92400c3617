import { texts as procedureTexts } from '../../console/procedures/texts.ts'

// The source of all translations, in ICU MessageFormat.

/** The texts of the reference page, besides the texts of every page. The files of all languages have these texts. */
export const texts = {
  ...procedureTexts,

  introduction: 'Introduction',
  resources: 'Resources',
  tryIt: 'Try it',
  callWith: 'Call with',
  session: 'Your session',
  token: 'Access token',
  signedInAs: 'Signed in as {email}',
  notSignedIn: 'Not signed in',
  tokenInMemory: 'The token stays in the memory of this page until you close or reload the page.',
  confirmTitle: 'Call {operation}?',
  confirmText: 'This call can change data of the service. It is not a test.',
  callFailed: 'No answer arrived. Check your connection, and try again.',
  watch: 'Watch',
  stop: 'Stop',
  events: 'Events',
  noEventYet: 'Waiting for the first event',
  askNoMore:
    'Do not ask again before calls that create or change something, until this page is closed or reloaded.',
  firstCall: 'First call',
  firstCallText: 'Paste this command in a terminal. The call needs no sign-in.',
  signInText:
    'Request a code by e-mail, and send the code back. The answer sets the session cookie. Browsers then send it with every request.',
  tokensText:
    'Scripts and AI agents send an access token. A token has the scope read, or read and write, and you can revoke it at any time.',
  agentsText: 'AI agents connect to this address (MCP). You consent in the browser:',
  errorsText:
    'Every error has this body. If defined is true, the contract of the procedure declares the code. Requests that prefer application/problem+json receive problem details (RFC 9457).',
  pages: 'Pages',
  pagesText:
    'Lists have pages: limit is the number of items, and the header Link of the answer has the address of the next page. The last page has no such header.',
  retries: 'Retries',
  retriesText:
    'After 429 and 503, wait for the seconds in Retry-After. Requests that create something accept an Idempotency-Key: for 24 hours, a repetition receives the first answer. With If-Match and the ETag of the last answer, a change is refused if someone else was faster.',
  live: 'Live updates',
  liveText:
    'The procedure {operation} sends the state of topics at once, and again after every change, as server-sent events.',
}

export type Texts = Record<keyof typeof texts, string>
