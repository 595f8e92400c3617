import type { AuthContext, BetterAuthOptions } from 'better-auth'
import { createEndpoint } from 'better-call'

/**
 * Options for the names of better-auth's cookies. On https the names have the prefix `__Host-`: a browser accepts such a
 * cookie only from this host over https, without `Domain` and with `Path=/`, so a sibling domain cannot set one.
 */
export const cookieOptions = (baseUrl: string): BetterAuthOptions['advanced'] =>
  baseUrl.startsWith('https:')
    ? {
        // With `useSecureCookies` better-auth would write `__Secure-` before the prefix.
        useSecureCookies: false,
        cookiePrefix: '__Host-better-auth',
        defaultCookieAttributes: { secure: true },
      }
    : {}

type CookieContext = Pick<AuthContext, 'secret' | 'authCookies' | 'createAuthCookie'>

/** Maximum number of cookies with the same name. Further cookies are ignored. */
const MAX_SAME_NAME = 4

/**
 * Reads the signed cookies of the service from a `Cookie` header, by name. Names are compared exactly, because
 * better-call (the HTTP layer of better-auth) trims Unicode spaces, which a sibling domain could add to the name of a
 * cookie. If several cookies have the same name, the reader returns the cookie with a valid signature. If several have a
 * valid signature but different values, the reader returns none of them.
 */
export function createCookieReader({ secret, authCookies, createAuthCookie }: CookieContext) {
  const cookies = [
    authCookies.sessionToken,
    authCookies.dontRememberToken,
    createAuthCookie('admin_session'),
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
