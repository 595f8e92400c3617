import { signingKeys } from '@openauthjs/openauth/keys'
import { MemoryStorage } from '@openauthjs/openauth/storage/memory'
import type { StorageAdapter } from '@openauthjs/openauth/storage/storage'
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
import { describe, expect, test } from 'vitest'

import { open } from '../../db/connection/open.ts'
import { records } from '../../db/accounts/oauth.ts'
import { createStorage } from '../../identity/tokens.ts'
import { copyDatabase, postgresOfRun } from '../../dev/testing/database.ts'
import { captureOutput, createBareIssuer, subjects } from '../fixtures/bare-issuer.ts'
import { formType } from '../fixtures/http.ts'
import {
  bearer,
  createOAuthCalls,
  redirectUri,
  registerApp,
  type Tokens,
  UNAUTHORIZED,
} from '../fixtures/oauth-app.ts'
import { createRestClient, createTallystick, settingsWithAddress, startService } from '../fixtures/service.ts'
import { app as library } from '../library/app.ts'

const printed = captureOutput()
const service = await startService(await settingsWithAddress())
const { db } = service.services
const { origin } = service
const { call, get, signIn, listShelves } = createOAuthCalls(service)
const app = await registerApp(service)

/** Stores a new signing key in the database, as another process of the service can do. */
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

describe('OpenAuth fault 2: an error redirects to a redirect URI that is not registered', () => {
  const evil = 'https://evil.example/steal'

  test('a bare issuer redirects to the unregistered URI', async () => {
    const { headers } = await createBareIssuer(origin).authorize({ redirect_uri: evil })

    expect(headers.get('location')).toContain(evil)
  })

  test.each([
    ['a foreign redirect URI', { redirect_uri: evil }],
    ['no redirect URI', { redirect_uri: undefined }],
    ['an unknown app', { client_id: 'nobody', redirect_uri: evil }],
    ['no app', { client_id: undefined }],
  ])('the service shows a page without a redirect for %s', async (_, parameters) => {
    const cookie = await signIn()
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(app.authorizationUrl(parameters), {
        method,
        redirect: 'manual',
        headers: { cookie, ...formType },
        ...(method === 'POST' && { body: 'action=allow' }),
      })

      expect(answer.status).toBe(400)
      expect(answer.headers.get('location')).toBeNull()
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await answer.text()).not.toContain('evil.example')
    }
  })
})

describe('OpenAuth fault 3: the issuer does not work below a path', () => {
  test('a bare issuer below a path publishes URLs without the path', async () => {
    const parent = new Hono().route('/auth', createBareIssuer(origin).bare)

    const answer = await parent.request(`${origin}/auth/.well-known/oauth-authorization-server`)

    expect(await answer.json()).toMatchObject({ token_endpoint: `${origin}/token` })
  })

  test('the service serves the issuer at the root, as its metadata says', async () => {
    const { body } = await get('/.well-known/oauth-authorization-server')
    const { token_endpoint, authorization_endpoint } = body as Record<string, string>

    expect([authorization_endpoint, token_endpoint]).toEqual([`${origin}/authorize`, `${origin}/token`])
    expect(await call('GET', '/token')).toMatchObject({ status: 405 })
  })
})

describe('OpenAuth fault 4: the issuer is taken from headers of the request', () => {
  const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }

  test('a bare issuer uses X-Forwarded-Host and X-Forwarded-Proto', async () => {
    const answer = await createBareIssuer(origin).bare.request(
      `${origin}/.well-known/oauth-authorization-server`,
      {
        headers,
      },
    )

    expect(await answer.json()).toMatchObject({
      issuer: expect.stringMatching(/^https:\/\/evil\.example/),
    })
  })

  test('neither Host nor X-Forwarded-Host changes the metadata of the service', async () => {
    const { request } = await import('node:http')
    const paths = ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource']
    for (const path of paths) {
      const { body } = await get(path)
      const spoofed = await new Promise<string>((resolve, reject) => {
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

      expect(JSON.parse(spoofed)).toEqual(body)
      expect(spoofed).not.toContain('evil')
    }
  })

  test('neither header changes the issuer of a token', async () => {
    const code = (await app.allow(await signIn())).get('code')
    const fields = { grant_type: 'authorization_code', code: code ?? '', client_id: app.id }

    const { body } = await call(
      'POST',
      '/token',
      new URLSearchParams({ ...fields, redirect_uri: redirectUri, code_verifier: app.verifier }).toString(),
      { ...headers, ...formType },
    )

    expect(decodeJwt((body as Tokens).access_token).iss).toBe(origin)
  })
})

describe('OpenAuth fault 7: the audience is not verified, and keys are cached without limit', () => {
  test('a client of a bare issuer accepts a token for another client', async () => {
    const { obtainTokens, createVerifyingClient } = createBareIssuer(origin)
    const { access_token } = await obtainTokens()

    const verified = await createVerifyingClient('another-app').verify(subjects, access_token)

    expect(verified).toMatchObject({ subject: { type: 'user' } })
  })

  test('a client of a bare issuer never loads a new key', async () => {
    const { obtainTokens, storage, createVerifyingClient } = createBareIssuer(origin)
    const client = createVerifyingClient('an-app')
    const { access_token } = await obtainTokens()
    await client.verify(subjects, access_token)
    const { id, privateKey } = await addKey(storage)
    const token = await sign(decodeJwt(access_token), 'ES256', id, privateKey)

    const known = await client.verify(subjects, token)
    const restarted = await createBareIssuer(origin, { storage })
      .createVerifyingClient('an-app')
      .verify(subjects, token)

    expect(known).toHaveProperty('err')
    expect(restarted).not.toHaveProperty('err')
  })

  const sign = (claims: object, alg: string, kid: string | undefined, key: CryptoKey | Uint8Array) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg, ...(kid !== undefined && { kid }) }).sign(key)

  test('the service rejects a token for another resource', async () => {
    const cookie = await signIn()
    const mcp = await app.obtainTokens(cookie, { resource: `${origin}/mcp` })
    const rest = await app.obtainTokens(cookie, { resource: origin })

    expect(decodeJwt(mcp.access_token).aud).toBe(`${origin}/mcp`)
    expect(decodeJwt(rest.access_token).aud).toBe(origin)
    expect(await listShelves(mcp)).toMatchObject(UNAUTHORIZED)
    expect(await call('POST', '/mcp', {}, bearer(rest))).toMatchObject({ status: 401 })
    expect((await call('POST', '/mcp', {}, bearer(mcp))).status).not.toBe(401)
  })

  test('the service accepts only ES256 with one of its own keys', async () => {
    const { access_token, ...tokens } = await app.obtainTokens(await signIn())
    const claims = decodeJwt(access_token)
    const { kid } = decodeProtectedHeader(access_token)
    const [key] = await signingKeys(createStorage(db))
    const pem = new TextEncoder().encode(await exportSPKI(key?.public as CryptoKey))
    const foreign = (await generateKeyPair('ES256')).privateKey
    const rsa = (await generateKeyPair('RS256')).privateKey
    const [header = '', payload = ''] = access_token.split('.')
    const forged = [
      new UnsecuredJWT({ ...claims }).encode(),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      await sign(claims, 'HS256', kid, pem),
      await sign(claims, 'ES256', kid, foreign),
      await sign(claims, 'ES256', 'unknown', foreign),
      await sign(claims, 'RS256', kid, rsa),
      `${header}.${payload}.`,
      `${header}.${payload}`,
      '',
      'x',
      'a.b.c',
    ]

    for (const token of forged)
      expect(await listShelves({ ...tokens, access_token: token })).toMatchObject(UNAUTHORIZED)
    expect(await listShelves({ ...tokens, access_token })).toMatchObject({ status: 200 })
  })

  test.each([
    ['that has expired', { exp: 1 }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['that is not an access token', { mode: 'refresh' }],
    ['without a session', { properties: {} }],
    ['of the session of a browser', undefined],
  ])('the service rejects a token %s, even with a valid signature', async (_, changes) => {
    const cookie = await signIn()
    const { access_token, ...tokens } = await app.obtainTokens(cookie)
    const [key] = await signingKeys(createStorage(db))
    const { sessions } = await createRestClient(origin, { headers: { cookie } }).sessions.list()
    const sessionId = sessions.find(({ isCurrent }) => isCurrent)?.id
    const claims = decodeJwt(access_token)
    const changed = changes ?? { properties: { ...(claims.properties as object), sessionId } }
    const token = (more: object) => sign({ ...claims, ...more }, 'ES256', key?.id, key?.private as CryptoKey)

    expect(await listShelves({ ...tokens, access_token: await token({}) })).toMatchObject({ status: 200 })
    expect(await listShelves({ ...tokens, access_token: await token(changed) })).toMatchObject(UNAUTHORIZED)
  })

  test('the service immediately rejects the token of a revoked grant', async () => {
    const cookie = await signIn()
    const tokens = await app.obtainTokens(cookie)
    const browser = createRestClient(origin, { headers: { cookie } })
    const { sessions } = await browser.sessions.list()

    await browser.sessions.revoke({
      revokeSessionToken: sessions.find(({ isCurrent }) => !isCurrent)?.token ?? '',
    })

    expect(await listShelves(tokens)).toMatchObject(UNAUTHORIZED)
  })
})

describe('OpenAuth fault 11: the subject is a hash', () => {
  test('a bare issuer uses a hash', async () => {
    const { access_token } = await createBareIssuer(origin).obtainTokens()

    expect(decodeJwt(access_token).sub).toMatch(/^user:[\da-f]{16}$/)
  })

  test('the service uses the id of the account', async () => {
    const cookie = await signIn()
    const { id } = await createRestClient(origin, { headers: { cookie } }).account.get()

    const tokens = await app.obtainTokens(cookie)

    expect(decodeJwt(tokens.access_token).sub).toBe(id)
    expect(await get('/api/me', bearer(tokens))).toMatchObject({ body: { id } })
  })
})

describe('OpenAuth fault 12: concurrent starts create different keys', () => {
  test('bare issuers create two keys', async () => {
    const storage = MemoryStorage()
    const issuers = [createBareIssuer(origin, { storage }), createBareIssuer(origin, { storage })]

    await Promise.all(issuers.map(async ({ bare }) => bare.request(`${origin}/.well-known/jwks.json`)))

    expect(await signingKeys(storage)).toHaveLength(2)
  })

  test('services create one key of each kind', async () => {
    const database = await copyDatabase(postgresOfRun().templates[library.id] ?? '')
    const settings = { DATABASE_URL: database.url }

    const started = await Promise.all(Array.from({ length: 4 }, () => createTallystick(settings)))

    const connection = await open(database.url, library)
    const list = (kind: string) =>
      connection.db
        .select()
        .from(records)
        .where(like(records.key, `${kind}%`))

    expect(await list('signing:key')).toHaveLength(1)
    expect(await list('encryption:key')).toHaveLength(1)

    await Promise.all([...started, connection].map(({ close }) => close()))
    await database.drop()
  })
})

describe('OpenAuth fault 13: complete URLs are logged', () => {
  test('a bare issuer prints the URL of an authorization request', async () => {
    await createBareIssuer(origin).authorize({ state: 'a-bare-secret' })

    expect(printed.join('\n')).toContain('a-bare-secret')
  })

  test('the service prints nothing', async () => {
    const cookie = await signIn()
    const state = 'a-secret-state'
    printed.length = 0

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
