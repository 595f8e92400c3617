import { describe, expect, test } from 'vitest'

import { readSettings } from '../fixtures/settings.ts'
import { appWithId, createOAuthCalls, openPage, redirectUri, registerApp } from '../fixtures/oauth-app.ts'
import { settingsWithAddress, startService } from '../fixtures/service.ts'

const configured = [
  'cli=http://127.0.0.1/callback',
  'cli=com.example.cli:/callback',
  'web=https://app.example/callback?from=tallystick',
]
const service = await startService({
  ...(await settingsWithAddress()),
  OAUTH_CLIENTS: configured.join(','),
  REDIRECT_SCHEMES: 'example-app, other',
})
const { call, signIn } = createOAuthCalls(service)

const register = (registration: unknown) => call('POST', '/register', registration)

describe('the registration of an app', () => {
  test('returns the registered metadata (RFC 7591)', async () => {
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
    ['http with another host', 'http://evil.example/callback'],
    ['a host that begins with localhost', 'http://localhost.evil.example/callback'],
    ['a javascript: URL', 'javascript:alert(1)'],
    ['a data: URL', 'data:text/html,x'],
    ['a file: URL', 'file:///etc/passwd'],
    ['a fragment', 'https://app.example/callback#there'],
    ['an empty fragment', 'https://app.example/callback#'],
    ['a user name before the host', 'https://bank.example@evil.example/callback'],
    ['a password without a user name', 'https://:bank.example@evil.example/callback'],
    ['an empty user name', 'https://@evil.example/callback'],
    ['a user name after one slash', 'https:/bank.example@evil.example/callback'],
    ['a user name after no slash', 'https:bank.example@evil.example/callback'],
    ['a user name before a loopback address', 'http://bank.example@127.0.0.1/callback'],
    ['a user name in a private-use scheme', 'com.example.app://bank.example@evil/callback'],
    ['a line break', 'https://app.example/call\nback'],
    ['a tab in the scheme', 'ht\ttps://app.example/callback'],
    ['a space at the end', 'https://app.example/callback '],
    ['a control character', 'https://app.example/\u0007'],
    ['a right-to-left override', 'https://app.example/\u202Ekcabllac'],
    ['a zero-width space', 'https://app.example/call\u200Bback'],
    ['a Cyrillic letter in the host', 'https://аpp.example/callback'],
    ['an ideographic full stop', 'https://app。example/callback'],
    ['a backslash', 'https:\\\\app.example\\callback'],
    ['a backslash before the host', 'https://bank.example\\@evil.example/callback'],
    ['three slashes', 'https:///app.example/callback'],
    [
      'a character that ends a directive of the Content-Security-Policy',
      'https://evil;script-src.example/callback',
    ],
    ['a relative URL', 'callback'],
    ['an empty string', ''],
    ['a URL of more than 2,000 characters', `https://app.example/${'x'.repeat(2000)}`],
    ['a number', 1],
  ])('rejects the redirect URI: %s', async (_, uri) => {
    expect(await register({ redirect_uris: [uri] })).toMatchObject({
      status: 400,
      body: { error: 'invalid_redirect_uri', error_description: expect.any(String) },
    })
  })

  test.each([
    ['no redirect URIs', []],
    ['eleven redirect URIs', Array.from({ length: 11 }, (_, index) => `https://app.example/${index}`)],
    ['redirect URIs that are not a list', 'https://app.example/callback'],
    ['missing redirect URIs', undefined],
  ])('rejects %s', async (_, redirect_uris) => {
    expect(await register({ redirect_uris })).toMatchObject({
      status: 400,
      body: { error: 'invalid_redirect_uri' },
    })
  })

  test.each([
    ['a long name', { client_name: 'x'.repeat(121) }],
    ['a long name of invisible characters', { client_name: '\u0301'.repeat(1001) }],
    ['a name that is not a text', { client_name: 1 }],
  ])('rejects %s', async (_, registration) => {
    expect(await register({ redirect_uris: [redirectUri], ...registration })).toMatchObject({
      status: 400,
      body: { error: 'invalid_client_metadata' },
    })
  })

  test.each([
    ['NUL', 'Ba\0nk'],
    ['line break', 'Ba\nnk'],
    ['escape', 'Ba\u001bnk'],
    ['C1 control', 'Bank\u0085'],
    ['override', '\u202EBank'],
    ['isolate', 'Bank\u2066'],
    ['direction mark', 'Bank\u200F'],
    ['Arabic letter mark', 'Bank\u061C'],
    ['zero-width space', 'Ba\u200Bnk'],
    ['zero-width joiner between Latin letters', 'Ba\u200Dnk'],
    ['byte order mark', '\uFEFFBank'],
    ['soft hyphen', 'Ba\u00ADnk'],
    ['word joiner', 'Ba\u2060nk'],
    ['Hangul filler', 'Bank\u3164'],
    ['variation selector', 'Bank\uFE0F'],
    ['tag', 'Bank\u{E0041}'],
    ['line separator', 'Bank\u2028'],
    ['Braille blank', 'Bank\u2800'],
    ['private use character', 'Bank\uE000'],
    ['unpaired surrogate', 'Bank\uD800'],
    ['space at the end', 'Bank\u3000'],
  ])('removes from the name: %s', async (_, client_name) => {
    const { status, body } = await register({ redirect_uris: [redirectUri], client_name })

    expect({ status, body }).toMatchObject({ status: 201, body: { client_name: 'Bank' } })
  })

  test('keeps four marks of a longer sequence of combining marks', async () => {
    const client_name = `ב${'\u0301'.repeat(9)}`

    expect(await register({ redirect_uris: [redirectUri], client_name })).toMatchObject({
      body: { client_name: `ב${'\u0301'.repeat(4)}` },
    })
  })

  test.each(['می\u200cخواهم', 'क्\u200dष', '👩\u200d💻 ❤\uFE0F', '🏳\uFE0F\u200d🌈', 'Größe 名'])(
    'keeps the name %j with its joiners',
    async (client_name) => {
      expect(await register({ redirect_uris: [redirectUri], client_name })).toMatchObject({
        status: 201,
        body: { client_name },
      })
    },
  )

  test.each([
    ['an absent name', {}],
    ['null', { client_name: null }],
    ['an empty name', { client_name: '' }],
    ['a blank name', { client_name: ' \u3000\u00a0' }],
    ['an invisible name', { client_name: '\u200B\u3164\u2800' }],
  ])('calls the app "An app" for %s', async (_, registration) => {
    expect(await register({ redirect_uris: [redirectUri], ...registration })).toMatchObject({
      status: 201,
      body: { client_name: 'An app' },
    })
  })

  test.each([
    { token_endpoint_auth_method: 'client_secret_basic' },
    { token_endpoint_auth_method: 'client_secret_post' },
    { token_endpoint_auth_method: null, grant_types: null, response_types: [], scope: null, client_uri: '' },
    { grant_types: ['client_credentials'], response_types: ['token'], scope: 'openid' },
  ])('substitutes what is not supported, and names the result: %j', async (registration) => {
    const { status, body } = await register({ redirect_uris: [redirectUri], ...registration })

    expect(status).toBe(201)
    expect(body).toEqual({
      client_id: expect.any(String),
      client_id_issued_at: expect.any(Number),
      client_name: 'An app',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    })
  })

  test.each([
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://vscode.github-authentication/did-authenticate',
    'vscode-insiders://vscode.github-authentication/did-authenticate',
    'windsurf://codeium.windsurf/callback',
    'zed://oauth/callback',
    'warp://mcp/oauth2callback',
    'example-app://callback',
  ])('accepts the private scheme of a known app: %s', async (uri) => {
    expect(await register({ redirect_uris: [uri] })).toMatchObject({
      status: 201,
      body: { redirect_uris: [uri] },
    })
  })

  test.each([
    'cursor:/oauth/callback',
    'cursor:callback',
    'cursor:///callback',
    'Cursor2://callback',
    'intent://callback',
    'ms-msdt://callback',
    'view-source://callback',
    'myapp://callback',
    'ftp://localhost/callback',
    'ws://localhost/callback',
    'cursor://bank@evil/callback',
  ])('leaves out a redirect URI that is not supported: %s', async (uri) => {
    const { status, body } = await register({ redirect_uris: [uri, redirectUri] })

    expect({ status, body }).toMatchObject({ status: 201, body: { redirect_uris: [redirectUri] } })
    expect(await register({ redirect_uris: [uri] })).toMatchObject({
      status: 400,
      body: { error: 'invalid_redirect_uri' },
    })
  })

  test('accepts ten redirect URIs and a name of 120 characters', async () => {
    const redirect_uris = Array.from({ length: 10 }, (_, index) => `https://app.example/${index}`)

    expect(await register({ client_name: '名'.repeat(120), redirect_uris })).toMatchObject({ status: 201 })
  })

  test.each(['{', '[]', '"x"'])('rejects a body that is not an object: %s', async (body) => {
    expect(await register(body)).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } })
  })
})

describe('a redirect URI', () => {
  const registered = {
    redirect_uris: [
      'https://app.example/callback?a=1',
      'http://127.0.0.1:9/callback',
      'com.example.app:/callback',
      'cursor://anysphere.cursor-mcp/oauth/callback',
    ],
  }

  test.each([
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'https://app.example/callback?a=1',
    'http://127.0.0.1:9/callback',
    'http://127.0.0.1:50000/callback',
    'http://127.0.0.1/callback',
    'com.example.app:/callback',
  ])('is accepted: %s', async (redirect_uri) => {
    const { authorizationUrl } = await registerApp(service, registered)

    expect(await openPage(authorizationUrl({ redirect_uri }))).toMatchObject({ status: 200 })
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
    'cursor://anysphere.cursor-mcp/oauth/other',
    'cursor://anysphere.other/oauth/callback',
    'vscode://anysphere.cursor-mcp/oauth/callback',
    'com.example.app:/other',
    'com.example.other:/callback',
    'javascript:alert(1)',
    '//app.example/callback',
    '',
  ])('is rejected with a page: %s', async (redirect_uri) => {
    const { authorizationUrl } = await registerApp(service, registered)

    expect(await openPage(authorizationUrl({ redirect_uri }))).toMatchObject({ status: 400, location: null })
  })

  test('keeps its own query', async () => {
    const redirect_uri = 'https://app.example/callback?a=1'
    const own = await registerApp(service, registered)
    const cookie = await signIn()

    const parameters = await own.allow(cookie, { redirect_uri })

    expect([...parameters.keys()]).toEqual(['a', 'code', 'iss'])
    expect(await own.redeem(parameters.get('code'), { redirect_uri })).toMatchObject({ status: 200 })
  })
})

describe('an app of OAUTH_CLIENTS', () => {
  test.each([
    ['cli', 'http://127.0.0.1:4321/callback'],
    ['cli', 'com.example.cli:/callback'],
    ['web', 'https://app.example/callback?from=tallystick'],
  ])('%s is accepted at %s', async (id, redirect_uri) => {
    const known = appWithId(service, id)

    const { status, html } = await openPage(known.authorizationUrl({ redirect_uri }), await signIn())
    const code = (await known.allow(await signIn(), { redirect_uri })).get('code')

    expect(status).toBe(200)
    expect(html).toContain(`<h1>Authorize <bdi>${id}</bdi>?</h1>`)
    expect(await known.redeem(code, { redirect_uri })).toMatchObject({ status: 200 })
  })

  test.each([
    ['cli', 'http://127.0.0.1:4321/other'],
    ['web', 'http://127.0.0.1/callback'],
    ['web', 'https://app.example/callback?from'],
    ['clil', 'http://127.0.0.1/callback'],
    ['web=https://app.example/callback?from', redirectUri],
    ['', redirectUri],
  ])('%s is rejected at %s', async (id, redirect_uri) => {
    expect(await openPage(appWithId(service, id).authorizationUrl({ redirect_uri }))).toMatchObject({
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
  // The client ids of personal tokens.
  'token=https://app.example/callback',
  'token:/mcp=https://app.example/callback',
])('OAUTH_CLIENTS rejects the entry %j', (entry) => {
  expect(() => readSettings({ AUTH_SECRET: 'x'.repeat(32), OAUTH_CLIENTS: entry })).toThrow('OAUTH_CLIENTS')
})

test.each(['https', 'javascript', 'file', 'Example', 'exam ple', 'a:', '1a'])(
  'REDIRECT_SCHEMES rejects the scheme %j',
  (scheme) => {
    expect(() => readSettings({ AUTH_SECRET: 'x'.repeat(32), REDIRECT_SCHEMES: scheme })).toThrow(
      'REDIRECT_SCHEMES',
    )
  },
)

test('OAUTH_CLIENTS accepts a scheme of REDIRECT_SCHEMES', () => {
  const environment = { AUTH_SECRET: 'x'.repeat(32), OAUTH_CLIENTS: 'cli=example-app://callback' }

  expect(() => readSettings(environment)).toThrow('OAUTH_CLIENTS')
  expect(readSettings({ ...environment, REDIRECT_SCHEMES: 'example-app' }).oauthClients).toEqual([
    'cli=example-app://callback',
  ])
})
