import { htmlEscape } from 'escape-goat'

import { type ErrorBody, Issues } from '../../contract/errors.ts'

const SIGN_IN =
  'POST /api/auth/email-otp/send-verification-otp sends a code to your e-mail address; POST /api/auth/sign-in/email-otp accepts the code'

/** The text of an error for a person: the message, and what to do about it. */
function describe({ status, message, data }: ErrorBody) {
  const issues = Issues.safeParse(data).data?.issues ?? []
  const hints = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message))
  if (status === 401) hints.push(SIGN_IN)
  return [message, ...hints].join('. ')
}

/**
 * The error element of a Datastar page. The element empties itself when the page sends its next request. For `&#13;`,
 * see src/views/notes.ts.
 */
export const errorHtml = (error: ErrorBody) =>
  htmlEscape`<p id="error" role="alert" data-on:datastar-fetch="if (evt.detail.type === 'started') el.textContent = ''">${describe(error)}</p>`.replaceAll(
    '\r',
    '&#13;',
  )
