import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { launchBrowser } from '../fixtures/browser.ts'
import { BreakableConnection } from '../../engine/test/fixtures/breakable-connection.ts'
import { codeSentTo } from '../../engine/test/fixtures/http.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

/** The path of the bundle `datastar.js`. The project does not contain the bundle, and npm has no release of version 1. */
const bundle = process.env.DATASTAR ?? ''
/** The page of docs/clients.md. */
const html = /^```html\n(.*?)^```$/ms.exec(readFileSync('docs/clients.md', 'utf8'))?.[1] ?? ''
/** The policy that docs/clients.md states. */
const policy = `default-src 'none'; connect-src 'self'; ${/`(script-src [^`]*)`/.exec(readFileSync('docs/clients.md', 'utf8'))?.[1] ?? ''}`

const settings = await settingsWithAddress()
/** The page reads through this connection, as behind a proxy. */
const connection = new BreakableConnection('127.0.0.1', Number(settings.PORT))
const origin = `http://127.0.0.1:${await connection.listen()}`
const service = await startService({ ...settings, BASE_URL: origin })
let browser: Browser
let page: Page
let problems: string[]

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser.close()
  connection.close()
})

/** Opens the page on the origin of the connection, as behind a proxy that serves the two files. */
beforeEach(async () => {
  problems = []
  page = await browser.newPage()
  // Chromium reports each answer with an error status in the console.
  page.on('console', (message) => {
    const text = message.text()
    problems.push(/^Failed to load resource: .* status of (\d+)/.exec(text)?.[1] ?? text)
  })
  page.on('pageerror', (error) => problems.push(error.message))
  await page.route(`${origin}/`, (route) =>
    route.fulfill({ body: html, contentType: 'text/html', headers: { 'content-security-policy': policy } }),
  )
  await page.route('**/datastar.js', (route) =>
    route.fulfill({ path: bundle, contentType: 'text/javascript' }),
  )
  await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
  await page.goto(origin)
})

afterEach(() => page.close())

const error = () => page.getByRole('alert')
const notes = () => page.locator('#notes-list > li')

async function signIn() {
  const email = newEmail()
  await page.getByLabel('E-mail address').fill(email)
  const answer = page.waitForResponse('**/send-verification-otp')
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await answer
  await page.getByLabel('Code').fill(codeSentTo(service, email) ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('No notes yet').waitFor()
  problems = []
  return email
}

/** The time in which a broken page would repeat a refused request many times, in milliseconds. */
const TEN_SECONDS = 10_000

/** Counts the requests to a path from now on. */
function countRequests(path: string) {
  let count = 0
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === path) count++
  })
  return () => count
}

async function add(text: string) {
  await page.getByLabel('Note', { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Add' }).click()
}

describe.skipIf(bundle === '')('the page of docs/clients.md', () => {
  test('asks a stranger to sign in, and shows the counter', async () => {
    await error().getByText('Please sign in.').waitFor()

    expect(await page.locator('#server-fragment output').textContent()).toBe('0')
    expect(problems).toEqual(['401'])
  })

  test('opens no stream without a session', async () => {
    const requests = countRequests('/api/live')
    await page.reload()
    await error().getByText('Please sign in.').waitFor()

    await page.waitForTimeout(TEN_SECONDS)

    expect(requests()).toBe(0)
  })

  test('shows that a code is wrong, and keeps the values of the form', async () => {
    await error().getByText('Please sign in.').waitFor()
    await page.getByLabel('E-mail address').fill(newEmail())
    await page.getByLabel('Code').fill('123456')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await error().getByText('Please check what you have entered.').waitFor()

    expect(await page.getByLabel('Code').inputValue()).toBe('123456')
    expect(problems).toEqual(['401', '400'])
  })

  test('signs in, adds notes and deletes a note', async () => {
    await signIn()

    await add('One')
    await notes().getByText('One').waitFor()
    // The stream can show the note before the answer of the request clears the field.
    await expect.poll(() => page.getByLabel('Note', { exact: true }).inputValue()).toBe('')
    await add('Two <b>& "three"')
    await notes().getByText('Two').waitFor()
    expect(await page.getByLabel('Note', { exact: true }).inputValue()).toBe('')
    await page.getByText('Notes: 2').waitFor()
    await notes()
      .filter({ hasText: 'One' })
      .getByRole('button', { name: /^Delete note \d+$/ })
      .click()
    await page.getByText('Notes: 1').waitFor()

    expect(await notes().count()).toBe(1)
    expect(await notes().textContent()).toBe('Two <b>& "three" Delete')
    expect(problems).toEqual([])
  })

  test('shows changes of other clients, until the session is revoked', async () => {
    const email = await signIn()
    const elsewhere = service.client({ cookie: await service.signIn(email) })

    await elsewhere.legacyNotes.create({ newNote: 'Elsewhere' })
    await notes().getByText('Elsewhere').waitFor()
    await page.getByText('Notes: 1').waitFor()
    const { count } = await elsewhere.counter.increment()
    await page.locator('#server-fragment').getByText(String(count), { exact: true }).waitFor()
    const { sessions } = await elsewhere.sessions.list()
    const { token = '' } = sessions.find(({ isCurrent }) => !isCurrent) ?? {}
    const requests = countRequests('/api/live')
    await elsewhere.sessions.revoke({ revokeSessionToken: token })
    await error().getByText('Please sign in.').waitFor()
    await page.waitForTimeout(TEN_SECONDS)

    expect(requests()).toBeLessThanOrEqual(2)
    expect(await notes().count()).toBe(1)
  })

  test('connects again after a broken connection and an error of a proxy', async () => {
    const email = await signIn()
    const answers = [502]
    await page.route('**/api/live?**', (route) => {
      const status = answers.shift()
      return status ? route.fulfill({ status }) : route.continue()
    })

    connection.reset()
    const elsewhere = service.client({ cookie: await service.signIn(email) })
    await elsewhere.legacyNotes.create({ newNote: 'Elsewhere' })
    await notes().getByText('Elsewhere').waitFor()

    expect(answers).toEqual([])
  })

  test('sends no values of the forms when the page becomes visible again', async () => {
    const email = await signIn()
    await page.getByLabel('Note', { exact: true }).fill('界'.repeat(4000))

    const request = page.waitForRequest('**/api/live?**')
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(new URL((await request).url()).searchParams.get('datastar')).toBe('{}')
    const elsewhere = service.client({ cookie: await service.signIn(email) })
    await elsewhere.legacyNotes.create({ newNote: 'Elsewhere' })
    await notes().getByText('Elsewhere').waitFor()

    expect(problems).toEqual([])
  })

  test('shows why a request is refused, until the next request', async () => {
    await signIn()

    await add('   ')
    await error().getByText('Please check what you have entered.').waitFor()
    await add('One')
    await notes().getByText('One').waitFor()

    expect(await error().textContent()).toBe('')
    expect(await notes().count()).toBe(1)
    expect(problems).toEqual(['400'])
  })

  test('deletes a note while the input field contains a long draft', async () => {
    await signIn()
    await add('One')
    await notes().getByText('One').waitFor()

    await page.getByLabel('Note', { exact: true }).fill('界'.repeat(4000))
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No notes yet').waitFor()

    expect((await page.getByLabel('Note', { exact: true }).inputValue()).length).toBe(4000)
    expect(problems).toEqual([])
  })
})
