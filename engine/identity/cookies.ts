import type { AuthContext, BetterAuthOptions } from 'better-auth'
import { createEndpoint } from 'better-call'

/**
 * Configures the cookie names of better-auth, which begin with `prefix`. On https, each name has the prefix `__Host-`. A
 * browser accepts such a cookie only over https, with `Path=/` and without `Domain`. A sibling domain therefore cannot set
 * a cookie for this service.
 */
export const cookieOptions = (baseUrl: string, prefix: string): BetterAuthOptions['advanced'] => ({
  cookiePrefix: fullCookiePrefix(baseUrl, prefix),
  ...(isHttps(baseUrl) && {
    // With the value true, better-auth would write `__Secure-` before the prefix `__Host-`. Needed until better-auth has an
    // option for `__Host-`.
    useSecureCookies: false,
    defaultCookieAttributes: { secure: true },
  }),
})

const isHttps = (baseUrl: string) => baseUrl.startsWith('https:')

const fullCookiePrefix = (baseUrl: string, prefix: string) => (isHttps(baseUrl) ? `__Host-${prefix}` : prefix)

type CookieContext = Pick<AuthContext, 'secret' | 'authCookies' | 'createAuthCookie'>

/** Maximum number of cookies with the same name. Further cookies are ignored. */
const MAX_SAME_NAME = 4

/**
 * Creates the function that reads the signed cookies of the service from a `Cookie` header, by name.
 * - Names are compared exactly, before better-call (the HTTP layer of better-auth) reads a cookie. better-call trims
 *   Unicode spaces from names, so a sibling domain could otherwise set a cookie with a space in its name.
 * - If several cookies have the same name, the function returns the cookie with a valid signature.
 * - If several cookies with the same name have valid signatures but different values, the function returns none of
 *   these cookies, because one of them may come from an attacker.
 *
 * Needed until better-call compares names exactly, and reads repeated cookies in this way (1.4.5 takes the first).
 */
export function createCookieReader({ secret, authCookies, createAuthCookie }: CookieContext) {
  const cookies = [
    authCookies.sessionToken,
    authCookies.dontRememberToken,
    createAuthCookie('admin_session'),
    // Of a sign-in by a provider, until the provider answers.
    createAuthCookie('state'),
  ].map(({ name }) => ({
    name,
    read: createEndpoint('/', { method: 'GET' }, (context) => context.getSignedCookie(name, secret)),
  }))

  return async (header: string) => {
    const pairs = new Set(header.split(';').map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, '')))
    const found = new Map<string, { pair: string; value: string }>()
    for (const { name, read } of cookies) {
      const valid = new Map<string, string>()
      for (const pair of [...pairs].filter((each) => each.startsWith(`${name}=`)).slice(0, MAX_SAME_NAME)) {
        const value = await read({ headers: new Headers({ cookie: pair }) })
        if (value) valid.set(value, pair)
      }
      const [only] = valid
      if (only && valid.size === 1) found.set(name, { value: only[0], pair: only[1] })
    }
    return found
  }
}
