import { issuer } from '@openauthjs/openauth'
import { encryptionKeys, signingKeys } from '@openauthjs/openauth/keys'
import type { Provider } from '@openauthjs/openauth/provider/provider'
import { joinKey, splitKey, type StorageAdapter } from '@openauthjs/openauth/storage/storage'
import { createSubjects } from '@openauthjs/openauth/subject'
import { createLocalJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { LRUCache } from 'lru-cache'
import { createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'

import type { Database } from '../db/database.ts'
import { digestOf } from '../db/digest.ts'
import * as oauth from '../db/oauth.ts'
import * as grants from '../db/grants.ts'
import * as sessions from '../db/sessions.ts'
import type { Settings } from '../settings.ts'
import { currentAuditSource } from './audit-context.ts'

const ACCESS_SECONDS = 10 * 60
const REFRESH_SECONDS = 30 * 24 * 3600
/** Time in which the same refresh token returns the same successor, in seconds. */
const REUSE_SECONDS = 30

/** The private claims of a token: the grant (a row of the table `sessions`), the app, and the scope. */
export const Grant = z.object({ sessionId: z.string(), clientId: z.string(), scope: z.string() })
export type Grant = z.infer<typeof Grant>

const Claims = z.object({
  sub: z.string(),
  exp: z.number(),
  mode: z.literal('access'),
  properties: Grant,
})
const StoredRefreshToken = z.object({ subject: z.string(), properties: Grant })

export const refreshExpiry = () => new Date(Date.now() + REFRESH_SECONDS * 1000)

/**
 * Hashes the storage keys of codes and refresh tokens, because these keys contain the code or the token. A leaked copy
 * of the database therefore contains no usable code or token.
 */
const storageKey = (key: string[]) => (isSecret(key) ? digestOf(joinKey(key)) : joinKey(key))
const isSecret = ([kind]: string[]) => kind === 'oauth:code' || kind === 'oauth:refresh'

export const codeKey = (code: string) => storageKey(['oauth:code', code])
export const refreshKey = (token: string) => {
  const [subject = '', secret = ''] = token.split(':')
  return storageKey(['oauth:refresh', subject, secret])
}

/** OpenAuth's storage in PostgreSQL. */
export const createStorage = (db: Database): StorageAdapter => ({
  get: async (key) => (await oauth.find(db, storageKey(key)))?.value,
  // Omits `nextToken`: OpenAuth creates the next refresh token in advance, and would store it in plain text.
  async set(key, { nextToken: _, ...value }: Record<string, unknown>, expiry) {
    await oauth.put(db, storageKey(key), value, expiry)
  },
  async remove(key) {
    // Used codes and refresh tokens remain until they expire, to detect replays.
    if (!isSecret(key)) await oauth.remove(db, storageKey(key))
  },
  async *scan(prefix) {
    for (const { key, value } of await oauth.list(db, joinKey([...prefix, ''])))
      yield [splitKey(key), value] as [string[], unknown]
  },
})

/**
 * The storage of an issuer. OpenAuth reads a code or a refresh token and removes it in a second step, so several
 * concurrent redemptions of one code would succeed. Here, `get` reads the record and marks it as used in one statement,
 * so only one redemption of a code succeeds. The used record stays in the database for the lifetime of a refresh token,
 * to detect replays.
 */
const createTokenStorage = (db: Database, secret: string): StorageAdapter => {
  const storage = createStorage(db)
  return {
    ...storage,
    async get(key) {
      const [kind, subject = '', token = ''] = key
      if (kind === 'oauth:code') return (await oauth.consume(db, storageKey(key), refreshExpiry()))?.value
      if (kind !== 'oauth:refresh') return storage.get(key)
      const nextToken = createHmac('sha256', secret).update(`refresh token\n${token}`).digest('base64url')
      const next = storageKey(['oauth:refresh', subject, nextToken])
      const value = await useRefreshToken(db, storageKey(key), next)
      return value && { ...value, nextToken }
    },
  }
}

/**
 * Marks a refresh token as used, and extends its grant. Returns the stored value of an accepted token, and undefined for
 * a refused token. `next` is the key of the next refresh token.
 *
 * - First use: accepted.
 * - Another use within REUSE_SECONDS: accepted while the next token is unused, because an app can run several processes
 *   that refresh at the same time, or lose the response. All receive the same next token. Afterwards refused.
 * - Another use later: refused, and ends the grant, because the token may have been stolen.
 */
async function useRefreshToken(db: Database, key: string, next: string) {
  const consumed = await oauth.consume(db, key)
  const value = (consumed ?? (await oauth.find(db, key)))?.value
  const { subject, properties } = StoredRefreshToken.safeParse(value).data ?? {}
  if (!subject || !properties) return undefined
  if (!consumed && !(await oauth.isUsedWithin(db, key, REUSE_SECONDS))) {
    const reason = 'a refresh token was used twice'
    await sessions.endById(db, subject, properties.sessionId, currentAuditSource(), reason)
    return undefined
  }
  if (!consumed && (await oauth.find(db, next))?.usedAt) return undefined
  const isActive = await grants.extend(db, subject, properties.sessionId, refreshExpiry())
  return isActive ? value : undefined
}

/**
 * Creates the signing and encryption keys if there are none. Uses a lock, because several processes may start on an
 * empty database at the same time. Without the lock, each of these processes would create its own keys.
 */
export const createKeys = (db: Database) =>
  oauth.withKeyLock(db, async (tx) => {
    const storage = createStorage(tx)
    await signingKeys(storage)
    await encryptionKeys(storage)
  })

/** The input from which OpenAuth issues a code: the authorization request and the grant. */
export interface Consent {
  authorization: {
    response_type: 'code'
    /**
     * The resource (RFC 8707), not the client id. OpenAuth does not support resources, and uses this field as the
     * audience of the token. The grant contains the client id.
     */
    client_id: string
    redirect_uri: string
    state: string
    pkce: { challenge: string; method: 'S256' }
  }
  grant: Grant & { userId: string }
}

/**
 * The OpenAuth provider that receives the result of sign-in and consent from engine/identity/grants.ts. The pages for
 * sign-in and consent are in engine/http/endpoints/consent.ts.
 */
const consentProvider: Provider<Consent['grant']> = {
  type: 'account',
  init(route, { success }) {
    route.post('/consent', async (context: Parameters<typeof success>[0]) => {
      const { authorization, grant } = await context.req.json<Consent>()
      context.set('authorization', authorization)
      return success(context, grant)
    })
  },
}

/**
 * Creates the OpenAuth issuer. Only engine/identity/grants.ts and engine/identity/token-requests.ts send requests to the
 * issuer. OpenAuth loads its keys only
 * once, and keeps the error if the load fails. Therefore, a new OpenAuth instance replaces the current one after each
 * failed request.
 */
export function createIssuer(
  db: Database,
  { baseUrl, authSecret }: Pick<Settings, 'baseUrl' | 'authSecret'>,
) {
  const storage = createTokenStorage(db, authSecret)
  let openAuth = createOpenAuth(storage)
  return {
    /** Sends a GET request, or a POST request with the body. */
    fetch: async (path: string, body?: URLSearchParams | string) => {
      try {
        return await openAuth.fetch(
          new Request(baseUrl + path, body !== undefined ? { method: 'POST', body } : {}),
        )
      } catch (error) {
        openAuth = createOpenAuth(storage)
        throw error
      }
    },
  }
}

export type Issuer = ReturnType<typeof createIssuer>

/** Requests an authorization code from OpenAuth for a grant. */
export async function fetchCode(issuer: Issuer, consent: Consent) {
  const answer = await issuer.fetch('/account/consent', JSON.stringify(consent))
  const location = new URL(answer.headers.get('location') ?? '')
  return location.searchParams.get('code') ?? ''
}

/** Creates the code verifier and the code challenge of a code that the service itself redeems (RFC 7636). */
export function createChallenge() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: digestOf(verifier) }
}

function createOpenAuth(storage: StorageAdapter) {
  // Deletes the environment variable, because OpenAuth would use it instead of the option `storage`.
  delete process.env.OPENAUTH_STORAGE
  const { log } = console
  // Replaces console.log during the call of `issuer`. OpenAuth keeps the function that it finds as console.log during
  // this call, and later passes complete URLs to the function.
  console.log = () => undefined
  const openAuth = issuer({
    providers: { account: consentProvider },
    subjects: createSubjects({ grant: Grant }),
    storage,
    ttl: { access: ACCESS_SECONDS, refresh: REFRESH_SECONDS, reuse: 0 },
    allow: () => Promise.resolve(true),
    success: (respond, { userId, sessionId, clientId, scope }) =>
      respond.subject('grant', { sessionId, clientId, scope }, { subject: userId }),
  })
  console.log = log
  // Rethrows all errors. By default, OpenAuth would report a database outage as an invalid request of the app.
  openAuth.onError((error) => {
    throw error
  })
  return openAuth
}

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
