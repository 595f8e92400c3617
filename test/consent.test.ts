import { describe, expect, test } from 'vitest'

import { insertClient } from '../db/oauth.ts'
import { settingsWithAddress, newEmail, startService } from './service.ts'
import { appWithId, registerApp } from './oauth-app.ts'
import { createFetch, signInOverHttp } from './http.ts'

const TRUSTED = 'https://trusted.example'
const settings = await settingsWithAddress()
const service = await startService({
  ...settings,
  TRUSTED_ORIGINS: TRUSTED,
  OAUTH_CLIENTS: 'cli=https://cli.example/callback',
})
const call = createFetch(service)
const app = await registerApp(service)
const configured = appWithId(service, 'cli')
const person = async () => (await signInOverHttp(service, newEmail())).cookie
const open = async (address: string, cookie = '') => {
  const answer = await fetch(address, { redirect: 'manual', headers: { cookie } })
  const { status, headers } = answer
  return { status, location: headers.get('location'), html: await answer.text() }
}
const page = async (redirect_uri: string, { client_name = 'An app' } = {}) => {
  const own = await registerApp(service, { client_name, redirect_uris: [redirect_uri] })
  return (await open(own.authorizationUrl({ redirect_uri }), await person())).html
}

describe('a faulty request', () => {
  test('of an app that settings name is redirected', async () => {
    const { status, location } = await open(
      configured.authorizationUrl({
        redirect_uri: 'https://cli.example/callback',
        scope: 'admin',
        state: 's',
      }),
    )

    expect(status).toBe(303)
    expect(location).toMatch(/^https:\/\/cli\.example\/callback\?error=invalid_scope&.*state=s/)
  })

  test('of an app that registered itself is a page without a link', async () => {
    const { status, location, html } = await open(app.authorizationUrl({ scope: '<admin>' }), await person())

    expect([status, location]).toEqual([400, null])
    expect(html).toContain('invalid_scope')
    expect(html).not.toMatch(/<a |<form|http-equiv/)
  })

  test('is denied by nobody who is not signed in', async () => {
    const denied = await app.submitConsent({ action: 'deny' }, {})
    const faulty = await app.submitConsent({ action: 'deny' }, { cookie: await person() }, { scope: 'admin' })

    expect([denied.status, denied.headers.get('location')]).toEqual([200, null])
    expect(await denied.text()).toContain('Your e-mail address')
    expect([faulty.status, faulty.headers.get('location')]).toEqual([400, null])
  })
})

describe('a repeated parameter', () => {
  test.each(['client_id', 'redirect_uri', 'scope', 'state', 'code_challenge', 'response_type', 'resource'])(
    'of an authorization is refused with a page: %s',
    async (name) => {
      const address = app.authorizationUrl({ state: 's', resource: service.services.settings.baseUrl })
      const value = new URL(address).searchParams.get(name) ?? ''
      const again = `${address}&${new URLSearchParams({ [name]: value }).toString()}`

      expect(await open(again, await person())).toMatchObject({ status: 400, location: null })
    },
  )

  test.each(['/token', '/revoke'])('of a form is invalid_request: %s', async (path) => {
    const { refresh_token } = await app.obtainTokens(await person())
    const form = `grant_type=refresh_token&client_id=${app.id}&refresh_token=x&token=x&refresh_token=${refresh_token}`
    const type = { 'content-type': 'application/x-www-form-urlencoded' }

    expect(await call('POST', path, form, type)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
    expect(await app.refresh(refresh_token)).toMatchObject({ status: 200 })
  })

  test('of the form on the page lets no app in', async () => {
    const { status, headers } = await fetch(app.authorizationUrl(), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: await person(), 'content-type': 'application/x-www-form-urlencoded' },
      body: 'action=deny&action=allow',
    })

    expect([status, headers.get('location')]).toEqual([400, null])
  })
})

test.each([{ action: 1 }, { action: null }, { email: [], otp: {} }, { action: 'send', email: {} }])(
  'a form with odd values is no failure: %j',
  async (body) => {
    const answer = await fetch(app.authorizationUrl(), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: await person(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

    expect([answer.status, answer.headers.get('location')]).toEqual([200, null])
  },
)

test.each(['allow', 'deny', 'send'])(
  'a page of a trusted origin does not press a button: %s',
  async (action) => {
    const cookie = await person()
    for (const headers of [{ origin: TRUSTED }, { origin: TRUSTED, 'sec-fetch-site': 'same-site' }] as Record<
      string,
      string
    >[]) {
      const answer = await app.submitConsent({ action }, { cookie, ...headers })

      expect([answer.status, answer.headers.get('location')]).toEqual([403, null])
    }
    expect(
      (await app.submitConsent({ action: 'allow' }, { cookie, origin: settings.BASE_URL ?? '' })).status,
    ).toBe(303)
  },
)

describe('the page that asks for consent', () => {
  test.each([
    ['https://app.example/callback', 'the website <strong>app.example</strong>'],
    ['https://app.example:8443/callback', 'the website <strong>app.example:8443</strong>'],
    ['https://xn--pple-43d.example/callback', 'the website <strong>xn--pple-43d.example</strong>'],
    ['https://app.example/bank.example/', 'the website <strong>app.example</strong>'],
    ['http://127.0.0.1:9/callback', 'a program on this computer, at <strong>127.0.0.1:9</strong>'],
    ['com.example.app:/callback', 'an app on this device that opens <strong>com.example.app:</strong> links'],
  ])('says where %s leads', async (uri, told) => {
    expect(await page(uri)).toContain(`<dt>You will be sent to</dt>\n<dd>${told}</dd>`)
  })

  test('says that the app chose its name, unless settings did', async () => {
    const own = await open(
      configured.authorizationUrl({ redirect_uri: 'https://cli.example/callback' }),
      await person(),
    )

    expect(await page('https://app.example/')).toContain('The app chose its name itself')
    expect(own.html).toContain('<strong>cli.example</strong>')
    expect(own.html).not.toContain('The app chose its name itself')
  })

  test('shows a name in other scripts as it is, in one spelling', async () => {
    expect(await page(`https://app.example/`, { client_name: '  Gro\u0308ße   名 نرم ' })).toContain(
      '<bdi>Größe 名 نرم</bdi>',
    )
  })

  test.each([
    ['\u202Eknab\u202C\u200B\n', '\uFFFDknab\uFFFD\uFFFD\uFFFD'],
    ['\u200B', '\uFFFD'],
    [' ', 'An app'],
  ])('shows a name that was stored before the rules safely: %j', async (name, shown) => {
    const id = crypto.randomUUID()
    await insertClient(service.services.db, { id, name, redirectUris: ['https://app.example/'] })
    const { html } = await open(
      appWithId(service, id).authorizationUrl({ redirect_uri: 'https://app.example/' }),
      await person(),
    )

    expect(html).toContain(`<bdi>${shown}</bdi>`)
  })

  test.each([
    'https://bank.example@evil.example/',
    'https://:pw@evil.example/',
    'https://app.example/\u202E',
  ])('is not shown for a redirect URI that was stored before the rules: %j', async (redirect_uri) => {
    const id = crypto.randomUUID()
    await insertClient(service.services.db, { id, name: 'An app', redirectUris: [redirect_uri] })

    expect(
      await open(appWithId(service, id).authorizationUrl({ redirect_uri }), await person()),
    ).toMatchObject({
      status: 400,
      location: null,
    })
  })
})
