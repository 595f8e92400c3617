import type { AuthContext, BetterAuthOptions } from 'better-auth'
import { createEndpoint } from 'better-call'

/**
 * How better-auth names its cookies. On https with the prefix `__Host-`: a browser takes such a cookie only from this
 * host itself, over https, without `Domain` and with `Path=/`. A sibling domain cannot set one.
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

type Signing = Pick<AuthContext, 'secret' | 'authCookies' | 'createAuthCookie'>

/** How many different cookies of one name are examined. */
const MAX_SAME_NAME = 4

/**
 * Reads the signed cookies of the service from a `Cookie` header, by name. Names are compared exactly: better-call trims
 * Unicode spaces, with which a sibling domain can disguise a cookie of another name. Where several cookies have the same
 * name, the one with a valid signature counts, and none if valid ones differ: a foreign cookie never wins.
 */
export function createCookieReader({ secret, authCookies, createAuthCookie }: Signing) {
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
