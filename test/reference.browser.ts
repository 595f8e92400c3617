import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { signInOverHttp } from './http.ts'
import { startService } from './service.ts'

const service = await startService()
let browser: Browser
let page: Page
let problems: string[]

beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  })
})

afterAll(() => browser.close())

beforeEach(async () => {
  page = await browser.newPage()
  problems = []
  page.on('console', (message) => {
    if (/Content Security Policy|Failed to load/.test(message.text())) problems.push(message.text())
  })
  page.on('request', (request) => {
    if (!/^(data:|blob:)/.test(request.url()) && !request.url().startsWith(service.origin))
      problems.push(request.url())
  })
})

describe('the reference page', () => {
  test('shows every operation, loads files from this server only, and complies with its Content Security Policy', async () => {
    const document = await fetch(`${service.origin}/api/openapi.json`)
    const { paths } = (await document.json()) as { paths: Record<string, object> }

    await page.goto(`${service.origin}/docs`)
    await page.getByText('/api/reservations').first().waitFor()

    const operations = Object.values(paths).flatMap((path) => Object.keys(path))
    expect(await page.locator('.opblock').count()).toBe(operations.length)
    expect(problems).toEqual([])
  })

  test('sends a request with “Try it out”', async () => {
    await page.goto(`${service.origin}/docs#/counter/counter_get`)
    const operation = page.locator('#operations-counter-counter_get')
    await operation.getByRole('button', { name: 'Try it out' }).click()
    await operation.getByRole('button', { name: 'Execute' }).click()

    await operation.locator('.live-responses-table').getByText('"count"').waitFor()
    expect(problems).toEqual([])
  })

  test('uses the session cookie of the browser', async () => {
    const { cookie } = await signInOverHttp(service, 'ada@example.com')
    const [name = '', value = ''] = cookie.split('=')
    await page.context().addCookies([{ name, value, url: service.origin }])
    await page.goto(`${service.origin}/docs#/account/account_get`)
    const operation = page.locator('#operations-account-account_get')
    await operation.getByRole('button', { name: 'Try it out' }).click()
    await operation.getByRole('button', { name: 'Execute' }).click()

    await operation.locator('.live-responses-table').getByText('"ada@example.com"').waitFor()
  })
})
