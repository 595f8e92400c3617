import * as oauth4webapi from 'oauth4webapi'
import * as openid from 'openid-client'
import { describe, expect, test } from 'vitest'

import { formType } from '../fixtures/http.ts'
import {
  appWithId,
  createOAuthCalls,
  discoverAndRegister,
  INVALID_GRANT,
  redirectUri,
  registerApp,
} from '../fixtures/oauth-app.ts'
import { settingsWithAddress, startService } from '../fixtures/service.ts'

const CONFIGURED = 'reports'
const settings = { ...(await settingsWithAddress()), OAUTH_CLIENTS: `${CONFIGURED}=${redirectUri}` }
const service = await startService(settings)
const { origin } = service
const { call, signIn, listShelves } = createOAuthCalls(service)
const app = await registerApp(service)
const other = await registerApp(service, { client_name: 'Another app' })
const basic = `Basic ${Buffer.from(`${app.id}:secret`).toString('base64')}`

/** The response of a failed request (RFC 6749, section 5.2). */
const failure = (error: string, status = 400) => ({
  status,
  body: { error, error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/) },
})

describe('the token endpoint', () => {
  const codeRequest = {
    grant_type: 'authorization_code',
    code: 'x',
    redirect_uri: redirectUri,
    code_verifier: 'x',
    client_id: app.id,
  }
  const without = (name: string) => ({ ...codeRequest, [name]: undefined })
  const unknownApp = { grant_type: 'refresh_token', refresh_token: 'x' }

  test.each([
    ['no grant type', {}, 'invalid_request'],
    ['an empty grant type', { grant_type: '' }, 'invalid_request'],
    ['an unknown grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['no code', without('code'), 'invalid_request'],
    ['no redirect URI', without('redirect_uri'), 'invalid_request'],
    ['no code verifier', without('code_verifier'), 'invalid_request'],
    ['an empty code verifier', { ...codeRequest, code_verifier: '' }, 'invalid_request'],
    ['a code without an app', without('client_id'), 'invalid_request'],
    ['no refresh token', { grant_type: 'refresh_token' }, 'invalid_request'],
    ['an unknown code', codeRequest, 'invalid_grant'],
    ['an unknown refresh token', { grant_type: 'refresh_token', refresh_token: 'x' }, 'invalid_grant'],
    ['a code of an unknown app', { ...codeRequest, client_id: crypto.randomUUID() }, 'invalid_client'],
    ['an unknown app', { ...unknownApp, client_id: crypto.randomUUID() }, 'invalid_client'],
    ['an impossible app', { ...unknownApp, client_id: '\0' }, 'invalid_client'],
    ['the URL of an app', { ...unknownApp, client_id: 'https://app.example/client.json' }, 'invalid_grant'],
  ])('answers %s with its error code', async (_, fields, error) => {
    const answer = await app.post('/token', { client_id: app.id, ...fields })

    expect(answer).toMatchObject(failure(error))
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    })
    expect(answer.headers.has('www-authenticate')).toBe(false)
  })

  test('answers another app the same for a token of this app, a used token and an unknown token', async () => {
    const cookie = await signIn()
    const [current, used] = [await app.obtainTokens(cookie), await app.obtainTokens(cookie)]
    await app.refresh(used.refresh_token)

    const answers = []
    for (const token of [current.refresh_token, used.refresh_token, 'unknown'])
      answers.push(await other.refresh(token))

    expect(answers).toMatchObject([INVALID_GRANT, INVALID_GRANT, INVALID_GRANT])
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(await app.refresh(current.refresh_token)).toMatchObject({ status: 200 })
  })

  test('does not consume a code if a parameter is missing', async () => {
    const code = (await app.allow(await signIn())).get('code')

    const incomplete = await app.redeem(code, { code_verifier: undefined })

    expect(incomplete).toMatchObject(failure('invalid_request'))
    expect(await app.redeem(code)).toMatchObject({ status: 200 })
  })

  test('refuses an app that is no longer in OAUTH_CLIENTS, with and without its id', async () => {
    const { refresh_token } = await appWithId(service, CONFIGURED).obtainTokens(await signIn())
    const { oauthClients } = service.services.settings
    const removed = oauthClients.splice(0)

    const answers = [
      await appWithId(service, CONFIGURED).refresh(refresh_token),
      await app.refresh(refresh_token, { client_id: undefined }),
    ]
    oauthClients.push(...removed)

    expect(answers).toMatchObject([failure('invalid_client'), failure('invalid_client')])
    expect(await app.refresh(refresh_token, { client_id: undefined })).toMatchObject({ status: 200 })
  })
})

describe.each(['/token', '/revoke'])('%s', (path) => {
  const form = 'grant_type=refresh_token&refresh_token=x&token=x'

  test.each([
    ['Basic', basic],
    ['bearer', 'bearer token'],
    ['DPoP', 'DPoP'],
  ])('answers credentials in the Authorization header with 401 and the scheme %s', async (scheme, header) => {
    for (const body of [form, `${form}&client_id=${app.id}`]) {
      const answer = await call('POST', path, body, { ...formType, authorization: header })

      expect(answer).toMatchObject(failure('invalid_client', 401))
      expect(answer.headers.get('www-authenticate')).toBe(`${scheme} realm="${origin}"`)
      expect(answer.headers.get('access-control-expose-headers')).toContain('www-authenticate')
    }
  })

  test.each(['"><script>', `${'x'.repeat(40)} y`, '', ', Basic'])(
    'does not repeat the malformed Authorization header %j',
    async (authorization) => {
      const { headers } = await call('POST', path, form, { ...formType, authorization })

      expect(headers.get('www-authenticate')).toBe(`Basic realm="${origin}"`)
    },
  )

  test.each([
    ['text', { 'content-type': 'text/plain' }, form],
    ['no type', { 'content-type': '' }, form],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }, '--x--'],
    ['a compressed form', { ...formType, 'content-encoding': 'gzip' }, form],
    ['broken JSON', { 'content-type': 'application/json' }, '{'],
    ['a repeated parameter', formType, `${form}&token=y&refresh_token=y`],
  ])('answers %s with invalid_request', async (_, headers, body) => {
    expect(await call('POST', path, body, headers)).toMatchObject(failure('invalid_request'))
  })

  test('answers a request without a body with invalid_request', async () => {
    expect(await call('POST', path)).toMatchObject(failure('invalid_request'))
  })
})

describe('the revocation endpoint', () => {
  test('answers an unknown app with invalid_client', async () => {
    const answer = await app.post('/revoke', { token: 'x', client_id: crypto.randomUUID() })

    expect(answer).toMatchObject(failure('invalid_client'))
  })

  test.each(['access_token', 'refresh_token'] as const)('accepts the %s without client_id', async (name) => {
    const tokens = await app.obtainTokens(await signIn())

    const answer = await app.post('/revoke', { token: tokens[name], client_id: undefined })

    expect(answer).toMatchObject({ status: 200, body: {} })
    expect(await listShelves(tokens)).toMatchObject({ status: 401 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
  })
})

test('the registration endpoint answers a body of another type with invalid_client_metadata', async () => {
  const answer = await call('POST', '/register', 'client_name=x', formType)

  expect(answer).toMatchObject(failure('invalid_client_metadata'))
})

describe('oauth4webapi', () => {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- a loopback address needs no TLS
  const options = { [oauth4webapi.allowInsecureRequests]: true }
  const discover = async () => {
    const issuer = new URL(origin)
    const response = await oauth4webapi.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' })
    return oauth4webapi.processDiscoveryResponse(issuer, response)
  }
  const refresh = async (id: string, authentication: oauth4webapi.ClientAuth, token: string) => {
    const [server, client] = [await discover(), { client_id: id }]
    const response = await oauth4webapi.refreshTokenGrantRequest(
      server,
      client,
      authentication,
      token,
      options,
    )
    return oauth4webapi.processRefreshTokenResponse(server, client, response)
  }

  test('refreshes a token', async () => {
    const { refresh_token } = await app.obtainTokens(await signIn())

    const tokens = await refresh(app.id, oauth4webapi.None(), refresh_token)

    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'read write' })
  })

  test.each([
    ['an unknown token', () => app.id, 'invalid_grant'],
    ['an unknown app', () => crypto.randomUUID(), 'invalid_client'],
  ])('reads the error code of %s', async (_, id, error) => {
    await expect(refresh(id(), oauth4webapi.None(), 'x')).rejects.toMatchObject({
      name: 'ResponseBodyError',
      error,
      status: 400,
    })
  })

  test('reads the challenge if it authenticates with a secret in the header', async () => {
    await expect(refresh(app.id, oauth4webapi.ClientSecretBasic('secret'), 'x')).rejects.toMatchObject({
      name: 'WWWAuthenticateChallengeError',
      status: 401,
      cause: [{ scheme: 'basic', parameters: { realm: origin } }],
    })
  })
})

test('openid-client reads the error code of a refused refresh', async () => {
  const config = await discoverAndRegister(origin, 'An app')

  await expect(openid.refreshTokenGrant(config, 'x')).rejects.toMatchObject({
    error: 'invalid_grant',
    status: 400,
  })
})
