import { createHmac, timingSafeEqual } from 'node:crypto'

export const COOKIE_NAME = 'better-auth.session_token'

const signatureOf = (token: string, secret: string) => createHmac('sha256', secret).update(token).digest()

/** Returns the cookie of a session, signed in the format of better-auth. */
export const signCookie = (token: string, secret: string) =>
  `${COOKIE_NAME}=${encodeURIComponent(`${token}.${signatureOf(token, secret).toString('base64')}`)}`

/** Returns the session token in a decoded cookie value, or `undefined` if the signature is invalid. */
export function verifyCookie(value: string | undefined, secret: string) {
  if (value === undefined) return undefined
  const dot = value.lastIndexOf('.')
  const token = value.slice(0, dot)
  const signature = Buffer.from(value.slice(dot + 1), 'base64')
  const expected = signatureOf(token, secret)
  const isValid = signature.length === expected.length && timingSafeEqual(signature, expected)
  return isValid ? token : undefined
}
