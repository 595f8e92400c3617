import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, describe, expect, test } from 'vitest'

import { newEmail } from '../../fixtures/bind-service.ts'
import { createBrowser, redirectOf, startProvider } from './provider.ts'
import { oidc, startWithSignIn, withSignIn } from './service.ts'

const provider = await startProvider()
afterAll(() => provider.stop())

const client = { clientId: 'library', clientSecret: 'secret' }
const unknown = { clientId: undefined, clientSecret: undefined }
const start = { callbackURL: '/' }

test.each([
  ['two providers have the id google', { google: client, oidc: [oidc(provider, 'google')] }],
  ['the id "Acme" must have', { oidc: [oidc(provider, 'Acme')] }],
  ['the id "a/b" must have', { oidc: [oidc(provider, 'a/b')] }],
  ['acme has no name', { oidc: [oidc(provider, 'acme', ' ')] }],
  ['must be an https address', { oidc: [oidc({ discoveryUrl: 'http://acme.example/' })] }],
  ['must be an https address', { oidc: [oidc({ discoveryUrl: 'acme' })] }],
])('the mistake is named at the start: %s', (message, signIn) => {
  expect(() => withSignIn(signIn)).toThrow(message)
})

test('in production, a provider without its values stops the start', async () => {
  const app = withSignIn({ github: unknown, oidc: [{ ...oidc(provider), discoveryUrl: undefined }] })
  const production = {
    NODE_ENV: 'production',
    BASE_URL: 'https://library.example',
    SMTP_URL: 'smtp://127.0.0.1',
    MAIL_FROM: 'library@example.com',
    DATABASE_URL: 'memory:',
  }

  await expect(createTallystick(app, production)).rejects.toThrow('github, acme')
})

describe.each([
  ['without its values', { github: unknown, oidc: [{ ...oidc(provider), clientSecret: '' }] }],
  ['that is not declared', {}],
])('a provider %s', async (_, signIn) => {
  const service = await startWithSignIn(signIn)
  const browser = createBrowser(service.origin)

  test('is not offered, and has no path', async () => {
    const { headers } = await browser.send('/api/auth/get-session')

    expect(headers.get('sign-in-providers')).toBeNull()
    for (const path of ['/api/auth/sign-in/social', '/api/auth/link-social', '/api/auth/unlink-account'])
      expect((await browser.post(path, { ...start, provider: 'acme' })).status).toBe(404)
    expect((await browser.send('/api/auth/callback/acme?code=1&state=1')).status).toBe(404)
    expect((await browser.send('/api/auth/list-accounts')).status).toBe(404)
  })
})

describe('Google and GitHub', async () => {
  const service = await startWithSignIn({ google: { ...client, hd: 'acme.example' }, github: client })

  test.each([
    ['google', 'https://accounts.google.com/o/oauth2/v2/auth', { hd: 'acme.example' }],
    ['github', 'https://github.com/login/oauth/authorize', {}],
  ])('%s is asked with PKCE, for the redirect URI of the service', async (id, address, parameters) => {
    const url = new URL(await createBrowser(service.origin).begin({ provider: id }))

    expect(url.origin + url.pathname).toBe(address)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      ...parameters,
      client_id: 'library',
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${service.origin}/api/auth/callback/${id}`,
    })
    expect(url.href).not.toContain('secret')
  })
})

describe('over https', async () => {
  const service = await startWithSignIn({ oidc: [oidc(provider)] }, { BASE_URL: 'https://library.example' })

  test('the cookies are only for this host', async () => {
    provider.person = { sub: crypto.randomUUID(), email: newEmail(), email_verified: true }
    const browser = createBrowser(service.origin)
    const url = await browser.begin()
    const [state = ''] = [...browser.cookies.keys()]
    expect(state).toMatch(/^__Host-.*state$/)
    const callback = new URL(await browser.visit(url))
    expect(callback.origin).toBe('https://library.example')

    const answer = await browser.send(callback.pathname + callback.search)

    expect(redirectOf(answer)).toBe('/')
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-[^;]*state=;.*Max-Age=0/),
      expect.stringMatching(/^__Host-[^;]*session_token=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ])
    expect([...browser.cookies.keys()]).toEqual([expect.stringMatching(/^__Host-.*session_token$/)])
    expect(await browser.me()).toMatchObject({ email: provider.person.email })
  })
})
