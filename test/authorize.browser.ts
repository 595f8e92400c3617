import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { createRestClient } from '../contract/client.ts'
import { settingsWithAddress, newEmail, startService } from './service.ts'
import { bearer, registerApp, type Tokens } from './oauth-app.ts'
import { createFetch, signInOverHttp } from './http.ts'

const service = await startService(await settingsWithAddress())
const settings = await settingsWithAddress()
const lan = await startService({ ...settings, BASE_URL: `http://tallystick.test:${settings.PORT ?? ''}` })
const call = createFetch(service)
let browser: Browser
let context: BrowserContext
let page: Page
let problems: string[]
let landings: URL[]
let loopback: { server: Server; port: number }

const listen = async (host: string) => {
  const server = createServer(({ url = '/', headers: { host: own = '' } }, response) => {
    if (url.startsWith('/callback')) landings.push(new URL(url, `http://${own}`))
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Landed</h1>')
  })
  server.listen(0, host)
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

beforeAll(async () => {
  loopback = await listen('127.0.0.1')
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--host-resolver-rules=MAP tallystick.test 127.0.0.1',
    ],
  })
})

afterAll(async () => {
  await browser.close()
  loopback.server.close()
})

beforeEach(async () => {
  problems = []
  landings = []
  context = await browser.newContext({ javaScriptEnabled: false })
  page = await newPage()
})

afterEach(() => context.close())

async function newPage() {
  const made = await context.newPage()
  made.on('console', (message) => {
    if (!message.location().url.includes('favicon')) problems.push(message.text())
  })
  made.on('requestfailed', (request) => {
    problems.push(`${request.url()} ${request.failure()?.errorText ?? ''}`)
  })
  return made
}

const callback = () => `http://127.0.0.1:${loopback.port}/callback`
const codeFor = (email: string) =>
  service.letters.findLast(({ to }) => to === email)?.subject.slice(0, 6) ?? ''

async function ask(parameters = {}, registration = {}) {
  const app = await registerApp(service, { redirect_uris: ['http://127.0.0.1/callback'], ...registration })
  await page.goto(app.authorizationUrl({ redirect_uri: callback(), state: 'a state', ...parameters }))
  return app
}

/** Signs in by the pages, and ends where consent is asked. */
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

/** Somebody who is signed in already. */
async function arriveSignedIn() {
  const [name = '', value = ''] = (await signInOverHttp(service, newEmail())).cookie.split('=')
  await context.addCookies([{ name, value, url: service.origin }])
}

const isFocused = (role: 'button' | 'textbox', name: string) =>
  page.getByRole(role, { name }).and(page.locator(':focus')).count()

/** What holds of every page. */
async function expectSound() {
  expect(await page.locator('h1').count()).toBe(1)
  expect(await page.locator('html').getAttribute('lang')).toBe('en')
  expect(await page.title()).toMatch(/ · Tallystick$/)
  expect(await page.locator('main').count()).toBe(1)
  for (const input of await page.locator('input:not([type=hidden])').all())
    expect(await page.locator(`label[for="${(await input.getAttribute('id')) ?? ''}"]`).count()).toBe(1)
  expect(await page.locator('script').count()).toBe(0)
  // Styled: the policy lets the style in.
  expect((await page.locator('body').boundingBox())?.width).toBeLessThan(600)
}

describe('an app in a browser without scripts', () => {
  test('is let in by somebody who signs in, calls, is seen and is put out', async () => {
    const app = await ask({}, { client_name: 'A notebook' })
    await expectSound()
    const email = newEmail()
    await page.getByLabel('Your e-mail address').fill(email)
    await page.getByRole('button', { name: 'Send me a code' }).click()
    await expectSound()
    expect(await page.getByText(`We sent a code to ${email}.`).count()).toBe(1)
    await page.getByLabel('Six digits').fill(codeFor(email))
    await page.getByRole('button', { name: 'Sign in' }).click()

    await page.getByRole('heading', { name: 'Authorize A notebook?' }).waitFor()
    await expectSound()
    const text = await page.locator('main').innerText()
    for (const told of [email, callback(), 'see your tasks', 'add, change, share and delete'])
      expect(text).toContain(told)
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

  test('is told no', async () => {
    await ask()
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

  test('is let in by the keyboard alone', async () => {
    await ask()
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
  ])('is answered at %s too', async (name, host) => {
    await arriveSignedIn()
    const { server, port } = await listen(host)
    const redirect_uri = `http://${name}:${port}/callback`
    await ask({ redirect_uri }, { redirect_uris: [redirect_uri] })
    await page.getByRole('button', { name: 'Allow' }).click()
    await page
      .getByRole('heading', { name: 'Landed' })
      .waitFor({ timeout: 3000 })
      .catch(() => undefined)
    server.close()

    expect(problems).toEqual([])
    expect(landings.map(({ host }) => host)).toEqual([`${name}:${port}`])
  })

  test('of a scheme of its own is led there', async () => {
    await arriveSignedIn()
    const redirect_uri = 'com.example.app:/callback'
    await ask({ redirect_uri }, { redirect_uris: [redirect_uri] })
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForTimeout(500)

    // Nothing here takes it; but the policy let it pass.
    expect(problems.filter((problem) => /policy/i.test(problem))).toEqual([])
  })

  test('is let in over plain http too, where a browser says less of itself', async () => {
    const { letters, services } = lan
    const app = await registerApp(lan, { redirect_uris: ['http://127.0.0.1/callback'] })
    const email = newEmail()
    await page.goto(
      app.authorizationUrl({ redirect_uri: callback() }).replace(lan.origin, services.settings.baseUrl),
    )
    await page.getByLabel('Your e-mail address').fill(email)
    await page.getByRole('button', { name: 'Send me a code' }).click()
    await page.getByLabel('Six digits').fill(letters.at(-1)?.subject.slice(0, 6) ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Allow' }).click()

    await page.getByRole('heading', { name: 'Landed' }).waitFor({ timeout: 5000 })
    expect(landings).toHaveLength(1)
  })

  test('is named as text, whatever its name', async () => {
    await arriveSignedIn()
    const name = '<img src=x onerror=alert(1)><h1>Safe</h1>&amp;"\''
    await ask({}, { client_name: name })

    expect(await page.locator('h1').innerText()).toBe(`Authorize ${name}?`)
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.title()).toBe(`Authorize ${name}? · Tallystick`)
    await expectSound()
    expect(problems).toEqual([])
  })

  test('that is unknown is a page, which leads nowhere', async () => {
    await ask({ client_id: 'unknown' })

    expect(await page.getByRole('alert').innerText()).toContain('not known')
    expect(await page.locator('form, a').count()).toBe(0)
    await expectSound()
  })
})

describe('signing in', () => {
  test('says what is wrong with a code, and lets one try again', async () => {
    await ask()
    const email = newEmail()
    await page.getByLabel('Your e-mail address').fill(email)
    await page.getByRole('button', { name: 'Send me a code' }).click()
    const wrong = codeFor(email) === '000000' ? '000001' : '000000'
    await page.getByLabel('Six digits').fill(wrong)
    await page.getByRole('button', { name: 'Sign in' }).click()

    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').innerText()).toMatch(/\w/)
    await expectSound()
    expect(await cookie()).toBe('')
    await page.getByLabel('Six digits').fill(codeFor(email))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    expect(problems).toEqual([])
  })

  test('takes an address written with spaces around it', async () => {
    await ask()
    const email = newEmail()
    await page.getByLabel('Your e-mail address').fill(`  ${email} `)
    await page.getByRole('button', { name: 'Send me a code' }).click()

    await page.getByLabel('Six digits').waitFor()
    expect(codeFor(email)).toMatch(/^\d{6}$/)
  })

  test('can be begun again, after too many wrong codes', async () => {
    await ask()
    const email = newEmail()
    await page.getByLabel('Your e-mail address').fill(email)
    await page.getByRole('button', { name: 'Send me a code' }).click()
    const wrong = codeFor(email) === '000000' ? '000001' : '000000'
    for (let tries = 0; tries < 4; tries++) {
      await page.getByLabel('Six digits').fill(wrong)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
    }

    // Without going back or typing an address: by what the page offers.
    await page
      .getByRole('button', { name: /another|again/i })
      .or(page.getByRole('link'))
      .first()
      .click({ timeout: 3000 })
    const again = page.getByLabel('Your e-mail address').or(page.getByLabel('Six digits'))
    expect(await again.count()).toBe(1)
  })

  test('keeps what was asked when the page is loaded again', async () => {
    await ask()
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

  /** A page that is wider than the screen is laid out wider, and scrolls. */
  async function expectFits() {
    const session = await context.newCDPSession(page)
    const { cssContentSize, cssLayoutViewport } = await session.send('Page.getLayoutMetrics')
    expect(cssContentSize.width).toBeLessThanOrEqual(320)
    expect(cssLayoutViewport.clientWidth).toBe(320)
    for (const button of await page.getByRole('button').all())
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(40)
  }

  test('nothing is wider than the screen', async () => {
    await ask()
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

  test('nor are a long name and a long address', async () => {
    await ask({}, { client_name: name })
    await signIn(email())

    await expectFits()
  })
})
