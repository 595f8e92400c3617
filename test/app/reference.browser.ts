import axe, { type AxeResults } from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'

import { codeSentTo, wrongCodeFor } from '../../engine/test/fixtures/http.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { forbidProblems, openContext, useBrowser } from '../fixtures/browser.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()

/** The origin in the settings of the service, which the examples name. */
const ORIGIN = 'http://localhost:3000'
useBrowser()

let page: Page
let expectStatus: ReturnType<typeof forbidProblems>

/** Opens the reference page. The test fails on violations of the policy, and on requests to other servers. */
async function openPage(hash = '', options: BrowserContextOptions = {}) {
  const context = await openContext(options)
  expectStatus = forbidProblems(context, service.origin)
  page = await context.newPage()
  await page.goto(`${service.origin}/docs${hash}`)
  await page.getByRole('heading', { level: 2 }).last().waitFor()
}

const button = (name: string) => page.getByRole('button', { name, exact: true })
const detail = () => page.locator('.detail')
const answer = () => page.getByRole('region', { name: 'Answer' })
const code = (name: string) => page.locator('.code', { has: page.getByRole('button', { name, exact: true }) })

async function requestCode(email: string) {
  await button('Sign in').click()
  await page.getByLabel('E-mail').fill(email)
  await button('Send code').click()
  await page.getByLabel('Code', { exact: true }).waitFor()
  return codeSentTo(service, email) ?? ''
}

async function enterCode(text: string) {
  await page.getByLabel('Code', { exact: true }).fill(text)
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click()
}

async function signIn() {
  const email = newEmail()
  await enterCode(await requestCode(email))
  await page.getByRole('banner').getByText(`Signed in as ${email}`).waitFor()
  return email
}

/** Creates a token for reading with the session of the browser. A page cannot: its origin is not the origin in the settings. */
async function createToken() {
  const cookies = await page.context().cookies()
  const response = await fetch(`${service.origin}/api/tokens`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    },
    body: JSON.stringify({ label: 'Reader', scopes: ['read'], audience: 'service' }),
  })
  return ((await response.json()) as { token: string }).token
}

/** Opens a procedure of the list. Its form is open on wide screens. */
async function open(operation: string) {
  await page.locator('.list').getByRole('link', { name: operation }).click()
  await page.getByRole('heading', { level: 2, name: operation }).waitFor()
}

describe('the reference page', () => {
  beforeEach(() => openPage())

  test('has the name of the application, with a link to the start page and to the OpenAPI document', async () => {
    const home = page.getByRole('link', { name: 'Tallystick', exact: true })

    expect(await home.getAttribute('href')).toBe('/')
    expect(await page.title()).toBe('Tallystick – API reference')
    expect(
      await page.getByRole('banner').getByRole('link', { name: 'OpenAPI document' }).getAttribute('href'),
    ).toBe('/api/openapi.json')
  })

  test('introduces sign-in, tokens, agents, errors, pages, retries and live updates', async () => {
    const titles = await detail().getByRole('heading', { level: 3 }).allInnerTexts()

    expect(titles).toEqual([
      'First call',
      'Resources',
      'Sign in',
      'Access tokens',
      'MCP',
      'Errors',
      'Pages',
      'Retries',
      'Live updates',
    ])
    expect(await detail().getByText(`${ORIGIN}/mcp`).count()).toBe(1)
  })

  test('lists every operation of the OpenAPI document', async () => {
    const document = await fetch(`${service.origin}/api/openapi.json`)
    const text = await document.text()
    const operations = await page.locator('.list .name').allInnerTexts()

    const missing = operations.filter((each) => !text.includes(each.replaceAll('.', '_')))
    expect(missing).toEqual([])
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> }
    const ids = Object.values(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    )
    expect(operations.map((each) => each.replaceAll('.', '_'))).toEqual(expect.arrayContaining(ids))
  })

  test('searches, and opens the first found procedure with Enter', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('tasks.cre')
    await page.getByText(/^1 of \d+ procedures$/).waitFor()
    await page.keyboard.press('Enter')

    await page.getByRole('heading', { level: 2, name: 'tasks.create' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#tasks.create')
    expect(await page.title()).toBe('tasks.create – Tallystick – API reference')
  })

  test('shows access, scope, limit, errors with examples, and the fields of input and output', async () => {
    await openPage('#tasks.create')

    const facts = await detail().locator('.facts').innerText()
    expect(facts).toMatch(/Signed-in callers[^]*scope write[^]*calls in 1 minute[^]*tasks_create/)
    const input = detail().getByRole('group', { name: 'Fields of Input' })
    expect(await input.getByRole('row', { name: /^taskTitle/ }).innerText()).toMatch(
      /required\s+string\s+1–500 characters/,
    )
    await detail().getByText('Example of UNAUTHORIZED').click()
    await detail().getByText('"Sign in first"').first().waitFor()
    await detail().getByText('JSON Schema').first().click()
    await detail().getByText('"maxLength": 500').waitFor()
  })

  test('expands the fields of an object', async () => {
    await openPage('#notes.list')
    const nested = detail().getByRole('group', { name: 'Fields of notes' })
    expect(await nested.isVisible()).toBe(false)
    await detail().getByText('Fields of notes').click()

    await nested.getByRole('row', { name: /^sharedWith/ }).waitFor()
  })

  test('shows the same call for curl, TypeScript, the command line and agents', async () => {
    await openPage('#tasks.create')
    const shown = () => page.getByRole('region', { name: 'Example' }).locator('pre').first().innerText()

    expect(await shown()).toContain(`curl -X POST '${ORIGIN}/api/tasks'`)
    await page.getByText('TypeScript', { exact: true }).click()
    expect(await shown()).toContain('client.tasks.create({')
    await page.getByText('Command line', { exact: true }).click()
    expect(await shown()).toContain('call tasks.create')
    await page.getByText('MCP', { exact: true }).click()
    expect(await shown()).toContain('"name": "tasks_create"')
  })

  test('shows a stream for curl and TypeScript, not for the command line and agents', async () => {
    await openPage('#live.watch')

    await code('Copy curl').getByText('curl -N').waitFor()
    await page.getByText('TypeScript', { exact: true }).click()
    await code('Copy TypeScript').getByText('for await').waitFor()
    expect(await page.getByText('MCP', { exact: true }).count()).toBe(0)
    expect(await page.getByText('Command line', { exact: true }).count()).toBe(0)
  })

  test('has one link to the OpenAPI document, and a first call that works as pasted', async () => {
    const first = await code('Copy First call').locator('pre').innerText()
    const [, address = ''] = /^curl '(.+)'$/.exec(first) ?? []

    expect(await page.locator('a[href="/api/openapi.json"]').count()).toBe(1)
    expect(address).toContain(ORIGIN)
    const answer = await fetch(address.replace(ORIGIN, service.origin))
    expect(await answer.json()).toMatchObject({ count: expect.any(Number) as number })
  })

  test('says by which fields and error codes a search has found a procedure', async () => {
    const search = page.getByRole('searchbox')
    const hit = (operation: string) => page.locator('.list').getByRole('link', { name: operation })
    await search.fill('revokeSession')

    expect(await hit('sessions.revoke').locator('.reason').allInnerTexts()).toEqual([
      'Field: revokeSessionToken',
    ])
    await search.fill('tasks INSUFFICIENT')
    expect(await hit('tasks.get').locator('.reason').allInnerTexts()).toEqual([
      'Code: 403 INSUFFICIENT_SCOPE',
    ])
    await search.fill('tasks.get')
    expect(await hit('tasks.get').locator('.reason').count()).toBe(0)
  })

  test('finds the sections of the introduction, and the status of an error', async () => {
    const search = page.getByRole('searchbox')
    await search.fill('idempotency key')
    await page.locator('.list').getByRole('link', { name: 'Retries' }).click()

    await page.getByRole('heading', { name: 'Retries' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#retries')
    await search.fill('pagination')
    await page.locator('.list').getByRole('link', { name: 'Pages' }).waitFor()
    await search.fill('')
    await page.locator('.list').getByRole('link', { name: 'Live updates' }).waitFor()
    await search.fill('counter 429')
    await page.locator('.list').getByText('429 TOO_MANY_REQUESTS').first().waitFor()
    expect(await page.locator('.list').getByRole('link', { name: 'Introduction' }).count()).toBe(0)
    await openPage('#tasks.create')
    expect(await page.getByRole('heading', { name: 'Errors' }).getByRole('link').getAttribute('href')).toBe(
      '#tasks.create/errors',
    )
  })

  test('shows the events of a stream as they arrive, until the stream is stopped', async () => {
    await openPage('#live.watch')
    const events = page.getByRole('region', { name: 'Events' })
    const increment = () => fetch(`${service.origin}/api/counter/increment`, { method: 'POST' })
    await page.getByLabel('tasks', { exact: true }).first().uncheck()
    await button('Watch').click()
    await events.getByText('"topic": "counter"').first().waitFor()
    await increment()
    await events.getByRole('status').getByText('2', { exact: true }).waitFor()
    await events.getByText(/^2 · .* · counter · \d+ B$/).waitFor()

    await button('Stop').click()
    await button('Watch').waitFor()
    await increment()
    await button('Watch').click()
    await events.getByRole('status').getByText('1', { exact: true }).waitFor()
  })

  test('opens the sign-in if a stream needs a session', async () => {
    await openPage('#live.watch')
    expectStatus(401)
    await button('Watch').click()

    await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
  })

  test('links each resource to its first procedure', async () => {
    await detail().getByRole('link', { name: 'tasks', exact: true }).click()

    await page.getByRole('heading', { level: 2, name: 'tasks.list' }).waitFor()
  })

  test('lists common errors, and shows an event of a stream', async () => {
    const errors = detail().getByRole('group', { name: 'Errors' })
    const rows = await errors.getByRole('row').allInnerTexts()

    expect(rows).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^BAD_REQUEST\s+400\s+The input breaks its schema/),
        expect.stringMatching(/^UNAUTHORIZED\s+401\s+Sign in first/),
        expect.stringMatching(/^NOT_FOUND\s+404\s+Task not found · There is no such note/),
      ]),
    )
    await detail().getByText('data: {"topic":"counter","state":{"count":0}}').waitFor()
  })

  test.each([
    ['#errors', 'Errors'],
    ['#live-updates', 'Live updates'],
    ['#notes.update/errors', 'Errors'],
  ])('scrolls to the section of the address %s', async (address, heading) => {
    await openPage(address, { viewport: { width: 1280, height: 400 } })
    const title = detail().getByRole('heading', { name: heading, exact: true })

    await expect.poll(async () => (await title.boundingBox())?.y ?? -1, PATIENCE).toBeGreaterThan(-1)
    await expect.poll(async () => (await title.boundingBox())?.y ?? 999, PATIENCE).toBeLessThan(400)
    expect(await page.evaluate('scrollY')).toBeGreaterThan(0)
  })

  test('marks the button of a call that deletes', async () => {
    const color = () =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('[type="submit"]')).backgroundColor`)
    await openPage('#tasks.create')
    const usual = await color()
    for (const operation of ['tasks.delete', 'tasks.reset', 'apps.revoke']) {
      await open(operation)
      await expect.poll(color, PATIENCE).not.toBe(usual)
    }
  })

  test.each([
    ['#/tasks/tasks_create', '#tasks.create', 'tasks.create'],
    ['#/legacyNotes/legacyNotes_list', '#legacyNotes.list', 'legacyNotes.list'],
    ['#/tasks', '', 'Tallystick'],
    ['#/tasks/%zz', '', 'Tallystick'],
  ])('goes from the former address %s to %s', async (former, current, heading) => {
    await openPage(former)
    await detail().getByRole('heading', { level: 2, name: heading }).waitFor()

    expect(new URL(page.url()).hash).toBe(current)
  })

  test('names an operation that the service does not have as text', async () => {
    await openPage('', {})
    await page.goto(`${service.origin}/docs#%3Cimg%20src=x%3E`)

    await page.getByText('This service has no procedure <img src=x>.').waitFor()
  })

  test('proposes the nearest names for an unknown address', async () => {
    await openPage()
    await page.goto(`${service.origin}/docs#task.creat`)
    await page.getByText('This service has no procedure task.creat.').waitFor()

    const links = await detail().getByRole('link').allInnerTexts()
    expect(links[0]).toBe('tasks.create')
    expect(links.at(-1)).toBe('Introduction')
  })

  test('shows code from left to right in Arabic, and marks English texts', async () => {
    await openPage('#tasks.update', { locale: 'ar' })
    const styleOf = (selector: string) =>
      page.evaluate<string>(
        `(({ direction, textAlign }) => direction + ' ' + textAlign)(getComputedStyle(document.querySelector('.detail ${selector}')))`,
      )

    expect(await page.locator('html').getAttribute('dir')).toBe('rtl')
    expect(await styleOf('pre')).toBe('ltr left')
    expect(await styleOf('.route code')).toMatch(/^ltr/)
    expect(await styleOf('.scroll code')).toMatch(/^ltr/)
    expect(await detail().locator('.about [lang=en]').first().innerText()).toBe('Change a task')
    // The button covers no line of the code.
    const covered = await page.evaluate<number>(`(() => {
      const button = document.querySelector('.detail .code > .copy').getBoundingClientRect()
      const text = document.createRange()
      text.selectNodeContents(document.querySelector('.detail .code > pre code'))
      const meets = ({ left, right, top, bottom }) =>
        left < button.right && right > button.left && top < button.bottom && bottom > button.top
      return [...text.getClientRects()].filter(meets).length
    })()`)
    expect(covered).toBe(0)
  })

  test('shows the type and the bounds of a field in the language of the page', async () => {
    await openPage('#tasks.list', { locale: 'de' })
    const hint = async (label: string) => {
      const field = page.locator('.field', { has: page.getByLabel(label, { exact: true }) })
      // Without the characters that keep the order of a range.
      return (await field.locator('.rule').innerText()).replaceAll(/[\u2066\u2069]/g, '')
    }

    expect(await hint('limit')).toBe('integer 1–1000, Vorgabe 1000')
    expect(await hint('q')).toBe('string ≤ 100 Zeichen')
  })

  test('loads the texts of the chosen language only, and keeps the language', async () => {
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname))
    await page.getByLabel('Language').selectOption('ar')
    await page.getByRole('heading', { level: 2, name: 'الإجراءات' }).waitFor()

    expect(loaded.filter((path) => path.endsWith('.js'))).toEqual([
      expect.stringMatching(/^\/docs\/assets\/ar-/),
      expect.stringMatching(/^\/docs\/assets\/ar-/),
    ])
    expect(await page.locator('html').getAttribute('dir')).toBe('rtl')
    await page.reload()
    await page.getByRole('heading', { level: 2, name: 'الإجراءات' }).waitFor()
    expect(await violations()).toEqual([])
  })

  test('follows a change of the color scheme', async () => {
    const background = () =>
      page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
    await page.emulateMedia({ colorScheme: 'light' })
    const light = await background()
    await page.emulateMedia({ colorScheme: 'dark' })

    await expect.poll(background, PATIENCE).not.toBe(light)
  })
})

describe('a call from the reference page', () => {
  beforeEach(() => openPage())

  test('offers the sign-in in its form', async () => {
    await open('account.get')
    await page.getByRole('form', { name: 'Call' }).getByRole('button', { name: 'Sign in' }).click()
    const field = page.getByRole('dialog', { name: 'Sign in' }).getByLabel('E-mail')
    await field.waitFor()

    const label = await page.getByRole('dialog').getByText('E-mail', { exact: true }).boundingBox()
    expect((label?.y ?? 0) + (label?.height ?? 0)).toBeLessThanOrEqual((await field.boundingBox())?.y ?? 0)
    expect((await page.getByRole('dialog').getByRole('article').boundingBox())?.width).toBe(400)
  })

  test('needs no sign-in and no confirmation if the procedure is public and reads', async () => {
    await open('counter.get')
    await button('Run').click()

    await answer().getByText('"count"').waitFor()
  })

  test('has the session of the browser, and asks before a change', async () => {
    const email = await signIn()
    await open('account.get')
    await button('Run').click()
    await answer().getByText(email).waitFor()

    await open('tasks.create')
    await page.getByLabel('taskTitle').fill('From the reference page')
    await button('Run').click()
    const dialog = page.getByRole('dialog', { name: 'Call tasks.create?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await answer().count()).toBe(0)
    await button('Run').click()
    await dialog.getByRole('button', { name: 'Run' }).click()
    await answer().getByText('"From the reference page"').first().waitFor()

    await open('tasks.list')
    await button('Run').click()
    await answer().getByText('"From the reference page"').first().waitFor()
    expect((await answer().innerText()).match(/"id"/g)).toHaveLength(1)
  })

  test('asks before a creation until the person wants no more questions, and always before a deletion', async () => {
    await signIn()
    await open('tasks.create')
    await button('Run').click()
    const dialog = page.getByRole('dialog', { name: /^Call tasks/ })
    await dialog.getByLabel(/^Do not ask again/).check()
    await dialog.getByRole('button', { name: 'Run' }).click()
    await answer().waitFor()

    await open('tasks.list')
    await open('tasks.create')
    await page.getByLabel('taskTitle').fill('Without a question')
    await button('Run').click()
    await answer().getByText('"Without a question"').first().waitFor()
    await open('tasks.reset')
    await button('Run').click()
    await dialog.waitFor()
    expect(await dialog.getByRole('checkbox').count()).toBe(0)
  })

  test('answers in the language of the page', async () => {
    await open('reservations.create')
    await page.getByRole('combobox', { name: /^Language/ }).selectOption('de')
    await page.getByLabel('name').fill('Ada')
    await page.getByLabel('guests').fill('2')
    await button('Ausführen').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Ausführen' }).click()

    await page
      .getByText(/Vielen Dank, Ada\. 2 Plätze/)
      .first()
      .waitFor()
  })

  test('offers the ids of the own items', async () => {
    await signIn()
    await open('tasks.create')
    await page.getByLabel('taskTitle').fill('An offered task')
    await button('Run').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click()
    await answer().getByText('"An offered task"').first().waitFor()
    await open('tasks.get')
    await page.getByLabel(/^id/).focus()

    const option = page.locator('datalist option', { hasText: 'An offered task' })
    await option.waitFor({ state: 'attached' })
    expect(await option.getAttribute('value')).toMatch(/^\d+$/)
    expect(await page.getByLabel(/^id/).inputValue()).toBe(
      await page.locator('datalist option').first().getAttribute('value'),
    )
  })

  test('opens the sign-in instead of a call after a sign-out', async () => {
    await signIn()
    await button('Sign out').click()
    await page.getByText('Not signed in').waitFor()
    await open('tasks.create')
    await button('Run').click()

    await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
    expect(await answer().count()).toBe(0)
  })

  test('shows the answer in the window', async () => {
    await signIn()
    await open('account.get')
    await button('Run').click()
    await answer().waitFor()

    await expect
      .poll(async () => {
        const box = await answer().boundingBox()
        return box !== null && box.y < (page.viewportSize()?.height ?? 0) - 40
      })
      .toBe(true)
  })

  test('ends with a sign-out in another tab, and its answers with it', async () => {
    const email = await signIn()
    await open('account.get')
    await button('Run').click()
    await answer().getByText(email).waitFor()
    expectStatus(401)
    const other = await page.context().newPage()
    await other.goto(service.origin)
    await other.getByRole('button', { name: 'Sign out' }).click()

    await page.getByRole('banner').getByText('Not signed in').waitFor()
    await expect.poll(() => page.getByText(email).count()).toBe(0)
  })

  test('has a token instead of the session, which stays in memory', async () => {
    const email = await signIn()
    const token = await createToken()
    await open('account.get')
    await page.getByText('Access token', { exact: true }).click()
    await page.getByLabel('Access token', { exact: true }).last().fill(token)
    await button('Run').click()
    await answer().getByText(email).waitFor()

    expectStatus(403)
    await open('tasks.reset')
    await button('Run').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click()
    await answer().getByText('INSUFFICIENT_SCOPE').first().waitFor()
    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    )
    expect(stored).not.toContain(token)
  })

  test('shows the issues of a refused input beside the fields', async () => {
    await signIn()
    await open('tasks.list')
    await page.getByLabel('limit').fill('0')
    expectStatus(400)
    await button('Run').click()

    await answer().getByText('BAD_REQUEST').first().waitFor()
    await page.locator('.issue', { hasText: 'to be >=1' }).waitFor()
  })

  test('shows markup in an answer as text', async () => {
    await signIn()
    await open('tasks.create')
    await page.getByLabel('taskTitle').fill('<img src=x onerror=alert(1)>')
    await button('Run').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click()

    await answer().getByText('"<img src=x onerror=alert(1)>"').first().waitFor()
    expect(await page.locator('img[src=x]').count()).toBe(0)
  })
})

describe('the reference page on a phone', () => {
  beforeEach(() => openPage('', { viewport: { width: 390, height: 844 } }))
  const list = () => page.getByRole('heading', { level: 2, name: 'Procedures', exact: true })

  test('starts with the introduction, and opens its list with a button until a choice', async () => {
    await page.getByRole('heading', { level: 2, name: 'Tallystick' }).waitFor()
    expect(await list().isVisible()).toBe(false)
    await button('All procedures').focus()
    await page.keyboard.press('Enter')
    await list().waitFor()
    await page.locator('.list').getByRole('link', { name: 'tasks.create' }).click()

    await page.getByRole('heading', { level: 2, name: 'tasks.create' }).waitFor()
    expect(await list().isVisible()).toBe(false)
    expect(await button('All procedures').getAttribute('aria-expanded')).toBe('false')
  })

  test.each(['/', 'Control+k'])('opens its list and focuses the search with %s', async (keys) => {
    await page.keyboard.press(keys)
    await page.keyboard.type('tasks.cre')
    await page.keyboard.press('Enter')

    await page.getByRole('heading', { level: 2, name: 'tasks.create' }).waitFor()
    expect(await list().isVisible()).toBe(false)
  })
})

describe('the sign-in of the reference page', () => {
  test('outlives a reload', async () => {
    await openPage()
    const email = await signIn()
    await page.reload()

    await page.getByText(`Signed in as ${email}`).waitFor()
    expect(await button('Sign in').count()).toBe(0)
  })

  test('is used with the keyboard alone', async () => {
    await openPage()
    const email = newEmail()
    await button('Sign in').focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('E-mail').waitFor()
    await page.keyboard.press('Tab')
    await page.getByLabel('E-mail').focus()
    await page.keyboard.type(email)
    await page.keyboard.press('Enter')
    await page.getByLabel('Code', { exact: true }).waitFor()
    await page.keyboard.type(codeSentTo(service, email) ?? '')
    await page.keyboard.press('Enter')

    await page.getByText(`Signed in as ${email}`).waitFor()
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
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  }

  test('is accessible and not too wide, with its list, introduction, sign-in and a call', async () => {
    await openPage('', { colorScheme, viewport: { width, height: 800 } })
    await check()
    await page.goto(`${service.origin}/docs#introduction`)
    await page.getByRole('heading', { name: 'Live updates' }).waitFor()
    await check()
    const sent = await requestCode(newEmail())
    expectStatus(400)
    await enterCode(wrongCodeFor(sent))
    await page.getByRole('alert').getByText('not correct').waitFor()
    await check()
    await enterCode(sent)
    await page.getByText('Signed in as').waitFor()
    await page.goto(`${service.origin}/docs#tasks.update`)
    await page.getByRole('heading', { level: 2, name: 'tasks.update' }).waitFor()
    if (width === 320) await button('Try it').click()
    await page.getByText('Example of NOT_FOUND').click()
    await page.getByText('JSON Schema').first().click()
    await check()
    expectStatus(404)
    await button('Run').click()
    await check()
    await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click()
    await answer().waitFor()
    await check()
  })
})
