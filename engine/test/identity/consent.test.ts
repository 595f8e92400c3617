import { describe, expect, test } from 'vitest'

import { insertClient } from '../../db/accounts/oauth.ts'
import { formType } from '../fixtures/http.ts'
import { appWithId, createOAuthCalls, openPage, registerApp } from '../fixtures/oauth-app.ts'
import { settingsWithAddress, startService } from '../fixtures/service.ts'

const TRUSTED = 'https://trusted.example'
const settings = await settingsWithAddress()
const service = await startService({
  ...settings,
  TRUSTED_ORIGINS: TRUSTED,
  OAUTH_CLIENTS: 'cli=https://cli.example/callback',
})
const { call, signIn } = createOAuthCalls(service)
const app = await registerApp(service)
const configured = appWithId(service, 'cli')

/** Registers an app and returns the HTML of its consent page. */
async function consentPage(redirect_uri: string, { client_name = 'An app' } = {}) {
  const own = await registerApp(service, { client_name, redirect_uris: [redirect_uri] })
  return (await openPage(own.authorizationUrl({ redirect_uri }), await signIn())).html
}

describe('an invalid authorization request', () => {
  test('of an app of OAUTH_CLIENTS is redirected with the error', async () => {
    const { status, location } = await openPage(
      configured.authorizationUrl({
        redirect_uri: 'https://cli.example/callback',
        scope: 'admin',
        state: 's',
      }),
    )

    expect(status).toBe(303)
    expect(location).toMatch(/^https:\/\/cli\.example\/callback\?error=invalid_scope&.*state=s/)
  })

  test('of a registered app is a page without a link', async () => {
    const { status, location, html } = await openPage(
      app.authorizationUrl({ scope: '<admin>' }),
      await signIn(),
    )

    expect([status, location]).toEqual([400, null])
    expect(html).toContain('invalid_scope')
    expect(html).not.toMatch(/<a |<form|http-equiv/)
  })

  test('is not redirected without a session, as a denied request is not', async () => {
    const denied = await app.submitConsent({ action: 'deny' }, {})
    const faulty = await app.submitConsent({ action: 'deny' }, { cookie: await signIn() }, { scope: 'admin' })

    expect([denied.status, denied.headers.get('location')]).toEqual([200, null])
    expect(await denied.text()).toContain('Your e-mail address')
    expect([faulty.status, faulty.headers.get('location')]).toEqual([400, null])
  })
})

describe('a repeated parameter', () => {
  test.each(['client_id', 'redirect_uri', 'scope', 'state', 'code_challenge', 'response_type', 'resource'])(
    'of an authorization request is rejected with a page: %s',
    async (name) => {
      const url = app.authorizationUrl({ state: 's', resource: service.services.settings.baseUrl })
      const value = new URL(url).searchParams.get(name) ?? ''
      const repeated = `${url}&${new URLSearchParams({ [name]: value }).toString()}`

      const page = await openPage(repeated, await signIn())

      expect(page).toMatchObject({ status: 400, location: null })
    },
  )

  test.each(['/token', '/revoke'])('of a form is rejected with invalid_request: %s', async (path) => {
    const { refresh_token } = await app.obtainTokens(await signIn())
    const form = `grant_type=refresh_token&client_id=${app.id}&refresh_token=x&token=x&refresh_token=${refresh_token}`

    const answer = await call('POST', path, form, formType)

    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
    expect(await app.refresh(refresh_token)).toMatchObject({ status: 200 })
  })

  test('of the form of the page is rejected', async () => {
    const { status, headers } = await fetch(app.authorizationUrl(), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: await signIn(), ...formType },
      body: 'action=deny&action=allow',
    })

    expect([status, headers.get('location')]).toEqual([400, null])
  })
})

test.each([{ action: 1 }, { action: null }, { email: [], otp: {} }, { action: 'send', email: {} }])(
  'a form with values of wrong types shows the page again: %j',
  async (body) => {
    const answer = await fetch(app.authorizationUrl(), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: await signIn(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

    expect([answer.status, answer.headers.get('location')]).toEqual([200, null])
  },
)

test.each(['allow', 'deny', 'send'])(
  'a page of a trusted origin cannot submit the form: %s',
  async (action) => {
    const cookie = await signIn()
    const crossOrigin: Record<string, string>[] = [
      { origin: TRUSTED },
      { origin: TRUSTED, 'sec-fetch-site': 'same-site' },
    ]

    for (const headers of crossOrigin) {
      const answer = await app.submitConsent({ action }, { cookie, ...headers })

      expect([answer.status, answer.headers.get('location')]).toEqual([403, null])
    }
    const sameOrigin = { cookie, origin: settings.BASE_URL ?? '' }
    expect((await app.submitConsent({ action: 'allow' }, sameOrigin)).status).toBe(303)
  },
)

describe('the consent page', () => {
  test.each([
    ['https://app.example/callback', 'the website <bdi>app.example</bdi>'],
    ['https://app.example:8443/callback', 'the website <bdi>app.example:8443</bdi>'],
    ['https://xn--pple-43d.example/callback', 'the website <bdi>xn--pple-43d.example</bdi>'],
    ['https://app.example/bank.example/', 'the website <bdi>app.example</bdi>'],
    ['http://127.0.0.1:9/callback', 'a program on this computer, at <bdi>127.0.0.1:9</bdi>'],
    ['com.example.app:/callback', 'an app on this device that opens <bdi>com.example.app:</bdi> links'],
  ])('names the destination of %s', async (uri, destination) => {
    expect(await consentPage(uri)).toContain(`<dt>You will be sent to</dt>\n<dd>${destination}</dd>`)
  })

  test('says that the app chose its name, unless the name comes from OAUTH_CLIENTS', async () => {
    const trusted = await openPage(
      configured.authorizationUrl({ redirect_uri: 'https://cli.example/callback' }),
      await signIn(),
    )

    expect(await consentPage('https://app.example/')).toContain('The app chose its name itself')
    expect(trusted.html).toContain('<bdi>cli.example</bdi>')
    expect(trusted.html).not.toContain('The app chose its name itself')
  })

  test('shows a name in any script, in Unicode normalization form C', async () => {
    expect(await consentPage(`https://app.example/`, { client_name: '  Gro\u0308ße   名 نرم ' })).toContain(
      '<bdi>Größe 名 نرم</bdi>',
    )
  })

  test.each([
    ['\u202Eknab\u202C\u200B\n', 'knab'],
    ['\u200B', 'An app'],
    [' ', 'An app'],
  ])('removes unsafe characters of a name that was stored before the rules: %j', async (name, shown) => {
    const id = crypto.randomUUID()
    await insertClient(service.services.db, { id, name, redirectUris: ['https://app.example/'] })

    const { html } = await openPage(
      appWithId(service, id).authorizationUrl({ redirect_uri: 'https://app.example/' }),
      await signIn(),
    )

    expect(html).toContain(`<bdi>${shown}</bdi>`)
  })

  test.each([
    'https://bank.example@evil.example/',
    'https://:pw@evil.example/',
    'https://app.example/\u202E',
  ])('is not shown for an unsafe redirect URI that was stored before the rules: %j', async (redirect_uri) => {
    const id = crypto.randomUUID()
    await insertClient(service.services.db, { id, name: 'An app', redirectUris: [redirect_uri] })

    const page = await openPage(appWithId(service, id).authorizationUrl({ redirect_uri }), await signIn())

    expect(page).toMatchObject({ status: 400, location: null })
  })
})
