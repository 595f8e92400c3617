import type { BrowserContext } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { openApp, openContext, useBrowser } from '../fixtures/browser.ts'
import { startService } from '../fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ DATABASE_URL: 'memory:', ADMIN_EMAILS: ROOT })
useBrowser()

/** Opens the page in a context in which the files that match `parts` cannot be loaded. */
async function openWithout(context: BrowserContext, parts: RegExp, path = '/') {
  let loads = 0
  await context.route(parts, (route) => route.fulfill({ status: 404 }))
  const page = await context.newPage()
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads++
  })
  await page.goto(service.origin + path)
  return { page, loads: () => loads }
}

describe('a part of the page that cannot be loaded', () => {
  test('is replaced by the English texts, if it contains the texts of the language', async () => {
    const context = await openContext({ locale: 'de' })

    const { page, loads } = await openWithout(context, /assets\/de-.*\.js/)

    await page.getByRole('link', { name: 'Reservation' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    expect(loads()).toBe(2)
  })

  test('does not remove the current language', async () => {
    const { page } = await openWithout(await openContext(), /assets\/de-.*\.js/)
    await page.evaluate("sessionStorage.setItem('reloadedAt', String(Date.now()))")

    // The page can send the request before `selectOption` returns.
    const request = page.waitForRequest(/assets\/de-/)
    await page.locator('[popovertarget=settings]').click()
    await page.locator('#settings select').first().selectOption('de')
    await request

    await page.getByRole('link', { name: 'Reservation' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
  })

  test('is replaced by a message, if no language can be loaded', async () => {
    const { page, loads } = await openWithout(await openContext(), /assets\/(en|de)-.*\.js/)

    await page.getByText('The page could not be loaded completely.').waitFor()
    expect(loads()).toBe(2)
    await page.context().unrouteAll()
    await page.getByRole('button', { name: 'Reload page' }).click()
    await page.getByRole('link', { name: 'Reservation' }).waitFor()
  })

  test('is replaced by a message beside the navigation, if it is a view', async () => {
    const context = await openContext()
    const cookie = await service.signIn(ROOT)
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, url: service.origin }])

    const { page, loads } = await openWithout(context, /assets\/people-.*\.js/, '/people')

    await page.getByRole('main').getByRole('button', { name: 'Reload page' }).waitFor()
    expect(loads()).toBe(2)
    await page.getByRole('link', { name: 'Tasks' }).click()
    await page.getByRole('textbox', { name: 'New task' }).waitFor()
  })
})

test('the message about the limit of the counter disappears after a later success', async () => {
  const { page, client, expectStatus } = await openApp(service)
  expectStatus(409)
  await client.counter.set({ inputValue: Number.MAX_SAFE_INTEGER })
  await page.getByRole('status', { name: 'Counter' }).getByText(String(Number.MAX_SAFE_INTEGER)).waitFor()
  await page.getByRole('button', { name: 'Increment' }).click()
  await page.getByText('The counter is at its limit.').waitFor()

  await page.getByRole('button', { name: 'Decrement' }).click()

  await page.getByText('The counter is at its limit.').waitFor({ state: 'detached' })
})
