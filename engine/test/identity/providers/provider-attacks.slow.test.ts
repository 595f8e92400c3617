import { eq, like } from 'drizzle-orm'
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { createServer } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'

import { freePort } from '../../../dev/testing/postgres.ts'
import { accounts, verifications } from '../../../db/accounts/users.ts'
import { newEmail } from '../../fixtures/bind-service.ts'
import { changeAnswers, createBrowser, redirectOf, startProvider } from './provider.ts'
import { databases, oidc, startWithSignIn } from './service.ts'

const provider = await startProvider()
const other = await startProvider()
const latePort = await freePort()
afterAll(async () => {
  await Promise.all([provider.stop(), other.stop()])
})

const service = await startWithSignIn({
  oidc: [
    oidc(provider),
    oidc(other, 'other', 'Other'),
    oidc({ discoveryUrl: `http://127.0.0.1:${latePort}/.well-known/openid-configuration` }, 'late'),
  ],
})
const { db } = service.services

function become(claims: Record<string, unknown> = {}) {
  const person = { sub: crypto.randomUUID(), email: newEmail(), email_verified: true, ...claims }
  provider.person = person
  other.person = person
  return createBrowser(service.origin)
}
const signedOut = { code: 'UNAUTHORIZED' }
const FAILED = '/?error=PROVIDER_FAILED'

describe('the answer of a provider', () => {
  test('is accepted once', async () => {
    const browser = become()
    const callback = await browser.visit(await browser.begin())
    const copy = createBrowser(service.origin, new Map(browser.cookies))

    expect(redirectOf(await browser.send(callback))).toBe('/')

    expect(redirectOf(await copy.send(callback))).toBe(FAILED)
    expect(await copy.me()).toMatchObject(signedOut)
  })

  test('is accepted only in the browser that began', async () => {
    const attacker = become()
    const callback = await attacker.visit(await attacker.begin())
    const victim = createBrowser(service.origin)
    const started = createBrowser(service.origin)
    await started.begin()

    expect(redirectOf(await victim.send(callback))).toBe(FAILED)
    expect(redirectOf(await started.send(callback))).toBe(FAILED)

    expect(await victim.me()).toMatchObject(signedOut)
    expect(await started.me()).toMatchObject(signedOut)
  })

  test('is refused with a state cookie that the service has not signed', async () => {
    const attacker = become()
    const callback = await attacker.visit(await attacker.begin())
    const [name = ''] = [...attacker.cookies.keys()]
    const state = new URL(callback).searchParams.get('state') ?? ''
    const victim = createBrowser(service.origin, new Map([[name, `${state}.${'A'.repeat(43)}%3D`]]))

    expect(redirectOf(await victim.send(callback))).toBe(FAILED)
    expect(await victim.me()).toMatchObject(signedOut)
  })

  test('is refused at the callback of another provider', async () => {
    const browser = become()
    const callback = await browser.visit(await browser.begin())

    const location = redirectOf(await browser.send(callback.replace('/acme?', '/other?')))

    expect(location).toBe(FAILED)
    expect(await browser.me()).toMatchObject(signedOut)
  })

  test('is refused with the code of the sign-in of another person', async () => {
    const victim = become()
    const code = new URL(await victim.visit(await victim.begin())).searchParams.get('code') ?? ''
    const attacker = createBrowser(service.origin)
    const callback = new URL(await attacker.visit(await attacker.begin()))
    callback.searchParams.set('code', code)

    expect(redirectOf(await attacker.send(callback.href))).toBe(FAILED)
    expect(await attacker.me()).toMatchObject(signedOut)
  })

  test('is refused with another issuer', async () => {
    const browser = become()
    const callback = await browser.visit(await browser.begin())

    expect(redirectOf(await browser.send(`${callback}&iss=${encodeURIComponent(other.issuer)}`))).toBe(FAILED)
  })

  test('is refused after ten minutes', async () => {
    const browser = become()
    const callback = await browser.visit(await browser.begin())
    const state = new URL(callback).searchParams.get('state') ?? ''
    const isOfState = like(verifications.value, `%${state}%`)
    const [row] = await db.select().from(verifications).where(isOfState)
    const value = JSON.stringify({ ...(JSON.parse(row?.value ?? '{}') as object), expiresAt: Date.now() - 1 })
    await db.update(verifications).set({ value }).where(isOfState)

    expect(redirectOf(await browser.send(callback))).toBe(FAILED)
    expect(await browser.me()).toMatchObject(signedOut)
  })

  test.each([
    ['an error with HTML', '?error=%3Cscript%3E&error_description=%3Cscript%3Ealert(1)%3C/script%3E&state='],
    ['a refusal with a code', '?error=access_denied&code=1&state='],
    ['neither code nor error', '?state='],
  ])('is a fixed text for %s', async (_, answer) => {
    const browser = become()
    const state = new URL(await browser.begin({ callbackURL: '/books?a=1' })).searchParams.get('state') ?? ''

    const response = await browser.send(`/api/auth/callback/acme${answer}${state}`)

    expect(redirectOf(response)).toBe('/books?a=1&error=PROVIDER_FAILED')
    expect(await response.text()).toBe('')
  })

  test.each(['', '?state=x', '?code=1&state=x', '?code=1'])(
    'without a valid state is refused: %s',
    async (query) => {
      expect(redirectOf(await become().send(`/api/auth/callback/acme${query}`))).toBe(FAILED)
    },
  )

  test('is only read at the declared paths, with GET', async () => {
    const browser = become()

    expect((await browser.send('/api/auth/callback/github?code=1&state=x')).status).toBe(404)
    expect((await browser.post('/api/auth/callback/acme?code=1&state=x', {})).status).toBe(405)
    expect(
      (await browser.post('/api/auth/sign-in/social', { provider: 'github', callbackURL: '/' })).status,
    ).toBe(400)
  })
})

const { privateKey } = await generateKeyPair('RS256')

describe('an ID token', () => {
  /** The claims of a token that the provider has just signed. */
  const claimsOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>
  const kidOf = (token: string) =>
    (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid

  const forged: Record<string, (token: string) => Promise<unknown>> = {
    'of another key': (token) =>
      new SignJWT(claimsOf(token)).setProtectedHeader({ alg: 'RS256', kid: kidOf(token) }).sign(privateKey),
    'of the client secret': (token) =>
      new SignJWT(claimsOf(token))
        .setProtectedHeader({ alg: 'HS256', kid: kidOf(token) })
        .sign(Buffer.from('secret of the library')),
    'without a signature': (token) => Promise.resolve(new UnsecuredJWT(claimsOf(token)).encode()),
    'with two parts': (token) => Promise.resolve(token.split('.').slice(0, 2).join('.')),
    'that is missing': () => Promise.resolve(undefined),
    'that is a megabyte': () => Promise.resolve('A'.repeat(1_000_000)),
  }

  /** Signs in while the provider sends another ID token. */
  async function signInWith(change: (token: string) => Promise<unknown>) {
    const browser = become()
    const url = await browser.begin()
    const callback = await browser.visit(url)
    // The provider sends its answer right after the listeners, so the token must be ready before.
    const nonce = new URL(url).searchParams.get('nonce')
    const token = await change(
      await provider.server.issuer.buildToken({
        scopesOrTransform: (_, payload) =>
          Object.assign(payload, provider.person, { aud: 'library', nonce }) as never,
      }),
    )
    changeAnswers(provider, ({ body }) => {
      body.id_token = token
    })
    return { location: redirectOf(await browser.send(callback)), me: await browser.me() }
  }

  test('of the provider is accepted', async () => {
    const { location } = await signInWith((token) => Promise.resolve(token))

    expect(location).toBe('/')
  })

  test.each(Object.entries(forged))('%s is refused', async (_, forge) => {
    const { location, me } = await signInWith(forge)

    expect(location).toBe(FAILED)
    expect(me).toMatchObject(signedOut)
  })

  test.each([
    ['for another client', { aud: 'another' }],
    ['of another issuer', { iss: 'https://example.com' }],
    ['that has expired', { exp: 1 }],
    ['for another sign-in', { nonce: 'another' }],
    ['without a nonce', { nonce: undefined }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['with an endless subject', { sub: 'a'.repeat(256) }],
  ])('%s is refused', async (_, claims) => {
    const browser = become(claims)

    expect(await browser.signIn()).toBe(FAILED)
    expect(await browser.me()).toMatchObject(signedOut)
  })
})

describe('the way back', () => {
  test.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/%2f/evil.example',
    '/%5cevil.example',
    'javascript:alert(1)',
    'books',
    '',
    '/a\r\nset-cookie: a=b',
    `/${'a'.repeat(9000)}`,
  ])('is a path of the service: %j is refused', async (callbackURL) => {
    const answer = await become().post('/api/auth/sign-in/social', { provider: 'acme', callbackURL })

    expect([400, 403]).toContain(answer.status)
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  test('cannot be set by other fields', async () => {
    const browser = become({ email_verified: false })
    const started = await browser.post('/api/auth/sign-in/social', {
      provider: 'acme',
      callbackURL: '/',
      errorCallbackURL: 'https://evil.example',
      newUserCallbackURL: 'https://evil.example',
      additionalData: { callbackURL: 'https://evil.example', providerId: 'other' },
      scopes: ['everything'],
      idToken: { token: 'a' },
    })
    const { url } = (await started.json()) as { url: string }

    expect(new URL(url).searchParams.get('scope')).not.toContain('everything')
    expect(redirectOf(await browser.send(await browser.visit(url)))).toBe('/?error=UNVERIFIED_ADDRESS')
  })
})

test('a page of another website cannot begin a sign-in', async () => {
  const answer = await fetch(`${service.origin}/api/auth/sign-in/social`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'https://evil.example', cookie: 'a=b' },
    body: JSON.stringify({ provider: 'acme', callbackURL: '/' }),
  })

  expect(answer.status).toBe(403)
})

test('a provider that is down at the start works once it is back', async () => {
  const browser = become()
  const begin = () => browser.post('/api/auth/sign-in/social', { provider: 'late', callbackURL: '/' })
  const refused = await begin()
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({ code: 'PROVIDER_FAILED' })

  const late = await startProvider(latePort)
  late.person = provider.person
  try {
    expect(await browser.signIn({ provider: 'late' })).toBe('/')
    expect(await browser.me()).toMatchObject({ email: provider.person.email })
  } finally {
    await late.stop()
  }
})

test('several answers for one new person at once make one account, which all of them reach', async () => {
  const browsers = [become(), ...Array.from({ length: 5 }, () => createBrowser(service.origin))]
  const callbacks = await Promise.all(browsers.map(async (each) => each.visit(await each.begin())))

  const answers = await Promise.all(browsers.map((browser, index) => browser.send(callbacks[index] ?? '')))

  expect(answers.map(redirectOf)).toEqual(browsers.map(() => '/'))
  const sub = String(provider.person.sub)
  expect(await db.select().from(accounts).where(eq(accounts.accountId, sub))).toHaveLength(1)
})

test('answers of two providers for one new address at once make one account, which one of them reaches', async () => {
  const browsers = [become(), createBrowser(service.origin)]
  const callbacks = await Promise.all(
    browsers.map(async (each, index) =>
      each.visit(await each.begin({ provider: index === 0 ? 'acme' : 'other' })),
    ),
  )

  const answers = await Promise.all(browsers.map((browser, index) => browser.send(callbacks[index] ?? '')))

  expect(answers.map(redirectOf).sort()).toEqual(['/', '/?error=NOT_CONNECTED'])
})

describe.each(Object.entries(databases))('a provider that never answers, on %s', async (_, environment) => {
  let ask: () => void = () => undefined
  const asked = new Promise<void>((resolve) => {
    ask = resolve
  })
  const silent = createServer((request, response) => {
    if (request.method === 'POST') {
      ask()
      return
    }
    const { port } = silent.address() as { port: number }
    const issuer = `http://127.0.0.1:${port}`
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
      }),
    )
  })
  const port = await freePort()
  await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve))
  afterAll(() => {
    silent.close()
    silent.closeAllConnections()
  })
  const slow = await startWithSignIn(
    { oidc: [oidc({ discoveryUrl: `http://127.0.0.1:${port}/.well-known/openid-configuration` })] },
    environment,
  )

  test('occupies no connection of the database, and is given up', { timeout: 30_000 }, async () => {
    const browser = createBrowser(slow.origin)
    const state = new URL(await browser.begin()).searchParams.get('state') ?? ''
    const answer = browser.send(`/api/auth/callback/acme?code=1&state=${state}`)
    await asked

    // The embedded database has one connection: with an open transaction, this sign-in would wait.
    const isFree = await Promise.race([slow.signIn(newEmail()).then(() => true), answer.then(() => false)])

    expect(isFree).toBe(true)
    expect(redirectOf(await answer)).toBe(FAILED)
  })
})
