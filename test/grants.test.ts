import { issuer } from '@openauthjs/openauth'
import { createClient } from '@openauthjs/openauth/client'
import { signingKeys } from '@openauthjs/openauth/keys'
import type { Provider } from '@openauthjs/openauth/provider/provider'
import { MemoryStorage } from '@openauthjs/openauth/storage/memory'
import type { StorageAdapter } from '@openauthjs/openauth/storage/storage'
import { createSubjects } from '@openauthjs/openauth/subject'
import type { AnyContractProcedure } from '@orpc/contract'
import { like } from 'drizzle-orm'
import { Hono } from 'hono'
import {
  type CryptoKey,
  decodeJwt,
  decodeProtectedHeader,
  exportPKCS8,
  exportSPKI,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import postgres from 'postgres'
import { afterAll, describe, expect, inject, test, vi } from 'vitest'
import { z } from 'zod'

import type { Meta } from '../contract/base.ts'
import { createRestClient } from '../contract/client.ts'
import { contract } from '../contract/index.ts'
import { open } from '../db/index.ts'
import { records } from '../db/oauth.ts'
import { createTallystick } from '../src/testing.ts'
import { createStorage } from '../src/identity/tokens.ts'
import { databaseUrl } from './postgres.ts'
import { settingsWithAddress, newEmail, startService } from './service.ts'
import { appWithId, bearer, redirectUri, registerApp, type Tokens } from './oauth-app.ts'
import { createFetch, signInOverHttp } from './http.ts'

// Before anything is made: what it captures of the console, it captures of this one.
const printed: string[] = []
const note = (...parts: unknown[]) => {
  printed.push(parts.map(String).join(' '))
}
for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
  vi.spyOn(console, method).mockImplementation(note)
for (const stream of [process.stdout, process.stderr])
  vi.spyOn(stream, 'write').mockImplementation((text) => {
    note(text)
    return true
  })
afterAll(() => vi.restoreAllMocks())

const environment = await settingsWithAddress()
const service = await startService({ ...environment, ADMIN_EMAILS: 'root@example.com' })
const { db } = service.services
const { origin } = service
const call = createFetch(service)
const app = await registerApp(service)
const other = await registerApp(service, { client_name: 'Another app' })

const person = async () => (await signInOverHttp(service, newEmail())).cookie
const get = (path: string, headers: Record<string, string>) => call('GET', path, undefined, headers)
const list = (tokens: Tokens) => get('/api/tasks', bearer(tokens))

const UNAUTHORIZED = { status: 401, body: { code: 'UNAUTHORIZED' } }
const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } }

/** OpenAuth as it comes, with nothing before it: what each fault looks like. */
function createBare(options: { storage?: StorageAdapter; ttl?: { reuse: number; retention: number } } = {}) {
  const account: Provider<{ id: string }> = {
    type: 'account',
    init: (route, { success }) => {
      route.get('/authorize', (context) => success(context, { id: 'ada' }))
    },
  }
  const { storage = MemoryStorage(), ttl } = options
  const bare = issuer({
    providers: { account },
    subjects,
    storage,
    ...(ttl && { ttl }),
    success: (respond, { id }) => respond.subject('user', { id }),
  })
  const ask = (parameters: Record<string, string> = {}, headers = {}) =>
    bare.request(
      `${origin}/authorize?${new URLSearchParams({
        client_id: 'an-app',
        redirect_uri: redirectUri,
        response_type: 'code',
        ...parameters,
      }).toString()}`,
      { headers },
    )
  /** Where the person ends. */
  const obtainRedirect = async (parameters: Record<string, string> = {}) => {
    const asked = await ask(parameters)
    const cookie = asked.headers.getSetCookie().map((value) => value.split(';', 1)[0])
    const answer = await bare.request(new URL(asked.headers.get('location') ?? '', origin).href, {
      headers: { cookie: cookie.join('; ') },
    })
    return new URL(answer.headers.get('location') ?? '')
  }
  const post = async (fields: Record<string, string>) =>
    bare.request(`${origin}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: 'an-app', redirect_uri: redirectUri, ...fields }).toString(),
    })
  const redeem = (location: URL, fields: Record<string, string> = {}) =>
    post({ grant_type: 'authorization_code', code: location.searchParams.get('code') ?? '', ...fields })
  const tokens = async () => (await (await redeem(await obtainRedirect())).json()) as Tokens
  const client = createClient({
    clientID: 'an-app',
    issuer: origin,
    fetch: async (input: string, init?: RequestInit) => bare.request(input, init),
  })
  return { bare, storage, ask, obtainRedirect, post, redeem, tokens, client }
}
const subjects = createSubjects({ user: z.object({ id: z.string() }) })

const atOnce = <Result>(work: () => Promise<Result>) => Promise.all(Array.from({ length: 20 }, work))
const succeeded = (answers: { status: number }[]) => answers.filter(({ status }) => status === 200).length

/** Another key to sign by, as another process would have made it. */
async function addKey(storage: StorageAdapter) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const id = crypto.randomUUID()
  await storage.set(['signing:key', id], {
    id,
    publicKey: await exportSPKI(publicKey),
    privateKey: await exportPKCS8(privateKey),
    created: Date.now(),
    alg: 'ES256',
  })
  return { id, privateKey }
}

describe('fault 1: what is redeemed in parallel succeeds each time', () => {
  test('a bare issuer gives tokens more than once', async () => {
    const { obtainRedirect, redeem } = createBare()
    const location = await obtainRedirect()

    expect(succeeded(await atOnce(() => redeem(location)))).toBeGreaterThan(1)
  })

  test('one code is redeemed once', async () => {
    const code = (await app.allow(await person())).get('code')

    const answers = await atOnce(() => app.redeem(code))

    expect(succeeded(answers)).toBeLessThanOrEqual(1)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(answer).toMatchObject(INVALID_GRANT)
  })

  test('one refresh token is used at most once, and who used it twice has nothing', async () => {
    const tokens = await app.obtainTokens(await person())

    const answers = await atOnce(() => app.refresh(tokens.refresh_token))

    expect(succeeded(answers)).toBeLessThanOrEqual(1)
    for (const { body } of answers.filter(({ status }) => status === 200))
      expect(await list(body as Tokens)).toMatchObject(UNAUTHORIZED)
    expect(await list(tokens)).toMatchObject(UNAUTHORIZED)
  })
})

describe('fault 2: whoever is refused is sent to the very address that was refused', () => {
  const evil = 'https://evil.example/steal'

  test('a bare issuer sends the person there', async () => {
    const { headers } = await createBare().ask({ redirect_uri: evil })

    expect(headers.get('location')).toContain(evil)
  })

  test.each([
    ['a foreign address', { redirect_uri: evil }],
    ['no address', { redirect_uri: undefined }],
    ['an unknown app', { client_id: 'nobody', redirect_uri: evil }],
    ['no app', { client_id: undefined }],
  ])('%s is a page, and leads nowhere', async (_, parameters) => {
    const cookie = await person()
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(app.authorizationUrl(parameters), {
        method,
        redirect: 'manual',
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
        ...(method === 'POST' && { body: 'action=allow' }),
      })

      expect(answer.status).toBe(400)
      expect(answer.headers.get('location')).toBeNull()
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await answer.text()).not.toContain('evil.example')
    }
  })
})

describe('fault 3: it cannot live under a path', () => {
  test('a bare issuer there tells of addresses that are not there', async () => {
    const under = new Hono().route('/auth', createBare().bare)
    const answer = await under.request(`${origin}/auth/.well-known/oauth-authorization-server`)

    expect(await answer.json()).toMatchObject({ token_endpoint: `${origin}/token` })
  })

  test('it is served at the root, where its metadata says', async () => {
    const { body } = await get('/.well-known/oauth-authorization-server', {})
    const { token_endpoint, authorization_endpoint } = body as Record<string, string>

    expect([authorization_endpoint, token_endpoint]).toEqual([`${origin}/authorize`, `${origin}/token`])
    expect(await call('GET', '/token')).toMatchObject({ status: 405 })
  })
})

describe('fault 4: the issuer is whatever the caller says that the host is', () => {
  const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }

  test('a bare issuer believes it', async () => {
    const answer = await createBare().bare.request(`${origin}/.well-known/oauth-authorization-server`, {
      headers,
    })

    expect(await answer.json()).toMatchObject({
      issuer: expect.stringMatching(/^https:\/\/evil\.example/),
    })
  })

  test('neither Host nor X-Forwarded-Host changes the metadata', async () => {
    const { request } = await import('node:http')
    const paths = ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource']
    for (const path of paths) {
      const { body } = await get(path, {})
      const asked = await new Promise<string>((resolve, reject) => {
        request(origin + path, { headers: { ...headers, host: 'evil.example' } }, (response) => {
          let text = ''
          response.on('data', (chunk) => (text += String(chunk)))
          response.on('end', () => {
            resolve(text)
          })
        })
          .on('error', reject)
          .end()
      })

      expect(JSON.parse(asked)).toEqual(body)
      expect(asked).not.toContain('evil')
    }
  })

  test('nor the issuer of a token', async () => {
    const code = (await app.allow(await person())).get('code')
    const fields = { grant_type: 'authorization_code', code: code ?? '', client_id: app.id }
    const { body } = await call(
      'POST',
      '/token',
      new URLSearchParams({ ...fields, redirect_uri: redirectUri, code_verifier: app.verifier }).toString(),
      { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    )

    expect(decodeJwt((body as Tokens).access_token).iss).toBe(origin)
  })
})

describe('fault 5: anybody may use a refresh token', () => {
  test('a bare issuer asks for no client', async () => {
    const { tokens, post } = createBare()
    const { refresh_token } = await tokens()
    const answer = await post({ grant_type: 'refresh_token', refresh_token, client_id: 'another-app' })

    expect(answer.status).toBe(200)
  })

  test('another app is refused, and the token is still its owner’s', async () => {
    const { refresh_token } = await app.obtainTokens(await person())

    expect(await other.refresh(refresh_token)).toMatchObject(INVALID_GRANT)
    expect(await app.refresh(refresh_token, { client_id: undefined })).toMatchObject(INVALID_GRANT)
    expect(await app.refresh(refresh_token)).toMatchObject({ status: 200 })
  })

  test('nor may another redeem a code', async () => {
    const code = (await app.allow(await person())).get('code')

    expect(await other.redeem(code, { code_verifier: app.verifier })).toMatchObject(INVALID_GRANT)
    expect(await app.redeem(code)).toMatchObject({ status: 200 })
  })
})

describe('fault 6: a refresh token that is used again', () => {
  test.runIf(!('fromAsync' in Array))('crashes a bare issuer on Node 20', async () => {
    const { tokens, post } = createBare({ ttl: { reuse: 0.001, retention: 60 } })
    const { refresh_token } = await tokens()
    const refresh = () => post({ grant_type: 'refresh_token', refresh_token })
    const next = (await (await refresh()).json()) as Tokens
    await new Promise((resolve) => setTimeout(resolve, 20))

    const again = await refresh().catch(() => undefined)

    expect(again?.headers.get('content-type')).not.toContain('json')
    expect(printed.join('\n')).toContain('Array.fromAsync is not a function')
    expect((await post({ grant_type: 'refresh_token', refresh_token: next.refresh_token })).status).toBe(200)
  })

  test('a bare issuer gives tokens for a minute more', async () => {
    const { tokens, post } = createBare()
    const { refresh_token } = await tokens()
    const refresh = () => post({ grant_type: 'refresh_token', refresh_token })

    expect([(await refresh()).status, (await refresh()).status]).toEqual([200, 200])
  })

  test('ends the grant, its newest tokens at once', async () => {
    const cookie = await person()
    const first = await app.obtainTokens(cookie)
    const second = (await app.refresh(first.refresh_token)).body as Tokens
    expect(await list(second)).toMatchObject({ status: 200 })

    expect(await app.refresh(first.refresh_token)).toMatchObject(INVALID_GRANT)

    expect(await list(first)).toMatchObject(UNAUTHORIZED)
    expect(await list(second)).toMatchObject(UNAUTHORIZED)
    expect(await app.refresh(second.refresh_token)).toMatchObject(INVALID_GRANT)
    expect(await get('/api/sessions', { cookie })).toMatchObject({ body: { sessionCount: 1 } })
  })
})

describe('fault 7: whom a token is for is not looked at, and keys are kept for ever', () => {
  test('a bare client takes a token for another', async () => {
    const { tokens, bare } = createBare()
    const { access_token } = await tokens()
    const another = createClient({
      clientID: 'another-app',
      issuer: origin,
      fetch: async (input: string, init?: RequestInit) => bare.request(input, init),
    })

    expect(await another.verify(subjects, access_token)).toMatchObject({ subject: { type: 'user' } })
  })

  test('a bare client never learns of a new key', async () => {
    const { tokens, storage, client } = createBare()
    const { access_token } = await tokens()
    await client.verify(subjects, access_token)
    const { id, privateKey } = await addKey(storage)
    const token = await sign(decodeJwt(access_token), 'ES256', id, privateKey)

    expect(await client.verify(subjects, token)).toHaveProperty('err')
    expect(await createBare({ storage }).client.verify(subjects, token)).not.toHaveProperty('err')
  })

  const sign = (claims: object, alg: string, kid: string | undefined, key: CryptoKey | Uint8Array) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg, ...(kid !== undefined && { kid }) }).sign(key)

  test('a token for another resource is refused', async () => {
    const cookie = await person()
    const mcp = await app.obtainTokens(cookie, { resource: `${origin}/mcp` })
    const rest = await app.obtainTokens(cookie, { resource: origin })

    expect(decodeJwt(mcp.access_token).aud).toBe(`${origin}/mcp`)
    expect(decodeJwt(rest.access_token).aud).toBe(origin)
    expect(await list(mcp)).toMatchObject(UNAUTHORIZED)
    expect(await call('POST', '/mcp', {}, bearer(rest))).toMatchObject({ status: 401 })
    expect((await call('POST', '/mcp', {}, bearer(mcp))).status).not.toBe(401)
  })

  test('only ES256 by one of our keys is taken', async () => {
    const { access_token, ...tokens } = await app.obtainTokens(await person())
    const claims = decodeJwt(access_token)
    const { kid } = decodeProtectedHeader(access_token)
    const [key] = await signingKeys(createStorage(db))
    const pem = new TextEncoder().encode(await exportSPKI(key?.public as CryptoKey))
    const own = (await generateKeyPair('ES256')).privateKey
    const rsa = (await generateKeyPair('RS256')).privateKey
    const [header = '', payload = ''] = access_token.split('.')
    const forged = [
      new UnsecuredJWT({ ...claims }).encode(),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      await sign(claims, 'HS256', kid, pem),
      await sign(claims, 'ES256', kid, own),
      await sign(claims, 'ES256', 'unknown', own),
      await sign(claims, 'RS256', kid, rsa),
      `${header}.${payload}.`,
      `${header}.${payload}`,
      '',
      'x',
      'a.b.c',
    ]

    for (const token of forged)
      expect(await list({ ...tokens, access_token: token })).toMatchObject(UNAUTHORIZED)
    expect(await list({ ...tokens, access_token })).toMatchObject({ status: 200 })
  })

  test.each([
    ['past its time', { exp: 1 }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['that is no access token', { mode: 'refresh' }],
    ['of no session', { properties: {} }],
    ['of a browser’s session', undefined],
  ])('a token %s is refused, even signed by our key', async (_, changes) => {
    const cookie = await person()
    const { access_token, ...tokens } = await app.obtainTokens(cookie)
    const [key] = await signingKeys(createStorage(db))
    const { sessions } = await createRestClient(origin, { headers: { cookie } }).sessions.list()
    const sessionId = sessions.find(({ isCurrent }) => isCurrent)?.id
    const claims = decodeJwt(access_token)
    const changed = changes ?? { properties: { ...(claims.properties as object), sessionId } }
    const token = (more: object) => sign({ ...claims, ...more }, 'ES256', key?.id, key?.private as CryptoKey)

    expect(await list({ ...tokens, access_token: await token({}) })).toMatchObject({ status: 200 })
    expect(await list({ ...tokens, access_token: await token(changed) })).toMatchObject(UNAUTHORIZED)
  })

  test('a session that was revoked is refused at once', async () => {
    const cookie = await person()
    const tokens = await app.obtainTokens(cookie)
    const browser = createRestClient(origin, { headers: { cookie } })
    const { sessions } = await browser.sessions.list()
    await browser.sessions.revoke({
      revokeSessionToken: sessions.find(({ isCurrent }) => !isCurrent)?.token ?? '',
    })

    expect(await list(tokens)).toMatchObject(UNAUTHORIZED)
  })
})

describe('fault 8: PKCE is optional, and plain and implicit will do', () => {
  test('a bare issuer redeems a code without a verifier', async () => {
    const { obtainRedirect, redeem } = createBare()

    expect((await redeem(await obtainRedirect())).status).toBe(200)
  })

  test('a bare issuer takes plain', async () => {
    const { obtainRedirect, redeem } = createBare()
    const location = await obtainRedirect({ code_challenge: 'plain', code_challenge_method: 'plain' })

    expect((await redeem(location, { code_verifier: 'plain' })).status).toBe(200)
  })

  test('a bare issuer puts tokens into the address', async () => {
    const { hash } = await createBare().obtainRedirect({ response_type: 'token' })

    expect(hash).toContain('access_token=')
  })

  test.each([
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['no method', { code_challenge_method: undefined }, 'invalid_request'],
    ['plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a challenge that is no SHA-256', { code_challenge: 'short' }, 'invalid_request'],
    ['implicit', { response_type: 'token' }, 'unsupported_response_type'],
    ['hybrid', { response_type: 'code token' }, 'unsupported_response_type'],
  ])('%s is refused, and the app hears of it once the person agreed', async (_, parameters, error) => {
    const asked = { state: 'a state', ...parameters }
    for (const cookie of ['', await person()]) {
      const answer = await fetch(app.authorizationUrl(asked), { redirect: 'manual', headers: { cookie } })

      expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
      expect(await answer.text()).toContain(error)
    }
    expect((await app.submitConsent({ action: 'allow' }, {}, asked)).headers.get('location')).toBeNull()

    const { status, headers } = await app.submitConsent(
      { action: 'allow' },
      { cookie: await person() },
      asked,
    )
    const location = new URL(headers.get('location') ?? '')
    expect(status).toBe(303)
    expect(location.origin + location.pathname).toBe(redirectUri)
    expect(Object.fromEntries(location.searchParams)).toEqual({
      error,
      error_description: expect.any(String),
      state: 'a state',
      iss: origin,
    })
    expect(location.hash).toBe('')
  })

  test.each([
    ['no verifier', { code_verifier: undefined }],
    ['an empty verifier', { code_verifier: '' }],
    ['another verifier', { code_verifier: 'x'.repeat(43) }],
    ['another redirect URI', { redirect_uri: 'http://127.0.0.1:8/callback' }],
    ['no redirect URI', { redirect_uri: undefined }],
  ])('%s redeems nothing, and the code is gone', async (_, fields) => {
    const code = (await app.allow(await person())).get('code')

    expect(await app.redeem(code, fields)).toMatchObject(INVALID_GRANT)
    expect(await app.redeem(code)).toMatchObject(INVALID_GRANT)
  })
})

describe('fault 9: the token answer lacks token_type and no-store', () => {
  test('a bare issuer’s does', async () => {
    const { obtainRedirect, redeem } = createBare()
    const answer = await redeem(await obtainRedirect())

    expect(answer.headers.get('cache-control')).toBeNull()
    expect(await answer.json()).not.toHaveProperty('token_type')
  })

  test('both are there', async () => {
    const code = (await app.allow(await person())).get('code')
    const redeemed = await app.redeem(code)
    const refreshed = await app.refresh((redeemed.body as Tokens).refresh_token)

    for (const { status, headers, body } of [redeemed, refreshed]) {
      expect(status).toBe(200)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-type')).toBe('application/json')
      expect(body).toEqual({
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: expect.any(Number),
        scope: 'read write',
      })
    }
  })
})

describe('fault 10: an unknown grant is a page of text', () => {
  test('a bare issuer’s is no JSON', async () => {
    const answer = await createBare()
      .post({ grant_type: 'password' })
      .catch((error: unknown) => error)

    expect(answer instanceof Response ? answer.headers.get('content-type') : 'a crash').not.toContain('json')
  })

  test.each(['password', 'client_credentials', 'toString', 'constructor', '__proto__'])(
    '%s is unsupported_grant_type, in JSON',
    async (grant_type) => {
      const { status, headers, body } = await app.post('/token', { grant_type })

      expect({ status, body }).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } })
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('cache-control')).toBe('no-store')
    },
  )

  test('and descriptions are ASCII, without quotes', async () => {
    const answers = [
      await app.post('/token', { grant_type: 'password' }),
      await app.redeem('nothing'),
      await app.refresh('nothing'),
    ]
    for (const { body } of answers)
      expect(body).toMatchObject({
        error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
      })
  })
})

describe('fault 11: the subject is a hash', () => {
  test('a bare issuer’s is one', async () => {
    const { access_token } = await createBare().tokens()

    expect(decodeJwt(access_token).sub).toMatch(/^user:[\da-f]{16}$/)
  })

  test('it is the account’s id', async () => {
    const cookie = await person()
    const { id } = await createRestClient(origin, { headers: { cookie } }).account.get()
    const tokens = await app.obtainTokens(cookie)

    expect(decodeJwt(tokens.access_token).sub).toBe(id)
    expect(await get('/api/me', bearer(tokens))).toMatchObject({ body: { id } })
  })
})

describe('fault 12: two that start at once make different keys', () => {
  test('bare issuers do', async () => {
    const storage = MemoryStorage()
    const both = [createBare({ storage }), createBare({ storage })]
    await Promise.all(both.map(async ({ bare }) => bare.request(`${origin}/.well-known/jwks.json`)))

    expect(await signingKeys(storage)).toHaveLength(2)
  })

  test('these make one', async () => {
    const { url, template } = inject('postgres')
    const name = `tallystick_keys_${process.pid}`
    const admin = postgres(url, { max: 1, onnotice: () => undefined })
    await admin`create database ${admin(name)} template ${admin(template)}`
    const settings = { DATABASE_URL: databaseUrl(url, name) }
    const made = await Promise.all(Array.from({ length: 4 }, () => createTallystick(settings)))
    const connection = await open(settings.DATABASE_URL)
    const count = (kind: string) =>
      connection.db
        .select()
        .from(records)
        .where(like(records.key, `${kind}%`))

    expect(await count('signing:key')).toHaveLength(1)
    expect(await count('encryption:key')).toHaveLength(1)

    await Promise.all([...made, connection].map(({ close }) => close()))
    await admin`drop database ${admin(name)} with (force)`
    await admin.end()
  })
})

describe('fault 13: whole addresses are logged', () => {
  test('a bare issuer prints them', async () => {
    await createBare().ask({ state: 'a-bare-secret' })

    expect(printed.join('\n')).toContain('a-bare-secret')
  })

  test('nothing of them is printed', async () => {
    printed.length = 0
    const cookie = await person()
    const state = 'a-kept-secret'
    await fetch(app.authorizationUrl({ state }), { headers: { cookie } })
    await app.submitConsent({ action: 'deny' }, { cookie }, { state })
    const code = (await app.allow(cookie, { state })).get('code') ?? ''
    const { refresh_token } = (await app.redeem(code)).body as Tokens
    await app.refresh(refresh_token)
    await app.refresh(refresh_token)
    await app.redeem(code)

    expect(printed).toEqual([])
  })
})

describe('a scope', () => {
  test('that was not granted is refused, and named', async () => {
    const tokens = await app.obtainTokens(await person(), { scope: 'read' })
    const answer = await call('POST', '/api/tasks', { taskTitle: 'By token' }, bearer(tokens))

    expect(tokens.scope).toBe('read')
    expect(await list(tokens)).toMatchObject({ status: 200 })
    expect(answer).toMatchObject({
      status: 403,
      body: { defined: true, code: 'INSUFFICIENT_SCOPE', message: 'The token was not granted this' },
    })
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource", error="insufficient_scope", scope="write"`,
    )
  })

  test('write is not read', async () => {
    const tokens = await app.obtainTokens(await person(), { scope: 'write' })

    expect(await call('POST', '/api/tasks', { taskTitle: 'By token' }, bearer(tokens))).toMatchObject({
      status: 200,
    })
    expect(await list(tokens)).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } })
  })

  test('is read, where none is asked for', async () => {
    expect(await app.obtainTokens(await person(), { scope: undefined })).toMatchObject({ scope: 'read' })
  })

  test('is named once, however often it is asked for', async () => {
    expect(await app.obtainTokens(await person(), { scope: 'write  write read' })).toMatchObject({
      scope: 'write read',
    })
  })

  test.each(['admin', 'read admin', 'openid', 'READ', '', ' '])('"%s" is invalid_scope', async (scope) => {
    expect((await app.allow(await person(), { scope })).get('error')).toBe('invalid_scope')
  })

  test('is there on every procedure that a token may call', () => {
    const closed: unknown[] = []
    for (const resource of Object.values(contract))
      for (const { '~orpc': procedure } of Object.values<AnyContractProcedure>(resource)) {
        const { access, scope } = procedure.meta as Meta
        if (access === 'signedIn' && !scope) closed.push(procedure.route.path)
      }

    expect(closed).toEqual(['/api/me/export', '/api/me/delete', '/api/sessions', '/api/sessions/revoke'])
  })

  test.each([
    ['GET', '/api/me/export', undefined],
    ['POST', '/api/me/delete', { email: 'root@example.com' }],
    ['GET', '/api/sessions', undefined],
    ['POST', '/api/sessions/revoke', { revokeSessionToken: 'x' }],
    ['POST', '/api/auth/update-user', { name: 'Taken' }],
    ['GET', '/api/auth/admin/list-users', undefined],
    ['POST', '/api/auth/admin/stop-impersonating', {}],
  ])('of none lets an app %s %s', async (method, path, body) => {
    const { cookie } = await signInOverHttp(service, 'root@example.com')
    const tokens = await app.obtainTokens(cookie)

    const refused = await call(method, path, body, bearer(tokens))
    expect(refused).toMatchObject({ status: 403 })
    expect(refused.headers.get('www-authenticate') ?? '').not.toContain('invalid_token')
    expect(await call(method, path, body, { ...bearer(tokens), cookie })).toMatchObject({ status: 403 })
    expect(await get('/api/me', { cookie })).toMatchObject({ status: 200, body: { name: '' } })
  })

  test('of none lets an app allow itself more', async () => {
    const cookie = await person()
    const tokens = await app.obtainTokens(cookie, { scope: 'read' })
    const answer = await app.submitConsent({ action: 'allow' }, bearer(tokens))

    expect(answer.headers.get('location')).toBeNull()
    expect(await get('/api/sessions', { cookie })).toMatchObject({ body: { sessionCount: 2 } })
  })

  test('of none lets an administrator allow an app what somebody they stand in for has', async () => {
    const ada = await signInOverHttp(service, newEmail())
    const { id } = await createRestClient(origin, { headers: { cookie: ada.cookie } }).account.get()
    const { cookie } = await signInOverHttp(service, 'root@example.com')
    const { headers } = await call('POST', '/api/auth/admin/impersonate-user', { userId: id }, { cookie })
    const cookies = headers.getSetCookie().map((value) => value.split(';', 1)[0]?.split('=', 2) ?? [])
    const standIn = [...new Map(cookies as [string, string][])].map((pair) => pair.join('=')).join('; ')
    expect(await get('/api/me', { cookie: standIn })).toMatchObject({ body: { id } })

    const answer = await app.submitConsent({ action: 'allow' }, { cookie: standIn })

    expect(answer.headers.get('location')).toBeNull()
  })
})

describe('a bad bearer token', () => {
  const bad = [
    'Bearer x',
    'bearer x',
    'BEARER  a.b.c',
    'Bearer',
    'Bearer x y',
    'Bearer=x',
    'Bearer x, Basic dTpw',
  ]

  test.each([
    ['GET', '/api/tasks'],
    ['GET', '/api/sessions'],
    ['GET', '/api/me'],
    ['POST', '/api/auth/update-user'],
    ['GET', '/api/auth/admin/list-users'],
  ])('is 401 on %s %s, whatever the cookie', async (method, path) => {
    const { cookie } = await signInOverHttp(service, 'root@example.com')
    for (const authorization of bad)
      for (const credentials of [{}, { cookie }] as Record<string, string>[])
        expect(
          await call(method, path, method === 'POST' ? {} : undefined, { authorization, ...credentials }),
        ).toMatchObject(UNAUTHORIZED)

    expect(await get('/api/me', { cookie })).toMatchObject({ status: 200 })
  })

  test('is told so', async () => {
    const { headers } = await get('/api/tasks', { authorization: 'Bearer x' })

    expect(headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource", error="invalid_token"`,
    )
  })

  test('none at all is told only where to get one', async () => {
    expect((await get('/api/tasks', {})).headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
    )
  })

  test('is 401 over RPC and in process too', async () => {
    const cookie = await service.signIn(newEmail())
    const headers = { cookie, authorization: 'Bearer x' }

    await expect(service.client(headers).account.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect(await call('POST', '/rpc/account/get', {}, headers)).toMatchObject({ status: 401 })
  })

  test('a good one decides, not the cookie beside it', async () => {
    const tokens = await app.obtainTokens(await person())
    const { body } = await get('/api/me', bearer(tokens))

    expect((await get('/api/me', { ...bearer(tokens), cookie: await person() })).body).toEqual(body)
  })
})

describe('a grant', () => {
  test('is among the sessions, named after its app', async () => {
    const cookie = await person()
    await app.obtainTokens(cookie)
    const { sessions } = await createRestClient(origin, { headers: { cookie } }).sessions.list()

    expect(sessions).toHaveLength(2)
    expect(sessions.find(({ isCurrent }) => !isCurrent)).toMatchObject({
      browser: 'An app',
      userAgent: 'An app',
      os: 'Unknown',
    })
  })

  test('is no session of a browser’s', async () => {
    const cookie = await person()
    await app.obtainTokens(cookie)
    const { sessions } = await createRestClient(origin, { headers: { cookie } }).sessions.list()
    const token = sessions.find(({ isCurrent }) => !isCurrent)?.token ?? ''
    const [name] = cookie.split('=')

    expect(await get('/api/me', { cookie: `${name}=${token}` })).toMatchObject(UNAUTHORIZED)
    expect(await get('/api/me', { authorization: `Bearer ${token}` })).toMatchObject(UNAUTHORIZED)
  })

  test('ends when it is revoked, access and refresh at once', async () => {
    const cookie = await person()
    const [tokens, kept] = [await app.obtainTokens(cookie), await other.obtainTokens(cookie)]
    const browser = createRestClient(origin, { headers: { cookie } })
    const { sessions } = await browser.sessions.list()
    await browser.sessions.revoke({
      revokeSessionToken: sessions.find(({ browser: name }) => name === 'An app')?.token ?? '',
    })

    expect(await list(tokens)).toMatchObject(UNAUTHORIZED)
    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
    expect(await list(kept)).toMatchObject({ status: 200 })
  })

  test('that was revoked before its code is redeemed gives no tokens', async () => {
    const cookie = await person()
    const code = (await app.allow(cookie)).get('code')
    const browser = createRestClient(origin, { headers: { cookie } })
    const { sessions } = await browser.sessions.list()
    await browser.sessions.revoke({
      revokeSessionToken: sessions.find(({ isCurrent }) => !isCurrent)?.token ?? '',
    })

    expect(await app.redeem(code)).toMatchObject(INVALID_GRANT)
  })

  test.each([
    ['banned', 'ban-user', {}],
    ['removed', 'remove-user', {}],
    ['put out of every session', 'revoke-user-sessions', {}],
  ])('ends when the person is %s', async (_, operation, more) => {
    const cookie = await person()
    const tokens = await app.obtainTokens(cookie)
    const code = (await app.allow(cookie)).get('code')
    const userId = decodeJwt(tokens.access_token).sub
    const root = await signInOverHttp(service, 'root@example.com')
    const answer = await call(
      'POST',
      `/api/auth/admin/${operation}`,
      { userId, ...more },
      { cookie: root.cookie },
    )
    expect(answer.status).toBe(200)

    expect(await list(tokens)).toMatchObject(UNAUTHORIZED)
    expect(await get('/api/me', bearer(tokens))).toMatchObject(UNAUTHORIZED)
    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
    const { body } = await app.redeem(code)
    expect(await list(body as Tokens)).toMatchObject(UNAUTHORIZED)
  })

  test('outlives the browser’s sign-out', async () => {
    const cookie = await person()
    const tokens = await app.obtainTokens(cookie)
    await call('POST', '/api/auth/sign-out', {}, { cookie })

    expect(await get('/api/me', { cookie })).toMatchObject(UNAUTHORIZED)
    expect(await list(tokens)).toMatchObject({ status: 200 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject({ status: 200 })
  })

  test('is not made where nobody is signed in', async () => {
    const answer = await appWithId(service, app.id).submitConsent({ action: 'allow' }, {})

    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('Your e-mail address')
  })
})
