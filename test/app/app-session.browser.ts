import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { CHROMIUM, openApp, openContext, signOut, useBrowser } from '../fixtures/browser.ts'
import { startProxy } from '../../engine/test/fixtures/proxy.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ ADMIN_EMAILS: ROOT })
// Playwright disables the cache, because some of its functions do not support pages from the cache.
useBrowser({ executablePath: CHROMIUM, ignoreDefaultArgs: ['--disable-back-forward-cache'] })

/** Opens the tasks of a person with the task `Secret`. The page counts in `window.restored` how often the cache restored it. */
async function openTasks() {
  const app = await openApp(service, { path: '/tasks' })
  await app.client.tasks.create({ taskTitle: 'Secret' })
  await app.page.getByText('Secret').waitFor()
  await app.page.evaluate(`addEventListener('pageshow', ({ persisted }) => {
    window.restored = persisted
    window.shown = document.body.innerText
  })`)
  return app
}

/** Leaves the page, then returns with the Back button. Returns whether the browser has restored the page from the cache. */
async function leaveAndReturn(page: Page, meanwhile: () => unknown) {
  await page.evaluate(`location.assign('/docs')`)
  await page.getByRole('heading', { name: 'Tallystick' }).first().waitFor()
  await meanwhile()
  await page.evaluate('history.back()')
}

describe('a page from the back/forward cache', () => {
  test('appears again with unsaved text while the session is valid', async () => {
    const { page } = await openTasks()
    await page.getByRole('textbox', { name: 'New task' }).fill('Unsaved')

    await leaveAndReturn(page, () => undefined)

    await page.getByText('Secret').waitFor()
    expect(await page.evaluate('window.restored')).toBe(true)
    expect(await page.evaluate('window.shown')).toBe('')
    expect(await page.getByRole('textbox', { name: 'New task' }).inputValue()).toBe('Unsaved')
  })

  test('shows no data of an ended session', async () => {
    const { page, email, expectStatus } = await openTasks()
    // The restored page may resume its live updates before it is loaded again.
    expectStatus(401)
    const other = service.client({ cookie: await service.signIn(email) })
    await page.evaluate(`addEventListener('pageshow', () => console.log('shown:' + window.shown))`)
    // The browser also writes each refused request to the console.
    const shown = page.waitForEvent('console', (message) => message.text().startsWith('shown:'))

    await leaveAndReturn(page, () => other.sessions.revokeOthers())

    expect((await shown).text()).toBe('shown:')
    await page.getByRole('textbox', { name: 'E-mail' }).waitFor()
    expect(await page.getByText('Secret').count()).toBe(0)
  })

  test('shows nothing after the person has signed out on the page', async () => {
    const app = await openTasks()
    const { page } = app
    await page.evaluate(`addEventListener('pageshow', () => console.log('shown:' + window.shown))`)
    const shown = page.waitForEvent('console', (message) => message.text().startsWith('shown:'))
    await signOut(app)
    await page.getByRole('link', { name: 'Reservation' }).waitFor()
    await page.waitForURL(service.origin + '/')

    await page.evaluate('history.back()')

    expect((await shown).text()).toBe('shown:')
    await page.getByRole('textbox', { name: 'E-mail' }).waitFor()
    expect(await page.getByText('Secret').count()).toBe(0)
  })

  test('shows nothing while the service cannot be reached', async ({ onTestFinished }) => {
    const proxy = await startProxy(service.origin)
    onTestFinished(proxy.close)
    const origin = proxy.url.replace(/\/$/, '')
    const [name = '', value = ''] = (await service.signIn(newEmail())).split('=')
    const context = await openContext()
    await context.addCookies([{ name, value, url: origin }])
    const page = await context.newPage()
    await page.goto(`${origin}/tasks`)
    await page.getByRole('textbox', { name: 'New task' }).waitFor()
    const failed = page.waitForEvent('requestfailed', (request) => request.isNavigationRequest())

    await leaveAndReturn(page, () => {
      proxy.refuse()
      for (const client of proxy.clients) client.destroy()
    })

    await failed
    expect(await page.getByRole('textbox', { name: 'New task' }).count()).toBe(0)
  })
})

describe('other tabs of the browser', () => {
  test('show the sign-in immediately after a sign-out, also without live updates', async () => {
    const app = await openTasks()
    app.expectStatus(503)
    const other = await app.context.newPage()
    await other.route('**/rpc/live/watch', (route) => route.fulfill({ status: 503, json: {} }))
    await other.goto(`${service.origin}/tasks`)
    await other.getByText('Secret').waitFor()

    await signOut(app)

    await other.getByText('Your session has ended.').waitFor()
    await other.getByRole('textbox', { name: 'E-mail' }).waitFor()
    expect(await other.getByText('Secret').count()).toBe(0)
  })

  test.each([
    ['people', '/people', '/api/auth/admin/list-users'],
    ['audit trail', '/people?tab=trail', '/rpc/audit/list'],
  ])('forget the %s', async (_, path, request) => {
    const { page, context } = await openApp(service, { path, email: ROOT })
    await page.getByRole('main').getByText(ROOT).first().waitFor()
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    const cookie = await service.signIn(ROOT)
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, url: service.origin }])

    const other = await context.newPage()
    await other.goto(service.origin)
    await other.evaluate(`new BroadcastChannel('session').postMessage('changed')`)

    await expect.poll(() => requested).toEqual(expect.arrayContaining(['/api/auth/get-session', request]))
    await page.getByRole('main').getByText(ROOT).first().waitFor()
  })
})
