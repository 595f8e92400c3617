import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { createRestClient } from '../../contract/client.ts'
import { launchBrowser } from '../fixtures/browser.ts'
import { codeSentTo, createFetch, signInOverHttp, wrongCodeFor } from '../../engine/test/fixtures/http.ts'
import { bearer, registerApp, type Tokens } from '../../engine/test/fixtures/oauth-app.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

const service = await startService(await settingsWithAddress())
const settings = await settingsWithAddress()
/**
 * A service with an insecure origin. Its host name is not a loopback name, because browsers treat http on loopback as
 * secure.
 */
const insecure = await startService({
  ...settings,
  BASE_URL: `http://tallystick.test:${settings.PORT ?? ''}`,
})
const call = createFetch(service)
let browser: Browser
let context: BrowserContext
let page: Page
let problems: string[]
let callbacks: URL[]
let loopback: { server: Server; port: number }

const listen = async (address: string) => {
  const server = createServer(({ url = '/', headers: { host = '' } }, response) => {
    if (url.startsWith('/callback')) callbacks.push(new URL(url, `http://${host}`))
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Landed</h1>')
  })
  server.listen(0, address)
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

beforeAll(async () => {
  loopback = await listen('127.0.0.1')
  browser = await launchBrowser({ args: ['--host-resolver-rules=MAP tallystick.test 127.0.0.1'] })
})

afterAll(async () => {
  await browser.close()
  loopback.server.close()
})

beforeEach(async () => {
  problems = []
  callbacks = []
  context = await browser.newContext({ javaScriptEnabled: false })
  page = await newPage()
})

afterEach(() => context.close())

async function newPage() {
  const opened = await context.newPage()
  opened.on('console', (message) => {
    if (!message.location().url.includes('favicon')) problems.push(message.text())
  })
  opened.on('requestfailed', (request) => {
    problems.push(`${request.url()} ${request.failure()?.errorText ?? ''}`)
  })
  return opened
}

const callback = () => `http://127.0.0.1:${loopback.port}/callback`
const codeFor = (email: string) => codeSentTo(service, email) ?? ''

/** Registers an app and opens its authorization URL. */
async function openAuthorization(parameters = {}, registration = {}) {
  const app = await registerApp(service, { redirect_uris: ['http://127.0.0.1/callback'], ...registration })
  await page.goto(app.authorizationUrl({ redirect_uri: callback(), state: 'a state', ...parameters }))
  return app
}

/** Enters an e-mail address and the code from the e-mail on the sign-in pages. The consent page follows these pages. */
async function signIn(email = newEmail()) {
  await page.getByLabel('Your e-mail address').fill(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await page.getByLabel('Six digits').fill(codeFor(email))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Allow' }).waitFor()
  return email
}

async function cookie() {
  const cookies = await context.cookies(service.origin)
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
}

/** Signs in a new user over HTTP, and adds the session cookie to the browser. */
async function addSession() {
  const [name = '', value = ''] = (await signInOverHttp(service, newEmail())).cookie.split('=')
  await context.addCookies([{ name, value, url: service.origin }])
}

const isFocused = (role: 'button' | 'textbox', name: string) =>
  page.getByRole(role, { name }).and(page.locator(':focus')).count()

/** Checks that a page has one heading, a language, a title, labels, the style, and no script. */
async function expectWellFormed() {
  expect(await page.locator('h1').count()).toBe(1)
  expect(await page.locator('html').getAttribute('lang')).toBe('en')
  expect(await page.title()).toMatch(/ · Tallystick$/)
  expect(await page.locator('main').count()).toBe(1)
  for (const input of await page.locator('input:not([type=hidden])').all())
    expect(await page.locator(`label[for="${(await input.getAttribute('id')) ?? ''}"]`).count()).toBe(1)
  expect(await page.locator('script').count()).toBe(0)
  // The style limits the width. The limit is effective only if the Content-Security-Policy allows the style.
  expect((await page.locator('body').boundingBox())?.width).toBeLessThan(600)
}

describe('an app in a browser without scripts', () => {
  test('is authorized after sign-in, calls the API, is listed and is revoked', async () => {
    const app = await openAuthorization({}, { client_name: 'A notebook' })
    await expectWellFormed()
    const email = newEmail()
    await page.getByLabel('Your e-mail address').fill(email)
    await page.getByRole('button', { name: 'Send me a code' }).click()
    await expectWellFormed()
    expect(await page.getByText(`We sent a code to ${email}.`).count()).toBe(1)
    await page.getByLabel('Six digits').fill(codeFor(email))
    await page.getByRole('button', { name: 'Sign in' }).click()

    await page.getByRole('heading', { name: 'Authorize A notebook?' }).waitFor()
    await expectWellFormed()
    const text = await page.locator('main').innerText()
    for (const detail of [email, callback(), 'see your tasks', 'add, change, share and delete'])
      expect(text).toContain(detail)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByRole('heading', { name: 'Landed' }).waitFor()

    const { searchParams } = new URL(page.url())
    expect(Object.fromEntries(searchParams)).toEqual({
      code: expect.any(String),
      state: 'a state',
      iss: service.origin,
    })
    const { body } = await app.redeem(searchParams.get('code'), { redirect_uri: callback() })
    const tokens = body as Tokens
    const tasks = () => call('GET', '/api/tasks', undefined, bearer(tokens))
    expect(await tasks()).toMatchObject({ status: 200 })

    const own = createRestClient(service.origin, { headers: { cookie: await cookie() } })
    const { sessions } = await own.sessions.list()
    const grant = sessions.find(({ isCurrent }) => !isCurrent)
    expect(grant).toMatchObject({ browser: 'A notebook' })
    await own.sessions.revoke({ revokeSessionToken: grant?.token ?? '' })

    expect(await tasks()).toMatchObject({ status: 401 })
    expect(problems).toEqual([])
  })

  test('gets access_denied after “Deny”', async () => {
    await openAuthorization()
    await signIn()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('heading', { name: 'Landed' }).waitFor()

    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      error: 'access_denied',
      state: 'a state',
      iss: service.origin,
    })
    expect(problems).toEqual([])
  })

  test('is authorized by the keyboard alone', async () => {
    await openAuthorization()
    const email = newEmail()
    expect(await isFocused('textbox', 'Your e-mail address')).toBe(1)
    await page.keyboard.type(email)
    await page.keyboard.press('Tab')
    expect(await isFocused('button', 'Send me a code')).toBe(1)
    await page.keyboard.press('Enter')
    await page.getByLabel('Six digits').waitFor()
    expect(await isFocused('textbox', 'Six digits')).toBe(1)
    await page.keyboard.type(codeFor(email))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    // The first stop of the Tab key is the safe choice.
    await page.keyboard.press('Tab')
    expect(await isFocused('button', 'Deny')).toBe(1)
    await page.keyboard.press('Tab')
    expect(await isFocused('button', 'Allow')).toBe(1)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Landed' }).waitFor()

    expect(new URL(page.url()).searchParams.get('code')).toBeTruthy()
    expect(problems).toEqual([])
  })

  test.each([
    ['localhost', '127.0.0.1'],
    ['[::1]', '::1'],
  ])('is redirected to %s', async (name, host) => {
    await addSession()
    const { server, port } = await listen(host)
    const redirect_uri = `http://${name}:${port}/callback`
    await openAuthorization({ redirect_uri }, { redirect_uris: [redirect_uri] })
    await page.getByRole('button', { name: 'Allow' }).click()
    await page
      .getByRole('heading', { name: 'Landed' })
      .waitFor(PATIENCE)
      .catch(() => undefined)
    server.close()

    expect(problems).toEqual([])
    expect(callbacks.map(({ host }) => host)).toEqual([`${name}:${port}`])
  })

  test('with a private-use scheme is redirected to it', async () => {
    await addSession()
    const redirect_uri = 'com.example.app:/callback'
    await openAuthorization({ redirect_uri }, { redirect_uris: [redirect_uri] })
    const answered = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.getByRole('button', { name: 'Allow' }).click()
    await answered
    // The browser reports a blocked navigation shortly after the response. A slow browser makes the test pass.
    await page.waitForTimeout(500)

    // The navigation always fails, because no program handles the scheme. The test only verifies that the
    // Content-Security-Policy does not block the navigation.
    expect(problems.filter((problem) => /policy/i.test(problem))).toEqual([])
  })

  test('is authorized over http, where the browser sends no Sec-Fetch headers', async () => {
    const { services } = insecure
    const app = await registerApp(insecure, { redirect_uris: ['http://127.0.0.1/callback'] })
    const email = newEmail()
    await page.goto(
      app.authorizationUrl({ redirect_uri: callback() }).replace(insecure.origin, services.settings.baseUrl),
    )
    await page.getByLabel('Your e-mail address').fill(email)
    await page.getByRole('button', { name: 'Send me a code' }).click()
    await page.getByLabel('Six digits').fill(codeSentTo(insecure, email) ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Allow' }).click()

    await page.getByRole('heading', { name: 'Landed' }).waitFor(PATIENCE)
    expect(callbacks).toHaveLength(1)
  })

  test('has its name shown as text', async () => {
    await addSession()
    const name = '<img src=x onerror=alert(1)><h1>Safe</h1>&amp;"\''
    await openAuthorization({}, { client_name: name })

    expect(await page.locator('h1').innerText()).toBe(`Authorize ${name}?`)
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.title()).toBe(`Authorize \u2068${name}\u2069? · Tallystick`)
    await expectWellFormed()
    expect(problems).toEqual([])
  })

  test('that is unknown gets a page without a link or a form', async () => {
    await openAuthorization({ client_id: 'unknown' })

    expect(await page.getByRole('alert').innerText()).toContain('not known')
    expect(await page.locator('form, a').count()).toBe(0)
    await expectWellFormed()
  })
})

describe('the sign-in page', () => {
  test('reports a wrong code and accepts the next code', async () => {
    await openAuthorization()
    const email = newEmail()
    await page.getByLabel('Your e-mail address').fill(email)
    await page.getByRole('button', { name: 'Send me a code' }).click()
    const wrong = wrongCodeFor(codeFor(email))
    await page.getByLabel('Six digits').fill(wrong)
    await page.getByRole('button', { name: 'Sign in' }).click()

    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').innerText()).toMatch(/\w/)
    await expectWellFormed()
    expect(await cookie()).toBe('')
    await page.getByLabel('Six digits').fill(codeFor(email))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    expect(problems).toEqual([])
  })

  test('accepts an address with surrounding spaces', async () => {
    await openAuthorization()
    const email = newEmail()
    await page.getByLabel('Your e-mail address').fill(`  ${email} `)
    await page.getByRole('button', { name: 'Send me a code' }).click()

    await page.getByLabel('Six digits').waitFor()
    expect(codeFor(email)).toMatch(/^\d{6}$/)
  })

  test('can be restarted after too many wrong codes', async () => {
    await openAuthorization()
    const email = newEmail()
    await page.getByLabel('Your e-mail address').fill(email)
    await page.getByRole('button', { name: 'Send me a code' }).click()
    const wrong = wrongCodeFor(codeFor(email))
    for (let tries = 0; tries < 4; tries++) {
      await page.getByLabel('Six digits').fill(wrong)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
    }

    // The page must have a button or link for the restart, so that a user does not need the Back button of the browser.
    await page
      .getByRole('button', { name: /another|again/i })
      .or(page.getByRole('link'))
      .first()
      .click(PATIENCE)
    const again = page.getByLabel('Your e-mail address').or(page.getByLabel('Six digits'))
    expect(await again.count()).toBe(1)
  })

  test('keeps the authorization request when the page is reloaded', async () => {
    await openAuthorization()
    await signIn()
    await page.reload()

    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByRole('heading', { name: 'Landed' }).waitFor()
    expect(new URL(page.url()).searchParams.get('state')).toBe('a state')
  })
})

describe('on a phone', () => {
  const name = 'W'.repeat(120)
  const email = () => `${'w'.repeat(50)}${crypto.randomUUID()}@example.com`

  beforeEach(async () => {
    await context.close()
    context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 320, height: 640 },
      isMobile: true,
      hasTouch: true,
    })
    page = await newPage()
  })

  /** Checks that the layout is not wider than the screen. A wider element would make the page scroll sideways. */
  async function expectFits() {
    const session = await context.newCDPSession(page)
    const { cssContentSize, cssLayoutViewport } = await session.send('Page.getLayoutMetrics')
    expect(cssContentSize.width).toBeLessThanOrEqual(320)
    expect(cssLayoutViewport.clientWidth).toBe(320)
    for (const button of await page.getByRole('button').all())
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(40)
  }

  test('no page is wider than the screen', async () => {
    await openAuthorization()
    await expectFits()
    const address = newEmail()
    await page.getByLabel('Your e-mail address').fill(address)
    await page.getByRole('button', { name: 'Send me a code' }).tap()
    await page.getByLabel('Six digits').waitFor()
    await expectFits()
    await page.getByLabel('Six digits').fill(codeFor(address))
    await page.getByRole('button', { name: 'Sign in' }).tap()
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    await expectFits()
  })

  test('no page is wider than the screen with a long name and a long address', async () => {
    await openAuthorization({}, { client_name: name })
    await signIn(email())

    await expectFits()
  })
})
