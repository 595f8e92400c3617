import { signingKeys } from '@openauthjs/openauth/keys'
import { createLocalJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'

import type { Database } from '../db/connection/database.ts'
import { createStorage, Grant } from './tokens.ts'

const Claims = z.object({
  sub: z.string(),
  exp: z.number(),
  mode: z.literal('access'),
  properties: Grant,
})

/** Minimum time between two loads of the signing keys, in milliseconds. */
const MIN_RELOAD_INTERVAL = 5_000

/**
 * The cache of the signing keys (JWKS) in this process.
 *
 * - Empty: `get` waits for the first load.
 * - Loading: concurrent callers share one load. If the load fails, all callers receive the error, and the previous keys
 *   remain.
 * - Loaded: `get` returns the keys without a query.
 * - A token has an unknown key id: `reload` loads the keys again, because another process may have created the key.
 *   Within MIN_RELOAD_INTERVAL after a load, `reload` starts no new load, and the token is rejected.
 *
 * Trade-off: any caller can send an unknown key id. The interval limits the queries that such callers cause, but delays
 * the acceptance of a new key by at most five seconds.
 */
function createKeySet(db: Database) {
  let current: ReturnType<typeof createLocalJWKSet> | undefined
  let loading: Promise<NonNullable<typeof current>> | undefined
  let loadedAt = 0

  const loadKeys = async () => {
    const keys = await signingKeys(createStorage(db))
    current = createLocalJWKSet({ keys: keys.map(({ jwk, alg }) => ({ ...jwk, alg })) })
    loadedAt = performance.now()
    return current
  }
  const load = () =>
    (loading ??= loadKeys().finally(() => {
      loading = undefined
    }))

  return {
    get: () => current ?? load(),
    reload: () => (performance.now() - loadedAt < MIN_RELOAD_INTERVAL ? loading : load()),
  }
}

/** Maximum size of the cache of verified tokens, in characters. */
const MAX_VERIFIED_TOKENS = 4_000_000

/**
 * Creates the function that verifies the signature, expiry, issuer and audience of an access token. The function
 * returns the claims, or undefined if the token is not valid. Caches verified tokens until they expire, because the
 * verification of a signature takes longer than the rest of a call.
 */
export function createVerifier(db: Database, issuer: string) {
  const keys = createKeySet(db)
  const verified = new LRUCache<string, z.infer<typeof Claims>>({
    maxSize: MAX_VERIFIED_TOKENS,
    sizeCalculation: (_, key) => key.length,
  })

  const verify = async (token: string, audience: string) => {
    const verifyWith = async (keySet: JWTVerifyGetKey) =>
      jwtVerify(token, keySet, { issuer, audience, algorithms: ['ES256'] })
    try {
      const { payload } = await verifyWith(await keys.get()).catch(async (error: unknown) => {
        const reloaded = error instanceof errors.JWKSNoMatchingKey && (await keys.reload())
        if (!reloaded) throw error
        return verifyWith(reloaded)
      })
      return Claims.parse(payload)
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof z.ZodError) return undefined
      throw error
    }
  }

  return async (token: string, audience: string) => {
    const key = `${audience} ${token}`
    const cached = verified.get(key)
    if (cached && cached.exp * 1000 > Date.now()) return cached
    const claims = await verify(token, audience)
    if (claims) verified.set(key, claims)
    return claims
  }
}
