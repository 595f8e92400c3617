import { describe, expect, test } from 'vitest'

import { records } from '../../db/accounts/oauth.ts'
import { captureOutput, createBareIssuer } from '../fixtures/bare-issuer.ts'
import {
  createOAuthCalls,
  INVALID_GRANT,
  redirectUri,
  registerApp,
  setUseTime,
  type Tokens,
  UNAUTHORIZED,
} from '../fixtures/oauth-app.ts'
import { settingsWithAddress, startService } from '../fixtures/service.ts'

const printed = captureOutput()
const service = await startService(await settingsWithAddress())
const { origin } = service
const { get, signIn, listShelves } = createOAuthCalls(service)
const app = await registerApp(service)
const other = await registerApp(service, { client_name: 'Another app' })

const concurrently = <Result>(work: () => Promise<Result>) => Promise.all(Array.from({ length: 20 }, work))
const countSuccesses = (answers: { status: number }[]) =>
  answers.filter(({ status }) => status === 200).length

describe('OpenAuth fault 1: concurrent redemptions of one code or refresh token all succeed', () => {
  test('a bare issuer issues tokens for one code more than once', async () => {
    const { obtainRedirect, redeem } = createBareIssuer(origin)
    const location = await obtainRedirect()

    const answers = await concurrently(() => redeem(location))

    expect(countSuccesses(answers)).toBeGreaterThan(1)
  })

  test('the service redeems one code at most once', async () => {
    const code = (await app.allow(await signIn())).get('code')

    const answers = await concurrently(() => app.redeem(code))

    expect(countSuccesses(answers)).toBeLessThanOrEqual(1)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(answer).toMatchObject(INVALID_GRANT)
  })

  test('the service issues one successor for one refresh token, and every caller can use it', async () => {
    const tokens = await app.obtainTokens(await signIn())

    const answers = await concurrently(() => app.refresh(tokens.refresh_token))

    expect(countSuccesses(answers)).toBe(20)
    const successors = new Set(answers.map(({ body }) => (body as Tokens).refresh_token))
    expect(successors.size).toBe(1)
    for (const { body } of answers) expect(await listShelves(body as Tokens)).toMatchObject({ status: 200 })
    expect(await app.refresh([...successors][0] ?? '')).toMatchObject({ status: 200 })
  })
})

describe('OpenAuth fault 5: any app can use the code or refresh token of another app', () => {
  test('a bare issuer does not compare the app', async () => {
    const { obtainTokens, post } = createBareIssuer(origin)
    const { refresh_token } = await obtainTokens()

    const answer = await post({ grant_type: 'refresh_token', refresh_token, client_id: 'another-app' })

    expect(answer.status).toBe(200)
  })

  test('the service rejects another app, and the refresh token stays valid for its own app', async () => {
    const { refresh_token } = await app.obtainTokens(await signIn())

    const byAnother = await other.refresh(refresh_token)

    expect(byAnother).toMatchObject(INVALID_GRANT)
    expect(await app.refresh(refresh_token)).toMatchObject({ status: 200 })
  })

  test('the service rejects a code from another app', async () => {
    const code = (await app.allow(await signIn())).get('code')

    const byAnother = await other.redeem(code, { code_verifier: app.verifier })

    expect(byAnother).toMatchObject(INVALID_GRANT)
    expect(await app.redeem(code)).toMatchObject({ status: 200 })
  })
})

describe('OpenAuth fault 6: the reuse of a refresh token has no consequence', () => {
  test.runIf(!('fromAsync' in Array))('a bare issuer fails on Node 20', async () => {
    const { obtainTokens, post } = createBareIssuer(origin, { ttl: { reuse: 0.001, retention: 60 } })
    const { refresh_token } = await obtainTokens()
    const refresh = () => post({ grant_type: 'refresh_token', refresh_token })
    const next = (await (await refresh()).json()) as Tokens
    // Longer than the time in which the issuer permits a reuse.
    await new Promise((resolve) => setTimeout(resolve, 20))

    const reused = await refresh().catch(() => undefined)

    expect(reused?.headers.get('content-type')).not.toContain('json')
    expect(printed.join('\n')).toContain('Array.fromAsync is not a function')
    expect((await post({ grant_type: 'refresh_token', refresh_token: next.refresh_token })).status).toBe(200)
  })

  test('a bare issuer issues tokens again within a minute', async () => {
    const { obtainTokens, post } = createBareIssuer(origin)
    const { refresh_token } = await obtainTokens()
    const refresh = () => post({ grant_type: 'refresh_token', refresh_token })

    const statuses = [(await refresh()).status, (await refresh()).status]

    expect(statuses).toEqual([200, 200])
  })

  test('the service issues the same successor again within 30 seconds', async () => {
    const first = await app.obtainTokens(await signIn())
    const second = (await app.refresh(first.refresh_token)).body as Tokens
    await setUseTime(service.services.db, first.refresh_token, 29)

    const repeated = await app.refresh(first.refresh_token)

    expect(repeated).toMatchObject({ status: 200, body: { refresh_token: second.refresh_token } })
    expect(await listShelves(repeated.body as Tokens)).toMatchObject({ status: 200 })
  })

  test('the service refuses a reuse after the use of the successor, and the grant stays valid', async () => {
    const first = await app.obtainTokens(await signIn())
    const second = (await app.refresh(first.refresh_token)).body as Tokens
    const third = (await app.refresh(second.refresh_token)).body as Tokens

    expect(await app.refresh(first.refresh_token)).toMatchObject(INVALID_GRANT)
    expect(await listShelves(third)).toMatchObject({ status: 200 })
    expect(await app.refresh(third.refresh_token)).toMatchObject({ status: 200 })
  })

  test('the service revokes the grant with its newest tokens after 30 seconds', async () => {
    const cookie = await signIn()
    const first = await app.obtainTokens(cookie)
    const second = (await app.refresh(first.refresh_token)).body as Tokens
    expect(await listShelves(second)).toMatchObject({ status: 200 })
    await setUseTime(service.services.db, first.refresh_token, 31)

    const reused = await app.refresh(first.refresh_token)

    expect(reused).toMatchObject(INVALID_GRANT)
    expect(await listShelves(first)).toMatchObject(UNAUTHORIZED)
    expect(await listShelves(second)).toMatchObject(UNAUTHORIZED)
    expect(await app.refresh(second.refresh_token)).toMatchObject(INVALID_GRANT)
    expect(await get('/api/sessions', { cookie })).toMatchObject({ body: { sessionCount: 1 } })
  })

  test('the database contains no refresh token', async () => {
    const first = await app.obtainTokens(await signIn())
    const second = (await app.refresh(first.refresh_token)).body as Tokens

    const stored = JSON.stringify(await service.services.db.select().from(records))

    for (const token of [first, second]) {
      const [, secret = ''] = token.refresh_token.split(':')
      expect(secret).toMatch(/^.{30}/)
      expect(stored).not.toContain(secret)
    }
  })
})

describe('OpenAuth fault 8: PKCE is optional, and the plain method and the implicit flow are accepted', () => {
  test('a bare issuer redeems a code without a verifier', async () => {
    const { obtainRedirect, redeem } = createBareIssuer(origin)

    const { status } = await redeem(await obtainRedirect())

    expect(status).toBe(200)
  })

  test('a bare issuer accepts the plain method', async () => {
    const { obtainRedirect, redeem } = createBareIssuer(origin)
    const location = await obtainRedirect({ code_challenge: 'plain', code_challenge_method: 'plain' })

    const { status } = await redeem(location, { code_verifier: 'plain' })

    expect(status).toBe(200)
  })

  test('a bare issuer sends tokens in the URL fragment', async () => {
    const { hash } = await createBareIssuer(origin).obtainRedirect({ response_type: 'token' })

    expect(hash).toContain('access_token=')
  })

  test.each([
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['no method', { code_challenge_method: undefined }, 'invalid_request'],
    ['plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a challenge that is no SHA-256', { code_challenge: 'short' }, 'invalid_request'],
    ['implicit', { response_type: 'token' }, 'unsupported_response_type'],
    ['hybrid', { response_type: 'code token' }, 'unsupported_response_type'],
  ])(
    'the service rejects %s, and redirects to the app with the error only after consent',
    async (_, parameters, error) => {
      const request = { state: 'a state', ...parameters }
      for (const cookie of ['', await signIn()]) {
        const answer = await fetch(app.authorizationUrl(request), { redirect: 'manual', headers: { cookie } })

        expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
        expect(await answer.text()).toContain(error)
      }
      expect((await app.submitConsent({ action: 'allow' }, {}, request)).headers.get('location')).toBeNull()

      const { status, headers } = await app.submitConsent(
        { action: 'allow' },
        { cookie: await signIn() },
        request,
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
    },
  )

  test.each([
    ['no verifier', { code_verifier: undefined }],
    ['an empty verifier', { code_verifier: '' }],
    ['no redirect URI', { redirect_uri: undefined }],
  ])('the service rejects a request with %s, and the code stays valid', async (_, fields) => {
    const code = (await app.allow(await signIn())).get('code')

    const rejected = await app.redeem(code, fields)

    expect(rejected).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(await app.redeem(code)).toMatchObject({ status: 200 })
  })

  test.each([
    ['another verifier', { code_verifier: 'x'.repeat(43) }],
    ['another redirect URI', { redirect_uri: 'http://127.0.0.1:8/callback' }],
  ])('the service rejects a code with %s and invalidates the code', async (_, fields) => {
    const code = (await app.allow(await signIn())).get('code')

    const answers = [await app.redeem(code, fields), await app.redeem(code)]

    expect(answers).toMatchObject([INVALID_GRANT, INVALID_GRANT])
  })
})

describe('OpenAuth fault 9: the token response has no token_type and no Cache-Control', () => {
  test('a bare issuer sends neither', async () => {
    const { obtainRedirect, redeem } = createBareIssuer(origin)

    const answer = await redeem(await obtainRedirect())

    expect(answer.headers.get('cache-control')).toBeNull()
    expect(await answer.json()).not.toHaveProperty('token_type')
  })

  test('the service sends both', async () => {
    const code = (await app.allow(await signIn())).get('code')

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

describe('OpenAuth fault 10: the error for an unknown grant type is not JSON', () => {
  test('a bare issuer sends no JSON', async () => {
    const answer = await createBareIssuer(origin)
      .post({ grant_type: 'password' })
      .catch((error: unknown) => error)

    expect(answer instanceof Response ? answer.headers.get('content-type') : 'a crash').not.toContain('json')
  })

  test.each(['password', 'client_credentials', 'toString', 'constructor', '__proto__'])(
    'the service answers %s with unsupported_grant_type in JSON',
    async (grant_type) => {
      const { status, headers, body } = await app.post('/token', { grant_type })

      expect({ status, body }).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } })
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('cache-control')).toBe('no-store')
    },
  )

  test('the service describes errors in ASCII without quotes', async () => {
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
