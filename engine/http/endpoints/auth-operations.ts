import { z } from 'zod'
import { MAX_EMAIL, MAX_NAME, text } from 'tallystick-contract/internal'

import { normalizeAddress } from '../../values/mail-address.ts'
import { UserQuery } from '../protocols/user-query.ts'

export const GET_SESSION = '/get-session'
export const SEND_CODE = '/email-otp/send-verification-otp'
export const SIGN_IN = '/sign-in/email-otp'
export const STOP = '/admin/stop-impersonating'

const Email = z.string().transform(normalizeAddress).pipe(z.email().max(MAX_EMAIL))
/** People copy a code with blanks or hyphens: `123 456`. */
const Code = text({ min: 1, max: 16 }).transform((code) => code.replace(/[\s\p{Pd}]/gu, ''))
const Id = z.object({ id: text({ min: 1, max: 64 }) })
const UserId = z.object({ userId: text({ min: 1, max: 64 }) })
const Role = z.enum(['user', 'admin'])
const Name = text({ max: MAX_NAME })
const TEN_YEARS = 10 * 365 * 24 * 3600

const Nothing = z.object({})
export interface Operation {
  method: 'GET' | 'POST'
  /**
   * `public` ignores credentials. `state` reads only the cookie of a sign-in by a provider. `session` reads the session from the
   * cookie, and also permits calls without a session. `signedIn` and `admin` require a caller.
   */
  access: 'public' | 'state' | 'session' | 'signedIn' | 'admin'
  /** The schema of the query (GET) or of the body (POST). */
  input: z.ZodType<Record<string, unknown>>
  /**
   * The rate limit of a sign-in operation. This limit applies per network, per e-mail address, and per combination of
   * network and e-mail address. Operations without `limit` share the rate limit `auth`, which applies per network.
   */
  limit?: 'codes' | 'tries'
}
const operation =
  (method: Operation['method']) =>
  (
    access: Operation['access'],
    input: Operation['input'] = Nothing,
    limit?: Operation['limit'],
  ): Operation => ({
    method,
    access,
    input,
    limit,
  })
export const get = operation('GET')
export const post = operation('POST')

/**
 * The operations of better-auth that callers can reach. Input fields that are not declared here are removed before
 * better-auth receives the input.
 */
export const operations: Record<string, Operation> = {
  [SEND_CODE]: post('public', z.object({ email: Email, type: z.literal('sign-in') }), 'codes'),
  [SIGN_IN]: post('public', z.object({ email: Email, otp: Code }), 'tries'),
  '/sign-out': post('session'),
  [GET_SESSION]: get('session'),
  '/update-user': post('signedIn', z.object({ name: Name })),
  '/admin/list-users': get('admin', UserQuery),
  '/admin/get-user': get('admin', Id),
  '/admin/create-user': post('admin', z.object({ email: Email, name: Name, role: Role.optional() })),
  '/admin/update-user': post('admin', UserId.extend({ data: z.object({ name: Name }) })),
  '/admin/set-role': post('admin', UserId.extend({ role: Role })),
  '/admin/ban-user': post(
    'admin',
    UserId.extend({ banReason: Name.optional(), banExpiresIn: z.int().min(1).max(TEN_YEARS).optional() }),
  ),
  '/admin/unban-user': post('admin', UserId),
  '/admin/list-user-sessions': post('admin', UserId),
  '/admin/revoke-user-session': post('admin', z.object({ sessionToken: text({ min: 1, max: 64 }) })),
  '/admin/revoke-user-sessions': post('admin', UserId),
  '/admin/impersonate-user': post('admin', UserId),
  [STOP]: post('signedIn'),
  '/admin/remove-user': post('admin', UserId),
}
