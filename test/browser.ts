import axe, { type AxeResults } from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'

import { newEmail, type Service } from './service.ts'

let browser: Browser

/** Starts Chromium: Debian's, or the program at the path in CHROMIUM. */
export const launchBrowser = (...args: string[]) =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      ...args,
    ],
  })

/** Starts Chromium for the tests of one file. */
export function useBrowser() {
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser.close())
}

/** Opens a browser context, without cookies, until the end of the test. Pages have axe, without a violation of the policy. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'en', ...options })
  context.setDefaultTimeout(10_000)
  await context.addInitScript(axe.source)
  onTestFinished(() => context.close())
  return context
}

/**
 * Fails the test at its end if a page of the context had an uncaught error, a message about an error, a violation of the
 * Content-Security-Policy, a failed request, or a request to another origin. Call the returned function for each status
 * of refusals that the test causes.
 */
export function forbidProblems(context: BrowserContext, origin: string) {
  const problems: string[] = []
  const expected = new Set<number>()
  const watch = (page: Page) => {
    page.on('pageerror', ({ message }) => problems.push(message))
    page.on('console', (message) => {
      // The browser reports a refusal here, and the handler below checks the status.
      if (
        ['error', 'warning'].includes(message.type()) &&
        !message.text().startsWith('Failed to load resource')
      )
        problems.push(message.text())
    })
    page.on('response', (response) => {
      if (response.status() >= 400 && !expected.has(response.status()))
        problems.push(`${response.status()} ${response.url()}`)
    })
    page.on('requestfailed', (request) => {
      // A navigation, and the end of the page, cancel open requests.
      const { errorText = '' } = request.failure() ?? {}
      if (errorText !== 'net::ERR_ABORTED') problems.push(`${errorText} ${request.url()}`)
    })
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin))
        problems.push(request.url())
    })
  }
  context.on('page', watch)
  onTestFinished(() => {
    expect(problems).toEqual([])
  })
  return (status: number) => {
    expected.add(status)
  }
}

/** Opens the page at `/` as a person, by default a new person. An empty address opens the page signed out. */
export async function openApp(
  service: Service,
  {
    path = '/',
    email = newEmail(),
    ...options
  }: BrowserContextOptions & { path?: string; email?: string } = {},
) {
  const context = await openContext(options)
  const expectStatus = forbidProblems(context, service.origin)
  const cookie = email && (await service.signIn(email))
  const [name = '', value = ''] = cookie.split('=')
  if (cookie) await context.addCookies([{ name, value, url: service.origin }])
  const page = await context.newPage()
  await page.goto(service.origin + path)
  await page.getByRole('contentinfo').waitFor()
  return { page, context, email, client: service.client({ cookie }), expectStatus }
}

/** Returns the violations that axe finds on the page. */
export async function findViolations(page: Page) {
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Returns whether a part of the page is outside of the window, so that the page scrolls horizontally. */
export const overflows = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth')
