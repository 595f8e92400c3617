import type { AnyContractProcedure } from '@orpc/contract'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'

import type { Meta } from '../../contract/meta.ts'
import { contract } from '../library/contract.ts'
import { cookiesAfter, signInOverHttp } from '../fixtures/http.ts'
import {
  appWithId,
  bearer,
  createOAuthCalls,
  INVALID_GRANT,
  registerApp,
  type Tokens,
  UNAUTHORIZED,
} from '../fixtures/oauth-app.ts'
import { createRestClient, newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ ...(await settingsWithAddress()), ADMIN_EMAILS: ROOT })
const { origin } = service
const { call, get, signIn, listShelves } = createOAuthCalls(service)
const app = await registerApp(service)
const other = await registerApp(service, { client_name: 'Another app' })

const signInAsRoot = async () => (await signInOverHttp(service, ROOT)).cookie
/** Returns a REST client that sends the session cookie, as a browser does. */
const browserOf = (cookie: string) => createRestClient(origin, { headers: { cookie } })

describe('a scope', () => {
  test('that was not granted is rejected and named in the challenge', async () => {
    const tokens = await app.obtainTokens(await signIn(), { scope: 'read' })

    const answer = await call('POST', '/api/shelves', { name: 'By token' }, bearer(tokens))

    expect(tokens.scope).toBe('read')
    expect(await listShelves(tokens)).toMatchObject({ status: 200 })
    expect(answer).toMatchObject({
      status: 403,
      body: { defined: true, code: 'INSUFFICIENT_SCOPE', message: 'The token was not granted this' },
    })
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource", error="insufficient_scope", scope="write"`,
    )
  })

  test('write does not include read', async () => {
    const tokens = await app.obtainTokens(await signIn(), { scope: 'write' })

    const written = await call('POST', '/api/shelves', { name: 'By token' }, bearer(tokens))
    const read = await listShelves(tokens)

    expect(written).toMatchObject({ status: 200 })
    expect(read).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } })
  })

  test('is read when the request names none', async () => {
    expect(await app.obtainTokens(await signIn(), { scope: undefined })).toMatchObject({ scope: 'read' })
  })

  test.each([
    ['write  write read', 'read write'],
    ['openid read offline_access', 'read'],
    ['openid profile write', 'write'],
    ['READ read', 'read'],
    ['', 'read'],
  ])('requested as "%s" is granted as "%s", which the response names', async (requested, scope) => {
    const tokens = await app.obtainTokens(await signIn(), { scope: requested })

    expect(tokens.scope).toBe(scope)
    expect(decodeJwt(tokens.access_token).properties).toMatchObject({ scope })
  })

  test.each(['admin', 'openid', 'openid offline_access', 'READ', ' '])(
    '"%s" is rejected with invalid_scope',
    async (scope) => {
      expect((await app.allow(await signIn(), { scope })).get('error')).toBe('invalid_scope')
    },
  )

  test('is declared for every procedure that accepts a token', () => {
    const withoutScope: unknown[] = []
    for (const resource of Object.values(contract))
      for (const { '~orpc': procedure } of Object.values<AnyContractProcedure>(resource)) {
        const { access, scope } = procedure.meta as Meta
        if (access === 'signedIn' && !scope) withoutScope.push(procedure.route.path)
      }

    expect(withoutScope).toEqual([
      '/api/me/export',
      '/api/me/delete',
      '/api/sessions',
      '/api/sessions/revoke',
      '/api/sessions/revoke-others',
      '/api/apps',
      '/api/apps/revoke',
      '/api/tokens',
      '/api/audit',
    ])
  })

  test.each([
    ['GET', '/api/me/export', undefined],
    ['POST', '/api/me/delete', { email: ROOT }],
    ['GET', '/api/sessions', undefined],
    ['POST', '/api/sessions/revoke', { revokeSessionToken: 'x' }],
    ['POST', '/api/tokens', { label: 'Script', scopes: ['read'] }],
    ['POST', '/api/auth/update-user', { name: 'Taken' }],
    ['GET', '/api/auth/admin/list-users', undefined],
    ['POST', '/api/auth/admin/stop-impersonating', {}],
  ])('of any kind does not let an app %s %s', async (method, path, body) => {
    const cookie = await signInAsRoot()
    const tokens = await app.obtainTokens(cookie)

    const rejected = await call(method, path, body, bearer(tokens))

    expect(rejected).toMatchObject({ status: 403 })
    expect(rejected.headers.get('www-authenticate') ?? '').not.toContain('invalid_token')
    expect(await call(method, path, body, { ...bearer(tokens), cookie })).toMatchObject({ status: 403 })
    expect(await get('/api/me', { cookie })).toMatchObject({ status: 200, body: { name: '' } })
  })

  test('of any kind does not allow an app to consent to another grant', async () => {
    const cookie = await signIn()
    const tokens = await app.obtainTokens(cookie, { scope: 'read' })

    const answer = await app.submitConsent({ action: 'allow' }, bearer(tokens))

    expect(answer.headers.get('location')).toBeNull()
    expect(await get('/api/sessions', { cookie })).toMatchObject({ body: { sessionCount: 2 } })
  })

  test('is not granted during an impersonation', async () => {
    const { id } = await browserOf(await signIn()).account.get()
    const cookie = await signInAsRoot()
    const started = await call('POST', '/api/auth/admin/impersonate-user', { userId: id }, { cookie })
    const acting = cookiesAfter(started)
    expect(await get('/api/me', { cookie: acting })).toMatchObject({ body: { id } })

    const answer = await app.submitConsent({ action: 'allow' }, { cookie: acting })

    expect(answer.headers.get('location')).toBeNull()
  })
})

describe('an invalid bearer token', () => {
  const invalid = [
    'Bearer x',
    'bearer x',
    'BEARER  a.b.c',
    'Bearer',
    'Bearer x y',
    'Bearer=x',
    'Bearer x, Basic dTpw',
  ]

  test.each([
    ['GET', '/api/shelves'],
    ['GET', '/api/sessions'],
    ['GET', '/api/me'],
    ['POST', '/api/auth/update-user'],
    ['GET', '/api/auth/admin/list-users'],
  ])('is rejected by %s %s, also with a valid cookie', async (method, path) => {
    const cookie = await signInAsRoot()
    for (const authorization of invalid)
      for (const credentials of [{}, { cookie }] as Record<string, string>[])
        expect(
          await call(method, path, method === 'POST' ? {} : undefined, { authorization, ...credentials }),
        ).toMatchObject(UNAUTHORIZED)

    expect(await get('/api/me', { cookie })).toMatchObject({ status: 200 })
  })

  test('is named as the error in the challenge', async () => {
    const { headers } = await get('/api/shelves', { authorization: 'Bearer x' })

    expect(headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource", error="invalid_token"`,
    )
  })

  test('is not named as the error when the request has no token', async () => {
    expect((await get('/api/shelves')).headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
    )
  })

  test('is rejected over RPC and in process', async () => {
    const cookie = await service.signIn(newEmail())
    const headers = { cookie, authorization: 'Bearer x' }

    await expect(service.client(headers).account.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect(await call('POST', '/rpc/account/get', {}, headers)).toMatchObject({ status: 401 })
  })
})

test('a valid bearer token has precedence over a cookie', async () => {
  const tokens = await app.obtainTokens(await signIn())
  const { body } = await get('/api/me', bearer(tokens))

  const both = await get('/api/me', { ...bearer(tokens), cookie: await signIn() })

  expect(both.body).toEqual(body)
})

describe('a grant', () => {
  test('is listed among the sessions under the name of its app', async () => {
    const cookie = await signIn()
    await app.obtainTokens(cookie)

    const { sessions } = await browserOf(cookie).sessions.list()

    expect(sessions).toHaveLength(2)
    expect(sessions.find(({ isCurrent }) => !isCurrent)).toMatchObject({
      browser: 'An app',
      userAgent: 'An app',
      os: 'Unknown',
    })
  })

  test('is not accepted as the session of a browser', async () => {
    const cookie = await signIn()
    await app.obtainTokens(cookie)
    const { sessions } = await browserOf(cookie).sessions.list()
    const token = sessions.find(({ isCurrent }) => !isCurrent)?.token ?? ''
    const [name] = cookie.split('=')

    expect(await get('/api/me', { cookie: `${name}=${token}` })).toMatchObject(UNAUTHORIZED)
    expect(await get('/api/me', { authorization: `Bearer ${token}` })).toMatchObject(UNAUTHORIZED)
  })

  test('ends immediately for access and refresh tokens when it is revoked', async () => {
    const cookie = await signIn()
    const [tokens, otherTokens] = [await app.obtainTokens(cookie), await other.obtainTokens(cookie)]
    const browser = browserOf(cookie)
    const { sessions } = await browser.sessions.list()

    await browser.sessions.revoke({
      revokeSessionToken: sessions.find(({ browser: name }) => name === 'An app')?.token ?? '',
    })

    expect(await listShelves(tokens)).toMatchObject(UNAUTHORIZED)
    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
    expect(await listShelves(otherTokens)).toMatchObject({ status: 200 })
  })

  test('that is revoked before its code is redeemed issues no tokens', async () => {
    const cookie = await signIn()
    const code = (await app.allow(cookie)).get('code')
    const browser = browserOf(cookie)
    const { sessions } = await browser.sessions.list()

    await browser.sessions.revoke({
      revokeSessionToken: sessions.find(({ isCurrent }) => !isCurrent)?.token ?? '',
    })

    expect(await app.redeem(code)).toMatchObject(INVALID_GRANT)
  })

  test.each([
    ['banned', 'ban-user', {}],
    ['removed', 'remove-user', {}],
    ['signed out of every session', 'revoke-user-sessions', {}],
  ])('ends when the account is %s', async (_, operation, more) => {
    const cookie = await signIn()
    const tokens = await app.obtainTokens(cookie)
    const code = (await app.allow(cookie)).get('code')
    const userId = decodeJwt(tokens.access_token).sub
    const root = await signInAsRoot()

    const answer = await call('POST', `/api/auth/admin/${operation}`, { userId, ...more }, { cookie: root })

    expect(answer.status).toBe(200)
    expect(await listShelves(tokens)).toMatchObject(UNAUTHORIZED)
    expect(await get('/api/me', bearer(tokens))).toMatchObject(UNAUTHORIZED)
    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
    const { body } = await app.redeem(code)
    expect(await listShelves(body as Tokens)).toMatchObject(UNAUTHORIZED)
  })

  test('continues after the browser signs out', async () => {
    const cookie = await signIn()
    const tokens = await app.obtainTokens(cookie)

    await call('POST', '/api/auth/sign-out', {}, { cookie })

    expect(await get('/api/me', { cookie })).toMatchObject(UNAUTHORIZED)
    expect(await listShelves(tokens)).toMatchObject({ status: 200 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject({ status: 200 })
  })

  test('is not created without a session', async () => {
    const answer = await appWithId(service, app.id).submitConsent({ action: 'allow' }, {})

    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('Your e-mail address')
  })
})
