import {
  getCurrentAuthContextAsyncLocalStorage,
  getCurrentDBAdapterAsyncLocalStorage,
  getRequestStateAsyncLocalStorage,
} from '@better-auth/core/context'
import { LRUCache } from 'lru-cache'

import type { Identity } from '../call/context.ts'
import { disableWhenIdle } from './async-storages.ts'
import type { Auth } from './better-auth.ts'
import { createCookieReader } from './cookies.ts'
import { rethrowOutages } from './outage-detection.ts'

/** Maximum size of the cache of verified cookies, in characters. */
const MAX_VERIFIED_COOKIES = 4_000_000

/**
 * Creates the cookie operations for the guard and the HTTP protocols. Like better-auth, accepts a session token only in
 * a cookie with a valid signature. Caches verified cookies, because the verification of a signature takes half of the
 * time of a call. The cache replaces only this verification: each call still queries the session in the database.
 */
export async function createCookieIdentity(auth: Auth): Promise<Omit<Identity, 'verifyToken'>> {
  const context = await auth.$context
  disableWhenIdle(
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- no other function returns this storage
    await getCurrentAuthContextAsyncLocalStorage(),
    await getRequestStateAsyncLocalStorage(),
    await getCurrentDBAdapterAsyncLocalStorage(),
  )
  const { expiresIn, updateAge } = context.sessionConfig
  const read = createCookieReader(context)
  const verified = new LRUCache<string, string>({
    maxSize: MAX_VERIFIED_COOKIES,
    sizeCalculation: (token, cookie) => cookie.length + token.length,
  })

  return {
    handle: (request) => rethrowOutages(() => auth.handler(request)),

    async readToken(cookie) {
      if (cookie === undefined) return undefined
      const token =
        verified.get(cookie) ?? (await read(cookie)).get(context.authCookies.sessionToken.name)?.value
      if (token) verified.set(cookie, token)
      return token
    },

    async renew(cookie, expiresAt) {
      const renewableAt = expiresAt.getTime() - (expiresIn - updateAge) * 1000
      if (Date.now() < renewableAt) return []
      const request = { method: 'POST', headers: new Headers({ cookie }), returnHeaders: true } as const
      const { headers } = await rethrowOutages(() => auth.api.getSession(request))
      return headers.getSetCookie()
    },

    async signOut(cookie) {
      const request = { headers: new Headers({ cookie }), returnHeaders: true } as const
      const { headers } = await rethrowOutages(() => auth.api.signOut(request))
      return headers.getSetCookie()
    },
  }
}
