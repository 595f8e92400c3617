import axe, { type AxeResults } from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { launchBrowser } from '../fixtures/browser.ts'
import { codeSentTo, wrongCodeFor } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
let browser: Browser
let page: Page
let problems: string[]

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(() => browser.close())

beforeEach(() => openPage())

// Closes all pages of the test, because an open page occupies a processor.
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))

/** Opens the reference page in a new browser context, and collects policy violations and requests to other servers. */
async function openPage(options: BrowserContextOptions = {}, hash = '') {
  const context = await browser.newContext(options)
  page = await context.newPage()
  problems = []
  page.on('console', (message) => {
    if (/Content Security Policy|Failed to load/.test(message.text())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    if (!/^(data:|blob:)/.test(request.url()) && !request.url().startsWith(service.origin))
      problems.push(request.url())
  })
  await page.goto(`${service.origin}/docs${hash}`)
  await page.locator('.opblock').first().waitFor()
}

const operation = (id: string) => page.locator(`[id="operations-${id}"]`)

/** Opens an operation, and sends a request with parameters and a body. Returns the answer on the page. */
async function tryOperation(id: string, parameters: Record<string, string> = {}, body?: object) {
  const block = operation(id)
  const control = block.locator('.opblock-summary-control')
  if ((await control.getAttribute('aria-expanded')) === 'false') await control.click()
  const start = block.getByRole('button', { name: 'Try it out' })
  await start.click()
  for (const [name, value] of Object.entries(parameters)) {
    const field = block.locator(`[data-param-name=${name}]`).getByLabel(name)
    // The page renders an operation again when its schemas are resolved, which disables the fields again.
    const enter = async () => {
      if ((await start.count()) > 0) await start.click()
      await (name === 'status'
        ? field.selectOption(value, { timeout: 2_000 })
        : field.fill(value, { timeout: 2_000 }))
    }
    await expect.poll(() => enter().then(() => field.inputValue()), PATIENCE).toBe(value)
  }
  if (body) await block.getByLabel('Request body').fill(JSON.stringify(body))
  await block.getByRole('button', { name: 'Execute' }).click()
  const answer = block.locator('.live-responses-table')
  await answer.waitFor()
  return answer.innerText()
}

const computedStyle = (element: string, property: string) =>
  page.evaluate<string>(`getComputedStyle(${element}).${property}`)

async function requestCode(email: string) {
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Your e-mail address').fill(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await page.getByLabel('Six digits').waitFor()
  return codeSentTo(service, email) ?? ''
}

async function enterCode(code: string) {
  await page.getByLabel('Six digits').fill(code)
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click()
}

describe('the reference page', () => {
  test('has the name of the application, with a link to the start page', async () => {
    await page.getByRole('link', { name: 'Tallystick', exact: true }).waitFor()
    expect(await page.title()).toBe('Tallystick – API reference')
    expect(await page.getByRole('link', { name: 'Tallystick', exact: true }).getAttribute('href')).toBe('/')
  })

  test('shows every operation, loads files from this server only, and complies with its Content Security Policy', async () => {
    const document = await fetch(`${service.origin}/api/openapi.json`)
    const { paths } = (await document.json()) as { paths: Record<string, object> }

    const operations = Object.values(paths).flatMap((path) => Object.keys(path))
    expect(await page.locator('.opblock').count()).toBe(operations.length)
    expect(problems).toEqual([])
  })

  test('opens the operation in its address, and sends a request without sign-in', async () => {
    await openPage({}, '#/counter/counter_get')
    await operation('counter-counter_get').getByRole('button', { name: 'Try it out' }).waitFor()

    expect(await tryOperation('counter-counter_get')).toContain('"count"')
    expect(problems).toEqual([])
  })

  test('signs in, sends requests of the signed-in user, and signs out', async () => {
    const email = newEmail()
    await enterCode(await requestCode(email))
    await page.getByText(`Signed in as ${email}`).waitFor()

    expect(await tryOperation('account-account_get')).toContain(email)
    const task = await tryOperation('tasks-tasks_create', {}, { taskTitle: 'From the reference page' })
    expect(task).toContain('"title": "From the reference page"')
    expect(await tryOperation('sessions-sessions_list')).toContain('"isCurrent": true')
    expect(problems).toEqual([])

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('Not signed in').waitFor()
    await operation('account-account_get').getByRole('button', { name: 'Execute' }).click()
    await operation('account-account_get').getByText('"UNAUTHORIZED"').first().waitFor()
  })

  test('stays signed in after a reload', async () => {
    const email = newEmail()
    await enterCode(await requestCode(email))
    await page.getByText(`Signed in as ${email}`).waitFor()
    await page.reload()

    await page.getByText(`Signed in as ${email}`).waitFor()
    expect(await page.getByRole('button', { name: 'Sign in' }).count()).toBe(0)
  })

  test('reports a wrong code, and accepts the correct code afterwards', async () => {
    const email = newEmail()
    const code = await requestCode(email)
    await enterCode(wrongCodeFor(code))

    await page.getByRole('alert').getByText('The code is not correct.').waitFor()
    await enterCode(code)
    await page.getByText(`Signed in as ${email}`).waitFor()
  })

  test('is used with the keyboard alone, with a visible focus', async () => {
    /** Presses Tab until an element with the name has the focus. Checks that the focus is visible on the way. */
    const tabTo = async (name: RegExp) => {
      for (let presses = 0; presses < 80; presses++) {
        await page.keyboard.press('Tab')
        const focused = page.locator(':focus')
        if ((await focused.count()) === 0) continue
        expect(await computedStyle('document.activeElement', 'outlineStyle')).toBe('solid')
        if (name.test((await focused.getAttribute('aria-label')) ?? (await focused.innerText()))) return
      }
      throw new Error(`Tab does not reach ${name.source}`)
    }
    const email = newEmail()
    await tabTo(/^Sign in$/)
    await page.keyboard.press('Enter')
    await page.keyboard.type(email)
    await page.keyboard.press('Enter')
    await page.getByLabel('Six digits').waitFor()
    await page.keyboard.type(codeSentTo(service, email) ?? '')
    await page.keyboard.press('Enter')
    await page.getByText(`Signed in as ${email}`).waitFor()

    await tabTo(/^GET\s+\/api\/me\s/)
    await page.keyboard.press('Enter')
    await operation('account-account_get').getByText('Try it out').waitFor()
    await tabTo(/Try it out/)
    await page.keyboard.press('Enter')
    await operation('account-account_get').getByText('Execute').waitFor()
    await tabTo(/Execute/)
    await page.keyboard.press('Enter')
    await operation('account-account_get').locator('.live-responses-table').getByText(email).waitFor()
  })

  test('follows a change of the color scheme', async () => {
    const background = () => computedStyle('document.body', 'backgroundColor')
    await page.emulateMedia({ colorScheme: 'light' })
    await expect.poll(background).toBe('rgb(255, 255, 255)')
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(background).toBe('rgb(26, 27, 31)')
  })
})

/** Returns the violations that axe finds, each with its elements. */
async function violations() {
  await page.evaluate(axe.source)
  const { violations: found } = await page.evaluate<AxeResults>('axe.run()')
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`)
}

describe.each([
  ['light', 1280],
  ['light', 320],
  ['dark', 1280],
  ['dark', 320],
] as const)('the reference page in %s colors, %d pixels wide,', (colorScheme, width) => {
  const check = async () => {
    expect(await violations()).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  }

  test('is accessible and not too wide, during sign-in and with tried operations', async () => {
    await openPage({ colorScheme, viewport: { width, height: 800 } })
    await check()
    const code = await requestCode(newEmail())
    await enterCode(wrongCodeFor(code))
    await page.getByRole('alert').getByText('not correct').waitFor()
    await check()
    await page.getByRole('button', { name: 'Close' }).click()
    await tryOperation('tasks-tasks_list', { status: 'pending' })
    await tryOperation('tasks-tasks_update', { id: '1' }, { title: 'A title' })
    await check()
  })
})
