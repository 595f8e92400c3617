import { createHmac, timingSafeEqual } from 'node:crypto'

export const COOKIE = 'better-auth.session_token'

const signatureOf = (token: string, secret: string) => createHmac('sha256', secret).update(token).digest()

/** A session's cookie, signed the way better-auth does. */
export const signCookie = (token: string, secret: string) =>
  `${COOKIE}=${encodeURIComponent(`${token}.${signatureOf(token, secret).toString('base64')}`)}`

/** The token in a cookie's decoded value, if its signature holds. */
export function verifyCookie(value: string | undefined, secret: string) {
  if (value === undefined) return undefined
  const dot = value.lastIndexOf('.')
  const token = value.slice(0, dot)
  const signature = Buffer.from(value.slice(dot + 1), 'base64')
  const expected = signatureOf(token, secret)
  const holds = signature.length === expected.length && timingSafeEqual(signature, expected)
  return holds ? token : undefined
}
