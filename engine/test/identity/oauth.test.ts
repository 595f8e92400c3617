import { createClient } from '@openauthjs/openauth/client'
import { InvalidRefreshTokenError } from '@openauthjs/openauth/error'
import { createSubjects } from '@openauthjs/openauth/subject'
import { eq } from 'drizzle-orm'
import { decodeJwt } from 'jose'
import * as openid from 'openid-client'
import { describe, expect, test, vi } from 'vitest'

import { records } from '../../db/accounts/oauth.ts'
import { sessions as sessionRows } from '../../db/accounts/sessions.ts'
import { codeKey, Grant, refreshKey } from '../../identity/tokens.ts'
import { codeSentTo } from '../fixtures/http.ts'
import {
  allowAt,
  createOAuthCalls,
  discoverAndRegister,
  INVALID_GRANT,
  openPage,
  redirectUri,
  registerApp,
  type Tokens,
} from '../fixtures/oauth-app.ts'
import { createRestClient, newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

const service = await startService(await settingsWithAddress())
const { db } = service.services
const { origin } = service
const { call, get, signIn, listShelves } = createOAuthCalls(service)
const app = await registerApp(service)

const secondsUntil = (moment?: Date | null) => ((moment?.getTime() ?? 0) - Date.now()) / 1000

describe('a standard client', () => {
  test('discovers the endpoints, registers, is authorized, calls, refreshes and is revoked', async () => {
    const config = await discoverAndRegister(origin, 'An app')
    const cookie = await signIn()
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'read write',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state,
    })

    const redirect = await allowAt(url, cookie)
    const tokens = await openid.authorizationCodeGrant(config, redirect, {
      pkceCodeVerifier,
      expectedState: state,
    })

    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'read write' })
    const rest = createRestClient(origin, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    })
    await rest.shelves.create({ name: 'By token' })
    expect(await rest.shelves.list()).toMatchObject({ shelves: [{ name: 'By token' }] })

    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)

    await openid.tokenRevocation(config, refreshed.refresh_token ?? '')
    await expect(rest.shelves.list()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect((await call('GET', '/api/sessions', undefined, { cookie })).body).toMatchObject({
      sessionCount: 1,
    })
  })

  test('from OpenAuth exchanges a code, verifies the token, and refreshes it without client_id', async () => {
    const client = createClient({ clientID: app.id, issuer: origin })
    const { url, challenge } = await client.authorize(redirectUri, 'code', { pkce: true })
    const redirect = await allowAt(url, await signIn())
    expect(redirect.searchParams.get('state')).toBe(challenge.state)

    const code = redirect.searchParams.get('code') ?? ''
    const exchanged = await client.exchange(code, redirectUri, challenge.verifier)
    if (exchanged.err) throw exchanged.err

    const { access } = exchanged.tokens
    expect(await client.verify(createSubjects({ grant: Grant }), access)).toMatchObject({
      aud: origin,
      subject: { type: 'grant', properties: { clientId: app.id, scope: 'read' } },
    })
    expect(
      await createRestClient(origin, { headers: { authorization: `Bearer ${access}` } }).shelves.list(),
    ).toEqual({ shelves: [] })
    const refreshed = await client.refresh(exchanged.tokens.refresh)
    if (refreshed.err) throw refreshed.err
    expect(
      await client.verify(createSubjects({ grant: Grant }), refreshed.tokens?.access ?? ''),
    ).toMatchObject({
      subject: { properties: { clientId: app.id } },
    })
    expect(await client.refresh('unknown')).toEqual({ err: new InvalidRefreshTokenError() })
    expect(await client.exchange(code, redirectUri, challenge.verifier)).toHaveProperty('err')
  })

  test('from OpenAuth verifies an expired token by refreshing it', async () => {
    const client = createClient({ clientID: app.id, issuer: origin })
    const { access_token, refresh_token } = await app.obtainTokens(await signIn())
    vi.setSystemTime(Date.now() + 11 * 60_000)

    const verified = await client
      .verify(createSubjects({ grant: Grant }), access_token, { refresh: refresh_token })
      .finally(() => vi.useRealTimers())

    expect(verified).toMatchObject({
      subject: { properties: { clientId: app.id } },
      tokens: { access: expect.any(String), refresh: expect.not.stringContaining(refresh_token) },
    })
  })
})

describe('the metadata', () => {
  test('of the authorization server is complete (RFC 8414)', async () => {
    const { status, headers, body } = await get('/.well-known/oauth-authorization-server')

    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body).toEqual({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      device_authorization_endpoint: `${origin}/device_authorization`,
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/revoke`,
      registration_endpoint: `${origin}/register`,
      jwks_uri: `${origin}/.well-known/jwks.json`,
      scopes_supported: ['read', 'write'],
      response_types_supported: ['code'],
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    })
  })

  test.each([
    ['/.well-known/oauth-protected-resource', ''],
    ['/.well-known/oauth-protected-resource/mcp', '/mcp'],
  ])('of a resource names its authorization server (RFC 9728): %s', async (path, resource) => {
    expect((await get(path)).body).toEqual({
      resource: origin + resource,
      authorization_servers: [origin],
      scopes_supported: ['read', 'write'],
      bearer_methods_supported: ['header'],
    })
  })

  test('contains only public keys', async () => {
    expect((await get('/.well-known/jwks.json')).body).toEqual({
      keys: [
        {
          kty: 'EC',
          crv: 'P-256',
          x: expect.any(String),
          y: expect.any(String),
          kid: expect.any(String),
          use: 'sig',
          alg: 'ES256',
        },
      ],
    })
  })

  test.each(['/token', '/register', '/revoke', '/.well-known/oauth-authorization-server'])(
    'is available to every origin: %s',
    async (path) => {
      const headers = { origin: 'https://page.example', 'access-control-request-method': 'POST' }
      const answer = await fetch(origin + path, { method: 'OPTIONS', headers })

      expect(answer.status).toBe(204)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    },
  )

  test.each([
    ['GET', '/token', 'POST, OPTIONS'],
    ['GET', '/register', 'POST, OPTIONS'],
    ['GET', '/revoke', 'POST, OPTIONS'],
    ['DELETE', '/authorize', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/.well-known/jwks.json', 'GET, HEAD, OPTIONS'],
  ])('is not available by other methods: %s %s', async (method, path, allowed) => {
    const { status, headers } = await call(method, path)

    expect(status).toBe(405)
    expect(headers.get('allow')).toBe(allowed)
  })
})

describe('an authorization request', () => {
  test.each(['a b+c/ü&=“', '0', 'x'.repeat(1000), '<script>'])(
    'gets its state and the issuer in the redirect: %j',
    async (state) => {
      const cookie = await signIn()

      const allowed = await app.allow(cookie, { state })
      const denied = await app.submitConsent({ action: 'deny' }, { cookie }, { state })
      const { searchParams } = new URL(denied.headers.get('location') ?? '')

      expect(Object.fromEntries(allowed)).toEqual({ code: expect.any(String), state, iss: origin })
      expect(Object.fromEntries(searchParams)).toEqual({ error: 'access_denied', state, iss: origin })
    },
  )

  test('without a state gets no state in the redirect', async () => {
    expect([...(await app.allow(await signIn())).keys()]).toEqual(['code', 'iss'])
    expect([...(await app.allow(await signIn(), { state: '' })).keys()]).toEqual(['code', 'iss'])
  })

  test.each(['https://evil.example', 'x', '/mcp', `${origin}/MCP`, `${origin}/mcp?`, `${origin}/mcp#`])(
    'for an unknown resource is rejected: %j',
    async (resource) => {
      const cookie = await signIn()

      const parameters = await app.allow(cookie, { resource, state: 's' })
      const page = await openPage(app.authorizationUrl({ resource, state: 's' }))

      expect(Object.fromEntries(parameters)).toMatchObject({
        error: 'invalid_target',
        state: 's',
        iss: origin,
      })
      expect(page).toMatchObject({ status: 400, location: null })
    },
  )

  test('makes its resource the audience of the token', async () => {
    const cookie = await signIn()
    const audience = async (resource?: string) =>
      decodeJwt((await app.obtainTokens(cookie, { resource })).access_token).aud

    expect(await audience(`${origin}/mcp`)).toBe(`${origin}/mcp`)
    expect(await audience(`${origin}/mcp/`)).toBe(`${origin}/mcp`)
    expect(await audience(`${origin.replace('http://', 'HTTP://')}/mcp`)).toBe(`${origin}/mcp`)
    expect(await audience(`${origin}/`)).toBe(origin)
    expect(await audience('')).toBe(origin)
    expect(await audience()).toBe(origin)
  })

  test('is not redeemed for another resource', async () => {
    const cookie = await signIn()
    const code = (await app.allow(cookie, { resource: origin })).get('code')

    const redeemed = await app.redeem(code, { resource: `${origin}/mcp` })

    expect(redeemed).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    })
    expect(await app.redeem(code, { resource: `${origin}/` })).toMatchObject({ status: 200 })
  })

  test.each(['constructor', 'toString', '__proto__', 'unknown', ''])(
    'is shown again after an unknown action: %s',
    async (action) => {
      const { status } = await app.submitConsent({ action }, { cookie: await signIn() })

      expect(status).toBe(200)
    },
  )

  const crossSite = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }

  test.each(['allow', 'deny'])('rejects an action from a page of another site: %s', async (action) => {
    const { status, headers } = await app.submitConsent({ action }, { ...crossSite, cookie: await signIn() })

    expect([status, headers.get('location')]).toEqual([403, null])
  })

  test.each(['send', 'sign-in'])('rejects a sign-in from a page of another site: %s', async (action) => {
    const email = newEmail()
    await app.submitConsent({ action: 'send', email }, {})
    const sent = service.letters.length
    const otp = codeSentTo(service, email)

    const { status, headers } = await app.submitConsent({ action, email, otp }, crossSite)

    expect([status, headers.getSetCookie()]).toEqual([403, []])
    expect(service.letters).toHaveLength(sent)
  })

  test('is not cached, not framed, and has no script', async () => {
    const { headers } = await fetch(app.authorizationUrl(), { headers: { cookie: await signIn() } })
    const policy = headers.get('content-security-policy')

    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-frame-options')).toBe('DENY')
    // Browsers must not send a Referer header to other origins. Browsers may send this header to the same origin.
    expect(headers.get('referrer-policy')).toMatch(/^(no-referrer|same-origin)$/)
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self' http:\/\/127\.0\.0\.1:9; base-uri 'none'; frame-ancestors 'none'$/,
    )
  })
})

describe('a code', () => {
  test('is valid for a minute', async () => {
    const code = (await app.allow(await signIn())).get('code') ?? ''
    const isCode = eq(records.key, codeKey(code))
    const [record] = await db.select().from(records).where(isCode)

    await db
      .update(records)
      .set({ expiresAt: new Date(0) })
      .where(isCode)

    expect(secondsUntil(record?.expiresAt)).toBeCloseTo(60, -1)
    expect(await app.redeem(code)).toMatchObject(INVALID_GRANT)
  })

  test('is stored as a digest, as are tokens', async () => {
    const cookie = await signIn()
    const code = (await app.allow(cookie)).get('code') ?? ''
    const { refresh_token, access_token } = await app.obtainTokens(cookie)

    const stored = JSON.stringify(await db.select().from(records))

    expect(stored).toContain(codeKey(code))
    for (const secret of [code, refresh_token, refresh_token.split(':')[1] ?? '', access_token])
      expect(stored).not.toContain(secret)
  })

  test('that is never redeemed leaves a grant that expires after two minutes', async () => {
    const cookie = await signIn()
    await app.allow(cookie)

    const { sessions } = await createRestClient(origin, { headers: { cookie } }).sessions.list()
    const id = sessions.find(({ isCurrent }) => !isCurrent)?.id ?? ''
    const [row] = await db.select().from(sessionRows).where(eq(sessionRows.id, id))

    expect(sessions).toHaveLength(2)
    expect(secondsUntil(row?.expiresAt)).toBeLessThanOrEqual(120)
  })
})

describe('a token', () => {
  test('is not reported as invalid when the database is unavailable', async () => {
    const { refresh_token } = await app.obtainTokens(await signIn())
    await db.execute(
      `create function fail_update() returns trigger language plpgsql as 'begin raise exception using errcode = 57014; end'`,
    )
    await db.execute(
      `create trigger fail_update before update on oauth_records for each row execute function fail_update()`,
    )
    const failed = await app.refresh(refresh_token)
    await db.execute(`drop function fail_update cascade`)

    expect(failed).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } })
    expect(await app.refresh(refresh_token)).toMatchObject({ status: 200 })
  })

  test('for access expires after ten minutes', async () => {
    const { access_token, expires_in } = await app.obtainTokens(await signIn())
    const { exp = 0 } = decodeJwt(access_token)

    expect([599, 600]).toContain(expires_in)
    expect(exp - Date.now() / 1000).toBeCloseTo(600, -1)
    const client = createRestClient(origin, { headers: { authorization: `Bearer ${access_token}` } })
    expect(await client.shelves.list()).toHaveProperty('shelves')
    vi.setSystemTime(exp * 1000)
    const expired = client.shelves.list().finally(() => vi.useRealTimers())
    await expect(expired).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  test('for refresh expires thirty days after its last use, with the grant', async () => {
    const cookie = await signIn()
    const days = async (token: string) => {
      const [record] = await db
        .select()
        .from(records)
        .where(eq(records.key, refreshKey(token)))
      return secondsUntil(record?.expiresAt) / 86_400
    }
    const first = await app.obtainTokens(cookie)

    const { body } = await app.refresh(first.refresh_token)
    const { refresh_token } = body as Tokens

    expect(await days(first.refresh_token)).toBeCloseTo(30, 1)
    expect(await days(refresh_token)).toBeCloseTo(30, 1)
    await db
      .update(records)
      .set({ expiresAt: new Date(0) })
      .where(eq(records.key, refreshKey(refresh_token)))
    expect(await app.refresh(refresh_token)).toMatchObject(INVALID_GRANT)
  })

  test('is refreshed with no more than the granted scope', async () => {
    const { refresh_token } = await app.obtainTokens(await signIn(), { scope: 'read' })

    const { body } = await app.refresh(refresh_token, { scope: 'read write' })

    expect(body).not.toMatchObject({ scope: 'read write' })
  })
})

describe('revocation', () => {
  test.each(['access_token', 'refresh_token'] as const)('of the %s ends the grant', async (name) => {
    const tokens = await app.obtainTokens(await signIn())

    const revoked = await app.post('/revoke', { token: tokens[name] })

    expect(revoked).toMatchObject({ status: 200 })
    expect(await listShelves(tokens)).toMatchObject({ status: 401 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
  })

  test('of a token for agents ends the grant', async () => {
    const tokens = await app.obtainTokens(await signIn(), { resource: `${origin}/mcp` })

    await app.post('/revoke', { token: tokens.access_token, token_type_hint: 'access_token' })

    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
  })

  test('by another app has no effect', async () => {
    const other = await registerApp(service)
    const tokens = await app.obtainTokens(await signIn())

    for (const token of [tokens.access_token, tokens.refresh_token])
      expect(await other.post('/revoke', { token })).toMatchObject({ status: 200 })

    expect(await listShelves(tokens)).toMatchObject({ status: 200 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject({ status: 200 })
  })

  test.each(['garbage', 'a.b.c', 'a:b', '\0'])('of %j returns 200', async (token) => {
    expect(await app.post('/revoke', { token })).toMatchObject({ status: 200, body: {} })
    expect(await app.post('/revoke', { token, client_id: undefined })).toMatchObject({ status: 200 })
  })
})
