import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { findViolations, openContext, useBrowser } from '../fixtures/browser.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
useBrowser()

/** Opens a context with the session of a person. An empty address opens the context signed out. */
async function openAs(email: string, width = 1280) {
  const context = await openContext({ viewport: { width, height: 844 } })
  const [name = '', value = ''] = email ? (await service.signIn(email)).split('=') : []
  if (name) await context.addCookies([{ name, value, url: service.origin }])
  return context
}

/** Requests that match `pattern` receive no answer. Returns the page at `path`. */
async function openWithout(pattern: RegExp, context: BrowserContext, path = '/') {
  await context.route(pattern, () => new Promise<void>(() => undefined))
  const page = await context.newPage()
  await page.goto(service.origin + path, { waitUntil: 'commit' })
  return page
}

describe('a page without its data', () => {
  test.each([
    ['its script', /assets\/index-/, undefined],
    ['its texts', /assets\/en-/, 'Still trying…'],
    ['the session', /get-session/, 'Still trying…'],
    ['a list', /rpc\/tasks\/list/, 'Still trying…'],
  ])('shows the name of the application without %s', async (_, pattern, text) => {
    const page = await openWithout(pattern, await openAs(newEmail()), '/tasks')

    await page.getByRole('banner').getByRole('link', { name: 'Tallystick' }).waitFor()
    if (text) await page.getByRole('status').getByText(text).first().waitFor()
    expect(await page.getByText('requires JavaScript').count()).toBe(0)
  })

  test.each(['light', 'dark'] as const)('has no accessibility violations: %s', async (colorScheme) => {
    const context = await openContext({ colorScheme })
    const page = await openWithout(/get-session/, context)

    await page.getByText('Loading…').waitFor()
    expect(await page.locator('[aria-busy=true]').count()).toBe(1)
    expect(await findViolations(page)).toEqual([])
    await page.getByText('Still trying…').waitFor()
    expect(await findViolations(page)).toEqual([])
  })
})

/** Delay of the answers of the API, in milliseconds. */
const DELAY = 300

/** Half of the sum of layout shifts that is good according to the Core Web Vitals. */
const MAX_SHIFT = 0.05

interface Shift {
  value: number
  /** The moved elements, for the message of a failure. */
  moved: string[]
}

/** Records the layout shifts of a page in `window.shifts`, except the shifts after an input. */
const recordShifts = (page: Page) =>
  page.addInitScript(`
    window.shifts = []
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries())
        if (!hadRecentInput) shifts.push({ value, moved: sources.map(({ node }) => String(node?.textContent).slice(0, 40)) })
    }).observe({ type: 'layout-shift', buffered: true })`)

/** Adds tasks, some of them with a description. */
async function addTasks(email: string, count: number) {
  if (!count) return
  const client = service.client({ cookie: await service.signIn(email) })
  for (let each = 0; each < count; each++)
    await client.tasks.create({ taskTitle: `Task ${each}`, taskDesc: 'Milk and bread. '.repeat(each % 20) })
}

describe('the layout while the page is loading', { timeout: 120_000 }, () => {
  test.each([
    { path: '/' },
    { path: '/', email: newEmail(), count: 3 },
    { path: '/tasks', email: newEmail() },
    { path: '/tasks', email: newEmail(), count: 3 },
    { path: '/tasks', email: newEmail(), count: 500 },
    { path: '/notes', email: newEmail() },
    { path: '/devices', email: newEmail() },
  ])('does not move: $path with $count tasks', async ({ path, email = '', count = 0 }) => {
    await addTasks(email, count)
    for (const width of [390, 1280]) {
      const context = await openAs(email, width)
      await context.route(/\/(api|rpc)\//, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, DELAY))
        await route.continue()
      })
      const page = await context.newPage()
      await recordShifts(page)
      await page.goto(service.origin + path)
      await page.locator('footer').waitFor({ state: 'attached' })
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      if (path === '/') await page.getByRole('status', { name: 'Counter' }).getByText(/\d/).waitFor()
      await page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
      )
      const shifts = await page.evaluate<Shift[]>('shifts')

      const sum = shifts.reduce((total, { value }) => total + value, 0)
      expect(sum, `${width} px: ${JSON.stringify(shifts)}`).toBeLessThan(MAX_SHIFT)
    }
  })
})
