import { createClient } from '@openauthjs/openauth/client'
import { createSubjects } from '@openauthjs/openauth/subject'
import { eq } from 'drizzle-orm'
import { decodeJwt } from 'jose'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createPlainServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as openid from 'openid-client'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'

import { createRestClient } from '../contract/client.ts'
import { records } from '../db/oauth.ts'
import { sessions as sessionRows } from '../db/sessions.ts'
import { readSettings } from '../src/settings.ts'
import { codeKey, Grant, refreshKey } from '../src/identity/tokens.ts'
import { settingsWithAddress, newEmail, startService } from './service.ts'
import { appWithId, bearer, redirectUri, registerApp, type Tokens } from './oauth-app.ts'
import { createFetch, signInOverHttp } from './http.ts'

const configured = [
  'cli=http://127.0.0.1/callback',
  'cli=com.example.cli:/callback',
  'web=https://app.example/callback?from=tallystick',
]
const service = await startService({ ...(await settingsWithAddress()), OAUTH_CLIENTS: configured.join(',') })
const { db } = service.services
const { origin } = service
const call = createFetch(service)
const app = await registerApp(service)

const person = async () => (await signInOverHttp(service, newEmail())).cookie
const get = (path: string) => call('GET', path)
const register = (registration: unknown) => call('POST', '/register', registration)
const list = (tokens: Tokens) => call('GET', '/api/tasks', undefined, bearer(tokens))
const ask = (address: string, cookie = '') =>
  fetch(address, { redirect: 'manual', headers: { cookie } }).then(async (answer) => ({
    status: answer.status,
    location: answer.headers.get('location'),
    html: await answer.text(),
  }))

const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } }

/** An app that registers itself, knowing nothing but the address. */
async function discover() {
  return openid.dynamicClientRegistration(
    new URL(origin),
    { redirect_uris: [redirectUri], client_name: 'An app', token_endpoint_auth_method: 'none' },
    openid.None(),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- loopback needs no TLS
    { execute: [openid.allowInsecureRequests], algorithm: 'oauth2' },
  )
}

/** Somebody lets the app in, as a browser would without scripts. */
async function consent(url: URL, cookie: string) {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'action=allow',
  })
  return new URL(response.headers.get('location') ?? '')
}

describe('a standard client', () => {
  test('discovers, asks, is let in, calls, refreshes and is revoked', async () => {
    const config = await discover()
    const { cookie } = await signInOverHttp(service, newEmail())
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'read write',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state,
    })
    const back = await consent(url, cookie)
    const tokens = await openid.authorizationCodeGrant(config, back, {
      pkceCodeVerifier,
      expectedState: state,
    })

    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'read write' })
    const rest = createRestClient(origin, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    })
    await rest.tasks.create({ taskTitle: 'By token' })
    expect(await rest.tasks.list()).toMatchObject({ taskCount: 1 })

    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)

    await openid.tokenRevocation(config, refreshed.refresh_token ?? '')
    await expect(rest.tasks.list()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect((await call('GET', '/api/sessions', undefined, { cookie })).body).toMatchObject({
      sessionCount: 1,
    })
  })

  test('of OpenAuth’s own exchanges and verifies', async () => {
    const client = createClient({ clientID: app.id, issuer: origin })
    const { url, challenge } = await client.authorize(redirectUri, 'code', { pkce: true })
    const back = await consent(new URL(url), await person())
    expect(back.searchParams.get('state')).toBe(challenge.state)

    const code = back.searchParams.get('code') ?? ''
    const exchanged = await client.exchange(code, redirectUri, challenge.verifier)
    if (exchanged.err) throw exchanged.err

    const { access } = exchanged.tokens
    expect(await client.verify(createSubjects({ grant: Grant }), access)).toMatchObject({
      aud: origin,
      subject: { type: 'grant', properties: { clientId: app.id, scope: 'read' } },
    })
    expect(
      await createRestClient(origin, { headers: { authorization: `Bearer ${access}` } }).tasks.list(),
    ).toMatchObject({ taskCount: 0 })
    expect(await client.exchange(code, redirectUri, challenge.verifier)).toHaveProperty('err')
  })
})

describe('the metadata', () => {
  test('of the server is all that a client needs (RFC 8414)', async () => {
    const { status, headers, body } = await get('/.well-known/oauth-authorization-server')

    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body).toEqual({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/revoke`,
      registration_endpoint: `${origin}/register`,
      jwks_uri: `${origin}/.well-known/jwks.json`,
      scopes_supported: ['read', 'write'],
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
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
  ])('of a resource says whom to ask (RFC 9728): %s', async (path, resource) => {
    expect((await get(path)).body).toEqual({
      resource: origin + resource,
      authorization_servers: [origin],
      scopes_supported: ['read', 'write'],
      bearer_methods_supported: ['header'],
    })
  })

  test('tells the public keys alone', async () => {
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
    'may be asked for by any page: %s',
    async (path) => {
      const headers = { origin: 'https://page.example', 'access-control-request-method': 'POST' }
      const answer = await fetch(origin + path, { method: 'OPTIONS', headers })

      expect(answer.status).toBe(204)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    },
  )

  test.each([
    ['GET', '/token', 'POST'],
    ['GET', '/register', 'POST'],
    ['GET', '/revoke', 'POST'],
    ['DELETE', '/authorize', 'GET, POST'],
    ['POST', '/.well-known/jwks.json', 'GET'],
  ])('leaves other methods out: %s %s', async (method, path, allowed) => {
    const { status, headers } = await call(method, path)

    expect(status).toBe(405)
    expect(headers.get('allow')).toBe(allowed)
  })
})

describe('registration', () => {
  test('answers what was registered (RFC 7591)', async () => {
    const redirect_uris = [
      'https://app.example/callback',
      'http://localhost:1234/callback',
      'http://[::1]/callback',
      'com.example.app:/callback',
    ]
    const { status, body } = await register({ client_name: 'Größe 名', redirect_uris, software_id: 'x' })

    expect(status).toBe(201)
    expect(body).toEqual({
      client_id: expect.any(String),
      client_id_issued_at: expect.any(Number),
      client_name: 'Größe 名',
      redirect_uris,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    })
  })

  test.each([
    ['plain http', 'http://evil.example/callback'],
    ['a host that only begins like loopback', 'http://localhost.evil.example/callback'],
    ['a script', 'javascript:alert(1)'],
    ['data', 'data:text/html,x'],
    ['a file', 'file:///etc/passwd'],
    ['a fragment', 'https://app.example/callback#there'],
    ['an empty fragment', 'https://app.example/callback#'],
    ['a user before the host', 'https://bank.example@evil.example/callback'],
    ['a password alone', 'https://:bank.example@evil.example/callback'],
    ['an empty user', 'https://@evil.example/callback'],
    ['a user after one slash', 'https:/bank.example@evil.example/callback'],
    ['a user after no slash', 'https:bank.example@evil.example/callback'],
    ['a user on this machine', 'http://bank.example@127.0.0.1/callback'],
    ['a user of a private scheme', 'com.example.app://bank.example@evil/callback'],
    ['a line break', 'https://app.example/call\nback'],
    ['a tab in the scheme', 'ht\ttps://app.example/callback'],
    ['a space at the end', 'https://app.example/callback '],
    ['a control character', 'https://app.example/\u0007'],
    ['a character that turns text round', 'https://app.example/\u202Ekcabllac'],
    ['a character that cannot be seen', 'https://app.example/call\u200Bback'],
    ['letters of another script', 'https://аpp.example/callback'],
    ['a full stop that is none', 'https://app。example/callback'],
    ['a backslash', 'https:\\\\app.example\\callback'],
    ['a backslash before the host', 'https://bank.example\\@evil.example/callback'],
    ['three slashes', 'https:///app.example/callback'],
    ['a character that would end a policy', 'https://evil;script-src.example/callback'],
    ['no address', 'callback'],
    ['nothing', ''],
    ['a long one', `https://app.example/${'x'.repeat(2000)}`],
    ['a number', 1],
  ])('refuses to answer at %s', async (_, uri) => {
    expect(await register({ redirect_uris: [uri] })).toMatchObject({
      status: 400,
      body: { error: 'invalid_redirect_uri', error_description: expect.any(String) },
    })
  })

  test.each([
    ['none', []],
    ['eleven', Array.from({ length: 11 }, (_, index) => `https://app.example/${index}`)],
    ['no list', 'https://app.example/callback'],
    ['nothing', undefined],
  ])('refuses %s of them', async (_, redirect_uris) => {
    expect(await register({ redirect_uris })).toMatchObject({
      status: 400,
      body: { error: 'invalid_redirect_uri' },
    })
  })

  test.each([
    ['an empty name', { client_name: '' }],
    ['a long name', { client_name: 'x'.repeat(121) }],
    ['a name that cannot be stored', { client_name: 'a\0b' }],
    ['a blank name', { client_name: ' \u3000\u00a0' }],
    ...[
      ['line break', 'Bank\nSafe'],
      ['escape', 'Bank\u001b[2J'],
      ['C1 control', 'Bank\u0085'],
      ['override', '\u202Eknab'],
      ['isolate', 'Bank\u2066'],
      ['direction mark', 'Bank\u200F'],
      ['Arabic letter mark', 'Bank\u061C'],
      ['zero-width space', 'Ba\u200Bnk'],
      ['zero-width joiner', 'Ba\u200Dnk'],
      ['byte order mark', '\uFEFFBank'],
      ['soft hyphen', 'Ba\u00ADnk'],
      ['word joiner', 'Ba\u2060nk'],
      ['Hangul filler', '\u3164'],
      ['variation selector', 'Bank\uFE0F'],
      ['tag', 'Bank\u{E0041}'],
      ['line separator', 'Bank\u2028'],
      ['Braille blank', '\u2800'],
      ['private use character', 'Bank\uE000'],
      ['pile of marks', `B${'\u0301'.repeat(5)}`],
    ].map(([what, client_name]) => [`a name with a ${what}`, { client_name }] as [string, object]),
    ['a secret', { token_endpoint_auth_method: 'client_secret_basic' }],
  ])('refuses %s', async (_, registration) => {
    expect(await register({ redirect_uris: [redirectUri], ...registration })).toMatchObject({
      status: 400,
      body: { error: 'invalid_client_metadata' },
    })
  })

  test('takes ten addresses and a name of 120', async () => {
    const redirect_uris = Array.from({ length: 10 }, (_, index) => `https://app.example/${index}`)

    expect(await register({ client_name: '名'.repeat(120), redirect_uris })).toMatchObject({ status: 201 })
  })

  test.each(['{', '[]', '"x"'])('refuses what is no object: %s', async (body) => {
    expect(await register(body)).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } })
  })
})

describe('a redirect URI', () => {
  const registered = {
    redirect_uris: [
      'https://app.example/callback?a=1',
      'http://127.0.0.1:9/callback',
      'com.example.app:/callback',
    ],
  }

  test.each([
    'https://app.example/callback?a=1',
    'http://127.0.0.1:9/callback',
    'http://127.0.0.1:50000/callback',
    'http://127.0.0.1/callback',
    'com.example.app:/callback',
  ])('is taken: %s', async (redirect_uri) => {
    const { id } = await registerApp(service, registered)
    const { authorizationUrl } = appWithId(service, id)

    expect(await ask(authorizationUrl({ redirect_uri }))).toMatchObject({ status: 200 })
  })

  test.each([
    'https://app.example/callback',
    'https://app.example/callback?a=1&b=2',
    'https://app.example/callback/?a=1',
    'https://app.example:444/callback?a=1',
    'https://app.example.evil.example/callback?a=1',
    'https://evil.example/callback?a=1',
    'HTTPS://app.example/callback?a=1',
    'http://127.0.0.1:9/other',
    'http://127.0.0.1:9/callback/',
    'http://127.0.0.1:9/callback?more',
    'http://127.0.0.1:9/callback#there',
    'http://localhost:9/callback',
    'http://[::1]:9/callback',
    'http://somebody@127.0.0.1:9/callback',
    'https://127.0.0.1:9/callback',
    'http://127.0.0.1.evil.example:9/callback',
    'com.example.app:/other',
    'com.example.other:/callback',
    'javascript:alert(1)',
    '//app.example/callback',
    '',
  ])('is refused, with a page: %s', async (redirect_uri) => {
    const { id } = await registerApp(service, registered)
    const { authorizationUrl } = appWithId(service, id)

    expect(await ask(authorizationUrl({ redirect_uri }))).toMatchObject({ status: 400, location: null })
  })

  test('keeps a query of its own', async () => {
    const redirect_uri = 'https://app.example/callback?a=1'
    const own = await registerApp(service, registered)
    const cookie = await person()
    const parameters = await own.allow(cookie, { redirect_uri })

    expect([...parameters.keys()]).toEqual(['a', 'code', 'iss'])
    expect(await own.redeem(parameters.get('code'), { redirect_uri })).toMatchObject({ status: 200 })
  })
})

describe('an app that settings name', () => {
  test.each([
    ['cli', 'http://127.0.0.1:4321/callback'],
    ['cli', 'com.example.cli:/callback'],
    ['web', 'https://app.example/callback?from=tallystick'],
  ])('%s is known at %s', async (id, redirect_uri) => {
    const known = appWithId(service, id)
    const { status, html } = await ask(known.authorizationUrl({ redirect_uri }), await person())

    expect(status).toBe(200)
    expect(html).toContain(`Authorize ${id}?`)
    const code = (await known.allow(await person(), { redirect_uri })).get('code')
    expect(await known.redeem(code, { redirect_uri })).toMatchObject({ status: 200 })
  })

  test.each([
    ['cli', 'http://127.0.0.1:4321/other'],
    ['web', 'http://127.0.0.1/callback'],
    ['web', 'https://app.example/callback?from'],
    ['clil', 'http://127.0.0.1/callback'],
    ['web=https://app.example/callback?from', redirectUri],
    ['', redirectUri],
  ])('%s is refused at %s', async (id, redirect_uri) => {
    expect(await ask(appWithId(service, id).authorizationUrl({ redirect_uri }))).toMatchObject({
      status: 400,
    })
  })
})

test.each([
  'cli=nowhere',
  'cli=http://app.example/callback',
  'cli=javascript:alert(1)',
  'cli=https://app.example/#there',
  'cli=https://bank.example@evil.example/',
  'cli=https://app.example/\u202E',
  'c\u200Bli=https://app.example/',
  'c\u202Eli=https://app.example/',
  'cli',
  '=https://app.example/',
])('settings name no app as %j', (entry) => {
  expect(() => readSettings({ AUTH_SECRET: 'x'.repeat(32), OAUTH_CLIENTS: entry })).toThrow('OAUTH_CLIENTS')
})

describe('an app that a document describes', () => {
  let folder: string | undefined
  const ended: (() => void)[] = []
  afterEach(() => {
    vi.unstubAllEnvs()
    for (const end of ended.splice(0)) end()
  })
  afterAll(() => {
    if (folder) rmSync(folder, { recursive: true })
  })

  const hasOpenssl = (() => {
    try {
      return execFileSync('openssl', ['version']).length > 0
    } catch {
      return false
    }
  })()

  /** Serves a document at an address of this machine, by a certificate that nobody knows. */
  async function serve(
    document: (id: string) => unknown,
    status = 200,
    headers: Record<string, string> = {},
  ) {
    folder ??= mkdtempSync(join(tmpdir(), 'tallystick-'))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    execFileSync('openssl', [...made, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    })
    // Read whenever a connection is made: no certificate can be added to a process that runs.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
      const body = document(id)
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ended.push(() => {
      server.close()
      server.closeAllConnections()
    })
    const id = `https://127.0.0.1:${(server.address() as AddressInfo).port}/${crypto.randomUUID()}.json`
    return id
  }

  const described = (id: string) => ({
    client_id: id,
    client_name: 'A described app',
    redirect_uris: [redirectUri],
  })

  test.runIf(hasOpenssl)('is let in, outside production even from this machine', async () => {
    const known = appWithId(service, await serve(described))
    const cookie = await person()

    expect((await ask(known.authorizationUrl(), cookie)).html).toContain('Authorize A described app?')
    expect(await list(await known.obtainTokens(cookie))).toMatchObject({ status: 200 })
  })

  test.runIf(hasOpenssl).each<[string, (id: string) => unknown, number?, Record<string, string>?]>([
    ['is of another', (id) => described(`${id}?`)],
    ['names other addresses', (id) => ({ ...described(id), redirect_uris: ['https://app.example/'] })],
    [
      'names bad addresses',
      (id) => ({ ...described(id), redirect_uris: [redirectUri, 'javascript:alert(1)'] }),
    ],
    ['has a secret', (id) => ({ ...described(id), token_endpoint_auth_method: 'client_secret_basic' })],
    ['is too large', (id) => ({ ...described(id), padding: 'x'.repeat(11 * 1024) })],
    ['is no JSON', () => '<html>'],
    ['is not found', described, 404],
    ['lies elsewhere', described, 302, { location: '/app.json' }],
  ])('is refused when the document %s', async (_, document, status, headers) => {
    const id = await serve(document, status, headers)

    expect(await ask(appWithId(service, id).authorizationUrl())).toMatchObject({
      status: 400,
      location: null,
    })
  })

  test('is refused when the document is not there', async () => {
    expect(await ask(appWithId(service, 'https://127.0.0.1:9/app.json').authorizationUrl())).toMatchObject({
      status: 400,
    })
  })
})

describe('in production', async () => {
  const production = await startService({
    NODE_ENV: 'production',
    BASE_URL: 'https://tallystick.example',
    AUTH_SECRET: 'x'.repeat(32),
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'tallystick@example.com',
  })

  test.each(['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '0.0.0.0'])(
    'no document is read from this machine: %s',
    async (host) => {
      let connections = 0
      const server = createPlainServer((socket) => {
        connections++
        socket.destroy()
      })
      server.listen(0, '::')
      await once(server, 'listening')
      const id = `https://${host}:${(server.address() as AddressInfo).port}/app.json`

      expect(await ask(appWithId(production, id).authorizationUrl())).toMatchObject({
        status: 400,
        location: null,
      })
      expect(connections).toBe(0)
      expect(await ask(appWithId(service, id).authorizationUrl())).toMatchObject({ status: 400 })
      // Outside production it is: so the server above can be reached.
      if (host === '127.0.0.1') expect(connections).toBe(1)
      server.close()
    },
  )

  test.each([
    '10.0.0.1',
    '192.168.0.1',
    '172.16.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '[fd00::1]',
    '[fe80::1]',
  ])('nor from a private network: %s', async (host) => {
    const start = Date.now()

    expect(await ask(appWithId(production, `https://${host}/app.json`).authorizationUrl())).toMatchObject({
      status: 400,
    })
    // Refused, not waited for.
    expect(Date.now() - start).toBeLessThan(1000)
  })
})

describe('what an app asks', () => {
  test.each(['a b+c/ü&=“', '', '0', 'x'.repeat(1000), '<script>'])(
    'hears its state again, and who answers: %j',
    async (state) => {
      const cookie = await person()
      const allowed = await app.allow(cookie, { state })
      const denied = await app.submitConsent({ action: 'deny' }, { cookie }, { state })
      const { searchParams } = new URL(denied.headers.get('location') ?? '')

      expect(Object.fromEntries(allowed)).toEqual({ code: expect.any(String), state, iss: origin })
      expect(Object.fromEntries(searchParams)).toEqual({ error: 'access_denied', state, iss: origin })
    },
  )

  test('hears no state when it sent none', async () => {
    expect([...(await app.allow(await person())).keys()]).toEqual(['code', 'iss'])
  })

  test.each(['https://evil.example', 'x', '', '/mcp'])(
    'for an unknown resource is refused: %j',
    async (resource) => {
      const cookie = await person()
      const answer = await app.allow(cookie, { resource, state: 's' })

      expect(Object.fromEntries(answer)).toMatchObject({ error: 'invalid_target', state: 's', iss: origin })
      expect(await ask(app.authorizationUrl({ resource, state: 's' }))).toMatchObject({
        status: 400,
        location: null,
      })
    },
  )

  test('for a resource becomes the audience', async () => {
    const cookie = await person()
    const audience = async (resource?: string) =>
      decodeJwt((await app.obtainTokens(cookie, { resource })).access_token).aud

    expect(await audience(`${origin}/mcp`)).toBe(`${origin}/mcp`)
    expect(await audience(`${origin}/`)).toBe(origin)
    expect(await audience()).toBe(origin)
  })

  test('for another resource at the end is refused', async () => {
    const cookie = await person()
    const code = (await app.allow(cookie, { resource: origin })).get('code')

    expect(await app.redeem(code, { resource: `${origin}/mcp` })).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    })
    expect(await app.redeem(code, { resource: origin })).toMatchObject({ status: 200 })
  })

  test.each(['constructor', 'toString', '__proto__', 'unknown', ''])(
    'is shown again for a button that is none: %s',
    async (action) => {
      const { status } = await app.submitConsent({ action }, { cookie: await person() })

      expect(status).toBe(200)
    },
  )

  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }

  test.each(['allow', 'deny'])('is not pressed by a page of somebody else’s: %s', async (action) => {
    const { status, headers } = await app.submitConsent({ action }, { ...foreign, cookie: await person() })

    expect([status, headers.get('location')]).toEqual([403, null])
  })

  test.each(['send', 'sign-in'])('signs nobody in for a page of somebody else’s: %s', async (action) => {
    const email = newEmail()
    await app.submitConsent({ action: 'send', email }, {})
    const sent = service.letters.length
    const otp = service.letters.findLast(({ to }) => to === email)?.subject.slice(0, 6)

    const { status, headers } = await app.submitConsent({ action, email, otp }, foreign)

    expect([status, headers.getSetCookie()]).toEqual([403, []])
    expect(service.letters).toHaveLength(sent)
  })

  test('is never cached, framed, or read by scripts', async () => {
    const { headers } = await fetch(app.authorizationUrl(), { headers: { cookie: await person() } })
    const policy = headers.get('content-security-policy')

    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-frame-options')).toBe('DENY')
    // No page of another origin learns the address; and this one is told where its forms come from.
    expect(headers.get('referrer-policy')).toMatch(/^(no-referrer|same-origin)$/)
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self' http:\/\/127\.0\.0\.1:9; base-uri 'none'; frame-ancestors 'none'$/,
    )
  })
})

describe('a code', () => {
  test('is good for a minute', async () => {
    const code = (await app.allow(await person())).get('code') ?? ''
    const [record] = await db
      .select()
      .from(records)
      .where(eq(records.key, codeKey(code)))
    expect(((record?.expiresAt?.getTime() ?? 0) - Date.now()) / 1000).toBeCloseTo(60, -1)

    await db
      .update(records)
      .set({ expiresAt: new Date(0) })
      .where(eq(records.key, codeKey(code)))

    expect(await app.redeem(code)).toMatchObject(INVALID_GRANT)
  })

  test('is kept as a digest, and so are tokens', async () => {
    const cookie = await person()
    const code = (await app.allow(cookie)).get('code') ?? ''
    const { refresh_token, access_token } = await app.obtainTokens(cookie)
    const kept = JSON.stringify(await db.select().from(records))

    expect(kept).toContain(codeKey(code))
    for (const secret of [code, refresh_token, refresh_token.split(':')[1] ?? '', access_token])
      expect(kept).not.toContain(secret)
  })

  test('that is never redeemed leaves a grant of two minutes', async () => {
    const cookie = await person()
    await app.allow(cookie)
    const { sessions } = await createRestClient(origin, { headers: { cookie } }).sessions.list()
    expect(sessions).toHaveLength(2)

    const id = sessions.find(({ isCurrent }) => !isCurrent)?.id ?? ''
    const [row] = await db.select().from(sessionRows).where(eq(sessionRows.id, id))

    expect(((row?.expiresAt.getTime() ?? 0) - Date.now()) / 1000).toBeLessThanOrEqual(120)
  })
})

describe('a token', () => {
  test('is not said to be bad where the database cannot be had', async () => {
    const { refresh_token } = await app.obtainTokens(await person())
    await db.execute(
      `create function away() returns trigger language plpgsql as 'begin raise exception using errcode = 57014; end'`,
    )
    await db.execute(
      `create trigger away before update on oauth_records for each row execute function away()`,
    )
    const meanwhile = await app.refresh(refresh_token)
    await db.execute(`drop function away cascade`)

    expect(meanwhile).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } })
    expect(await app.refresh(refresh_token)).toMatchObject({ status: 200 })
  })

  test('of access lives ten minutes', async () => {
    const { access_token, expires_in } = await app.obtainTokens(await person())
    const { exp = 0 } = decodeJwt(access_token)

    expect([599, 600]).toContain(expires_in)
    expect(exp - Date.now() / 1000).toBeCloseTo(600, -1)
  })

  test('of refresh lives thirty days from its last use, and the grant with it', async () => {
    const cookie = await person()
    const days = async (token: string) => {
      const [record] = await db
        .select()
        .from(records)
        .where(eq(records.key, refreshKey(token)))
      return ((record?.expiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000
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

  test('is refreshed for what was granted, no more', async () => {
    const { refresh_token } = await app.obtainTokens(await person(), { scope: 'read' })
    const { body } = await app.refresh(refresh_token, { scope: 'read write' })

    expect(body).not.toMatchObject({ scope: 'read write' })
  })
})

describe('revocation', () => {
  test.each(['access_token', 'refresh_token'] as const)('of the %s ends the grant', async (name) => {
    const tokens = await app.obtainTokens(await person())

    expect(await app.post('/revoke', { token: tokens[name] })).toMatchObject({ status: 200 })
    expect(await list(tokens)).toMatchObject({ status: 401 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
  })

  test('of a token for agents does too', async () => {
    const tokens = await app.obtainTokens(await person(), { resource: `${origin}/mcp` })
    await app.post('/revoke', { token: tokens.access_token, token_type_hint: 'access_token' })

    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
  })

  test('by another app does nothing', async () => {
    const other = await registerApp(service)
    const tokens = await app.obtainTokens(await person())
    for (const token of [tokens.access_token, tokens.refresh_token])
      for (const client_id of [other.id, '', undefined])
        expect(await other.post('/revoke', { token, client_id })).toMatchObject({ status: 200 })

    expect(await list(tokens)).toMatchObject({ status: 200 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject({ status: 200 })
  })

  test.each(['garbage', 'a.b.c', 'a:b', '', undefined, '\0'])('of %j is 200', async (token) => {
    expect(await app.post('/revoke', { token })).toMatchObject({ status: 200, body: {} })
    expect(await app.post('/revoke', { token, client_id: undefined })).toMatchObject({ status: 200 })
  })
})
