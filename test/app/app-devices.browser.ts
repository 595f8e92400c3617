import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { findViolations, openApp, overflows, useBrowser } from '../fixtures/browser.ts'
import { createFetch, signInOverHttp } from '../../engine/test/fixtures/http.ts'
import { rpc } from '../../engine/test/fixtures/mcp-agent.ts'
import { bearer, registerApp } from '../../engine/test/fixtures/oauth-app.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({
  ...(await settingsWithAddress()),
  ADMIN_EMAILS: ROOT,
})
const call = createFetch(service)
useBrowser()

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0'
const HOSTILE = `<img src=x onerror=alert(1)> ${'😀'.repeat(20)} ${'x'.repeat(300)}`

const openDevices = (options: Parameters<typeof openApp>[1] = {}) =>
  openApp(service, { path: '/devices', ...options })

const itemsOf = (page: Page, name: 'Devices' | 'Apps' | 'Access tokens') =>
  page.getByRole('list', { name, exact: true }).getByRole('listitem')

/** Gives an app access to the account. Returns the tokens of the app. */
async function grant(email: string, client_name: string, scope = 'read write') {
  const app = await registerApp(service, { client_name })
  return app.obtainTokens(await service.signIn(email), { scope })
}

const statusOf = async (tokens: Parameters<typeof bearer>[0]) =>
  (await call('GET', '/api/tasks', undefined, bearer(tokens))).status

describe('the devices', () => {
  test('are listed with browser, system, address and activity, and without the apps', async () => {
    const email = newEmail()
    await signInOverHttp(service, email, { 'user-agent': FIREFOX })
    await grant(email, 'An app')
    const { page } = await openDevices({ email })

    const firefox = itemsOf(page, 'Devices').filter({ hasText: 'Firefox · Windows' })
    await firefox.getByText('Address 127.0.0.1 · Active this minute').waitFor()
    // This page, the browser with Firefox, and the session that gave access to the app.
    expect(await itemsOf(page, 'Devices').count()).toBe(3)
    expect(await itemsOf(page, 'Devices').filter({ hasText: 'An app' }).count()).toBe(0)
    const current = itemsOf(page, 'Devices').filter({ hasText: 'This device' })
    expect(await current.count()).toBe(1)
    expect(await current.getByRole('button').count()).toBe(0)
  })

  test('have dates as the region of the browser writes them', async () => {
    const { page } = await openDevices({ locale: 'en-GB' })
    const written = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' }).format()
    await itemsOf(page, 'Devices').filter({ hasText: 'This device' }).getByText(written).waitFor()
  })

  test('appear when they sign in, and are signed out immediately when they are revoked', async () => {
    const { page, email } = await openDevices()
    await itemsOf(page, 'Devices').getByText('This device').waitFor()
    expect(await itemsOf(page, 'Devices').count()).toBe(1)

    const other = await openDevices({ email, path: '/tasks' })
    other.expectStatus(401)
    const revoke = itemsOf(page, 'Devices').getByRole('button', { name: 'Revoke' })
    await revoke.focus()
    await page.keyboard.press('Enter')

    await other.page.getByText('Your session has ended').waitFor()
    await other.page.getByRole('button', { name: 'Send code' }).waitFor()
    await page.getByText('The device is signed out.').waitFor()
    expect(await itemsOf(page, 'Devices').count()).toBe(1)
    expect(await page.locator(':focus').textContent()).toBe('Devices')
  })

  test('are removed from the list when they sign out', async () => {
    const { page, email } = await openDevices()
    const { cookie } = await signInOverHttp(service, email, { 'user-agent': FIREFOX })
    await itemsOf(page, 'Devices').getByText('Firefox').waitFor()

    await call('POST', '/api/auth/sign-out', {}, { cookie })

    await itemsOf(page, 'Devices').getByText('Firefox').waitFor({ state: 'detached' })
  })

  test('can be revoked together, after a confirmation, while the apps keep their access', async () => {
    const email = newEmail()
    await signInOverHttp(service, email, { 'user-agent': FIREFOX })
    const tokens = await grant(email, 'An app')
    const { page } = await openDevices({ email })
    const open = page.getByRole('button', { name: 'Revoke all other devices' })
    await open.click()
    const dialog = page.getByRole('dialog', { name: 'Revoke all other devices?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await itemsOf(page, 'Devices').count()).toBe(3)

    await open.click()
    await dialog.getByRole('button', { name: 'Revoke all other devices' }).click()

    await page.getByText('2 devices are signed out.').waitFor()
    expect(await itemsOf(page, 'Devices').count()).toBe(1)
    expect(await open.count()).toBe(0)
    expect(await itemsOf(page, 'Apps').count()).toBe(1)
    expect(await statusOf(tokens)).toBe(200)
  })

  test('that were revoked elsewhere disappear without an error', async () => {
    const { page, email, expectStatus } = await openDevices()
    expectStatus(400)
    await signInOverHttp(service, email, { 'user-agent': FIREFOX })
    const revoke = itemsOf(page, 'Devices').getByRole('button', { name: 'Revoke' })
    await page.route('**/rpc/sessions/revoke', (route) =>
      route.fulfill({
        status: 400,
        json: { json: { defined: true, code: 'SESSION_NOT_FOUND', status: 400, message: 'Not found' } },
      }),
    )

    await revoke.click()

    await page.getByText('The device is signed out.').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})

describe('the apps', () => {
  test('are listed with their access, and lose the access when they are revoked', async () => {
    const { page, email } = await openDevices()
    await page.getByText('No app has access to your data.').waitFor()
    const [reader, writer] = [await grant(email, 'Reader', 'read'), await grant(email, 'Writer')]

    const ofReader = itemsOf(page, 'Apps').filter({ hasText: 'Reader' })
    const ofWriter = itemsOf(page, 'Apps').filter({ hasText: 'Writer' })
    await ofReader.getByText('Sees your tasks, notes and account').waitFor()
    await ofWriter.getByText('Adds, changes, shares and deletes').waitFor()
    await ofWriter.getByText('127.0.0.1:9').waitFor()
    expect(await ofReader.getByText('Adds, changes').count()).toBe(0)
    expect([await statusOf(reader), await statusOf(writer)]).toEqual([200, 200])

    await ofReader.getByRole('button', { name: 'Revoke' }).click()

    await page.getByText('The app has no more access.').waitFor()
    expect(await itemsOf(page, 'Apps').allTextContents()).toEqual([expect.stringContaining('Writer')])
    expect([await statusOf(reader), await statusOf(writer)]).toEqual([401, 200])
    expect(await page.locator(':focus').textContent()).toBe('Apps')
  })

  test('that were revoked elsewhere disappear', async () => {
    const email = newEmail()
    await grant(email, 'An app')
    const { page, client } = await openDevices({ email })
    await itemsOf(page, 'Apps').getByText('An app').waitFor()
    const { apps } = await client.apps.list()

    await client.apps.revoke({ id: apps[0]?.id ?? '' })

    await page.getByText('No app has access to your data.').waitFor()
  })
})

describe('the access tokens', () => {
  test('are created with a label, shown once, listed, and revoked', async () => {
    const { page, context } = await openDevices()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const create = page.getByRole('button', { name: 'Create token' })
    await create.click()
    expect(await page.locator(':invalid:focus').count()).toBe(1)

    await page.getByRole('textbox', { name: 'Token label' }).fill('  Backup <b>script</b> ')
    await page.getByRole('combobox', { name: 'Access' }).selectOption('Read and write')
    await page.getByRole('combobox', { name: 'Valid for' }).selectOption('365 days')
    await create.click()

    await page.getByText('The token “Backup <b>script</b>” is created.').waitFor()
    await page.getByRole('button', { name: 'Copy token' }).click()
    await page.getByText('Copied.').waitFor()
    const token = await page.evaluate<string>('navigator.clipboard.readText()')
    const status = async () =>
      (await call('GET', '/api/tasks', undefined, { authorization: `Bearer ${token}` })).status
    expect(await status()).toBe(200)
    const item = itemsOf(page, 'Access tokens').filter({ hasText: 'Backup <b>script</b>' })
    await item.getByText('REST and RPC').waitFor()
    await item.getByText('Adds, changes, shares and deletes').waitFor()
    expect(await itemsOf(page, 'Apps').count()).toBe(0)

    await page.reload()
    await item.waitFor()
    expect(await page.getByText('tally_').count()).toBe(0)
    await item.getByRole('button', { name: 'Revoke' }).click()

    await page.getByText('The token has no more access.').waitFor()
    expect(await item.count()).toBe(0)
    expect(await status()).toBe(401)
    expect(await page.locator(':focus').textContent()).toBe('Access tokens')
  })

  test('for agents call the endpoint for agents', async () => {
    const { page } = await openDevices()
    await page.getByRole('textbox', { name: 'Token label' }).fill('Agent')
    await page.getByRole('combobox', { name: 'For', exact: true }).selectOption('AI agents (MCP)')
    await page.getByRole('button', { name: 'Create token' }).click()

    const token = await page.locator('code', { hasText: /^tally_/ }).textContent()

    await itemsOf(page, 'Access tokens').getByText('AI agents (MCP)').waitFor()
    const authorization = `Bearer ${token ?? ''}`
    expect((await call('POST', '/mcp', rpc('tools/list'), { authorization })).status).toBe(200)
    expect((await call('GET', '/api/tasks', undefined, { authorization })).status).toBe(401)
  })

  test('keep the label after a failed creation', async () => {
    const { page } = await openDevices()
    await page.route('**/rpc/tokens/create', (route) => route.abort('aborted'))
    const label = page.getByRole('textbox', { name: 'Token label' })
    await label.fill('Backup')

    await page.getByRole('button', { name: 'Create token' }).click()

    await page.getByRole('alert').waitFor()
    expect(await label.inputValue()).toBe('Backup')
  })
})

test('hostile user agents and names of apps are shown as text', async () => {
  const email = newEmail()
  const name = `<script>alert(1)</script> שלום ${'😀'.repeat(80)}`
  await signInOverHttp(service, email, { 'user-agent': HOSTILE.replaceAll('😀', 'x') })
  await grant(email, name)

  const { page } = await openDevices({ email })

  await itemsOf(page, 'Devices').getByText('<img src=x onerror=alert(1)>').waitFor()
  expect(await itemsOf(page, 'Apps').locator('strong').textContent()).toBe(name)
  expect(await page.locator('main :is(img, script)').count()).toBe(0)
})

test('the instructions for agents contain the address, and can be copied', async () => {
  const { page, context } = await openDevices()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const address = `${service.origin}/mcp`

  await page.getByRole('button', { name: 'Copy address' }).click()
  await page.getByText('Copied.').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(address)

  await page.getByRole('button', { name: 'Copy configuration' }).click()
  await expect
    .poll(async () => page.evaluate('navigator.clipboard.readText()').then((text) => String(text)))
    .toContain('mcpServers')
  expect(JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()'))).toEqual({
    mcpServers: { tallystick: { type: 'http', url: address } },
  })
})

test('a failed revocation is explained, and can be repeated', async () => {
  const { page, email } = await openDevices()
  await signInOverHttp(service, email, { 'user-agent': FIREFOX })
  const firefox = itemsOf(page, 'Devices').filter({ hasText: 'Firefox' })
  await page.route('**/rpc/sessions/revoke', (route) => route.abort('aborted'))
  await firefox.getByRole('button', { name: 'Revoke' }).click()
  await firefox.getByRole('alert').waitFor()

  await page.unroute('**/rpc/sessions/revoke')
  await firefox.getByRole('button', { name: 'Revoke' }).click()

  await firefox.waitFor({ state: 'detached' })
})

test.each(['light', 'dark'] as const)(
  'the devices have no accessibility violations, and fit 320 px: %s',
  async (colorScheme) => {
    const email = newEmail()
    await signInOverHttp(service, email, { 'user-agent': HOSTILE.replaceAll('😀', 'x') })
    await grant(email, 'x'.repeat(120))
    const owner = await service.signIn(email)
    await service.client({ cookie: owner }).tokens.create({ label: 'x'.repeat(120), scopes: ['read'] })
    const { page } = await openDevices({ email, colorScheme, viewport: { width: 320, height: 640 } })
    await itemsOf(page, 'Apps').first().waitFor()
    await itemsOf(page, 'Devices').first().waitFor()
    await page.getByRole('textbox', { name: 'Token label' }).fill('x'.repeat(120))
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByRole('button', { name: 'Copy token' }).waitFor()
    expect(await findViolations(page)).toEqual([])
    expect(await overflows(page)).toBe(false)

    await page.getByRole('button', { name: 'Revoke all other devices' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await findViolations(page)).toEqual([])
  },
)
