import { issuer } from '@openauthjs/openauth'
import { encryptionKeys, signingKeys } from '@openauthjs/openauth/keys'
import type { Provider } from '@openauthjs/openauth/provider/provider'
import { joinKey, splitKey, type StorageAdapter } from '@openauthjs/openauth/storage/storage'
import { createSubjects } from '@openauthjs/openauth/subject'
import { createLocalJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { createHash } from 'node:crypto'
import { z } from 'zod'

import type { Database } from '../../db/database.ts'
import * as oauth from '../../db/oauth.ts'
import * as sessions from '../../db/sessions.ts'
import { currentSource } from '../telemetry/audit.ts'

const ACCESS_SECONDS = 10 * 60
const REFRESH_SECONDS = 30 * 24 * 3600

/** What a token says beyond whose it is: the session that stands for the grant, the app, and what it may do. */
export const Grant = z.object({ sessionId: z.string(), clientId: z.string(), scope: z.string() })
export type Grant = z.infer<typeof Grant>

const Claims = z.object({ sub: z.string(), mode: z.literal('access'), properties: Grant })
const Held = z.object({ subject: z.string(), properties: Grant })

export const refreshExpiry = () => new Date(Date.now() + REFRESH_SECONDS * 1000)

/** Codes and refresh tokens are kept as digests alone: a copy of the database redeems none. */
const kept = (key: string[]) =>
  isSecret(key) ? createHash('sha256').update(joinKey(key)).digest('base64url') : joinKey(key)
const isSecret = ([kind]: string[]) => kind === 'oauth:code' || kind === 'oauth:refresh'

export const codeKey = (code: string) => kept(['oauth:code', code])
export const refreshKey = (token: string) => {
  const [subject = '', secret = ''] = token.split(':')
  return kept(['oauth:refresh', subject, secret])
}

/**
 * OpenAuth's storage in PostgreSQL. OpenAuth reads a code or a refresh token and removes it later, so concurrent
 * redemptions would all succeed. Here one statement reads it and marks it as used: the first redemption succeeds. The
 * used record stays, so that a replay can be recognised for as long as a refresh token lives.
 */
export const createStorage = (db: Database): StorageAdapter => ({
  async get(key) {
    if (key[0] === 'oauth:code') return (await oauth.consume(db, kept(key), refreshExpiry()))?.value
    if (key[0] === 'oauth:refresh') return useRefreshToken(db, kept(key))
    return (await oauth.find(db, kept(key)))?.value
  },
  async set(key, { nextToken: _, ...value }: Record<string, unknown>, expiry) {
    await oauth.put(db, kept(key), value, expiry)
  },
  async remove(key) {
    // A used code or refresh token stays: see above.
    if (!isSecret(key)) await oauth.remove(db, kept(key))
  },
  async *scan(prefix) {
    for (const { key, value } of await oauth.list(db, joinKey([...prefix, ''])))
      yield [splitKey(key), value] as [string[], unknown]
  },
})

/** A refresh token is good once, while its grant lives. Used again, either side may be a thief: the grant ends. */
async function useRefreshToken(db: Database, key: string) {
  const first = await oauth.consume(db, key)
  const { subject, properties } = Held.safeParse((first ?? (await oauth.find(db, key)))?.value).data ?? {}
  if (!subject || !properties) return undefined
  if (!first) {
    await sessions.end(db, subject, properties.sessionId, currentSource(), 'a refresh token was used twice')
    return undefined
  }
  const prolonged = await sessions.prolong(db, subject, properties.sessionId, refreshExpiry())
  return prolonged ? first.value : undefined
}

/** OpenAuth makes keys when first asked, each process its own: here they are made once, before anybody asks. */
export const makeKeys = (db: Database) =>
  oauth.withKeyLock(db, async (tx) => {
    const storage = createStorage(tx)
    await signingKeys(storage)
    await encryptionKeys(storage)
  })

/** What a code is made of: whom the app acts for, as what, and where the code goes. */
export interface Consent {
  authorization: {
    response_type: 'code'
    /** The audience: OpenAuth writes the client's id there, and knows no resources (RFC 8707). Who the client is stands in the grant. */
    client_id: string
    redirect_uri: string
    state: string
    pkce: { challenge: string; method: 'S256' }
  }
  grant: Grant & { userId: string }
}

/** People sign in and consent before OpenAuth hears of it: it is handed the outcome. */
const account: Provider<Consent['grant']> = {
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
 * OpenAuth itself. src/http/oauth.ts alone speaks to it, and lets through only what OpenAuth answers well. OpenAuth
 * reads its keys once and keeps a failure for ever, so a failed request replaces the instance.
 */
export function createIssuer(db: Database) {
  let openAuth = createOpenAuth(db)
  return {
    fetch: async (request: Request) => {
      try {
        return await openAuth.fetch(request)
      } catch (error) {
        openAuth = createOpenAuth(db)
        throw error
      }
    },
  }
}

function createOpenAuth(db: Database) {
  // It would follow this over the storage that it is given.
  delete process.env.OPENAUTH_STORAGE
  const { log } = console
  // Its access log would write whole addresses to what is console.log when it is made.
  console.log = () => undefined
  const made = issuer({
    providers: { account },
    subjects: createSubjects({ grant: Grant }),
    storage: createStorage(db),
    ttl: { access: ACCESS_SECONDS, refresh: REFRESH_SECONDS, reuse: 0 },
    allow: () => Promise.resolve(true),
    success: (respond, { userId, sessionId, clientId, scope }) =>
      respond.subject('grant', { sessionId, clientId, scope }, { subject: userId }),
  })
  console.log = log
  // It would answer an outage as a refusal of the app's.
  made.onError((error) => {
    throw error
  })
  return made
}

/** Minimum time between two loads of the signing keys, in milliseconds: any caller can name an unknown key. */
const RELOAD_PAUSE = 5_000

/** The signing keys of this process. Concurrent callers share one load; a failed load keeps the keys of the last one. */
function createKeySet(db: Database) {
  let current: ReturnType<typeof createLocalJWKSet> | undefined
  let loading: Promise<NonNullable<typeof current>> | undefined
  let loadedAt = 0

  const read = async () => {
    const keys = await signingKeys(createStorage(db))
    current = createLocalJWKSet({ keys: keys.map(({ jwk, alg }) => ({ ...jwk, alg })) })
    loadedAt = performance.now()
    return current
  }
  const load = () =>
    (loading ??= read().finally(() => {
      loading = undefined
    }))

  return {
    get: () => current ?? load(),
    /** Another process may have made a key since. Returns `undefined` while the last load is too recent. */
    reload: () => (performance.now() - loadedAt < RELOAD_PAUSE ? loading : load()),
  }
}

/** Verifies access tokens: signature, expiry, issuer and audience. A token that fails a check is `undefined`. */
export function createVerifier(db: Database, issuer: string) {
  const keys = createKeySet(db)

  return async (token: string, audience: string) => {
    const check = async (set: JWTVerifyGetKey) =>
      jwtVerify(token, set, { issuer, audience, algorithms: ['ES256'] })
    try {
      const { payload } = await check(await keys.get()).catch(async (error: unknown) => {
        const reloaded = error instanceof errors.JWKSNoMatchingKey && (await keys.reload())
        if (!reloaded) throw error
        return check(reloaded)
      })
      return Claims.parse(payload)
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof z.ZodError) return undefined
      throw error
    }
  }
}
