import { issuer } from '@openauthjs/openauth'
import { encryptionKeys, signingKeys } from '@openauthjs/openauth/keys'
import type { Provider } from '@openauthjs/openauth/provider/provider'
import { joinKey, splitKey, type StorageAdapter } from '@openauthjs/openauth/storage/storage'
import { createSubjects } from '@openauthjs/openauth/subject'
import { createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'

import type { Database } from '../db/connection/database.ts'
import { digestOf } from '../db/accounts/digest.ts'
import * as oauth from '../db/accounts/oauth.ts'
import * as grants from '../db/accounts/grants.ts'
import * as sessions from '../db/accounts/sessions.ts'
import type { Settings } from '../settings/settings.ts'
import { currentAuditSource } from './audit-context.ts'

const ACCESS_SECONDS = 10 * 60
const REFRESH_SECONDS = 30 * 24 * 3600
/** Time in which the same refresh token returns the same successor, in seconds. */
const REUSE_SECONDS = 30

/** The private claims of a token: the grant (a row of the table `sessions`), the app, and the scope. */
export const Grant = z.object({ sessionId: z.string(), clientId: z.string(), scope: z.string() })
export type Grant = z.infer<typeof Grant>

const StoredRefreshToken = z.object({ subject: z.string(), properties: Grant })

export const refreshExpiry = () => new Date(Date.now() + REFRESH_SECONDS * 1000)

/**
 * Hashes the storage keys of codes and refresh tokens, because these keys contain the code or the token. A leaked copy
 * of the database therefore contains no usable code or token. Needed until OpenAuth stores digests itself (0.4.3 does not).
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
  // Omits `nextToken`: OpenAuth creates the next refresh token in advance, and would store it in plain text. Needed as long as
  // `storageKey`.
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
 * to detect replays. Needed until OpenAuth's storage has an operation that reads and removes (0.4.3: `get`, then `remove`).
 */
const createTokenStorage = (db: Database, secret: string): StorageAdapter => {
  const storage = createStorage(db)
  return {
    ...storage,
    async get(key) {
      const [kind, subject = '', token = ''] = key
      if (kind === 'oauth:code') return (await oauth.consume(db, storageKey(key), refreshExpiry()))?.value
      if (kind !== 'oauth:refresh') return storage.get(key)
      // Derived, because it is not stored (`set`), and each use of a token within REUSE_SECONDS must return the same next token.
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
 * empty database at the same time. Without the lock, each of these processes would create its own keys. Needed until OpenAuth
 * accepts existing keys as an option (0.4.3 creates them in the storage).
 */
export const createMissingKeys = (db: Database) =>
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
     * audience of the token. The grant contains the client id. Needed until OpenAuth supports RFC 8707.
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
 * sign-in and consent are in engine/http/endpoints/consent.ts. Needed until OpenAuth can issue a code without a request (0.4.3
 * does so only in `success` of a provider).
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
 * issuer. OpenAuth loads its keys only once, and keeps the error if the load fails. Therefore, a new OpenAuth instance replaces
 * the current one after each failed request. Needed until OpenAuth loads its keys again after an error (`lazy` of 0.4.3 does not).
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
  // Deletes the environment variable, because OpenAuth would use it instead of the option `storage`. Needed until the option has
  // priority.
  delete process.env.OPENAUTH_STORAGE
  const { log } = console
  // Replaces console.log during the call of `issuer`. OpenAuth keeps the function that it finds as console.log during
  // this call, and later passes paths with their queries to the function. Needed until OpenAuth has an option for its logger.
  console.log = () => undefined
  const openAuth = issuer({
    providers: { account: consentProvider },
    subjects: createSubjects({ grant: Grant }),
    storage,
    // `useRefreshToken` decides about a reuse.
    ttl: { access: ACCESS_SECONDS, refresh: REFRESH_SECONDS, reuse: 0 },
    allow: () => Promise.resolve(true),
    success: (respond, { userId, sessionId, clientId, scope }) =>
      respond.subject('grant', { sessionId, clientId, scope }, { subject: userId }),
  })
  console.log = log
  // Rethrows all errors. By default, OpenAuth would report a database outage as an invalid request of the app. Needed until
  // OpenAuth passes on errors of its storage.
  openAuth.onError((error) => {
    throw error
  })
  return openAuth
}
