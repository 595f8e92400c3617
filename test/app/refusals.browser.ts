import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { codeSentTo } from '../../engine/test/fixtures/http.ts'
import { findViolations, openApp, useBrowser } from '../fixtures/browser.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
useBrowser()

const startLimited = (limits: string) => startService({ RATE_LIMITS: 'on', LIMITS: limits })

async function sendCode(page: Page, email: string) {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email)
  await page.getByRole('button', { name: 'Send code' }).click()
}

describe('a limited request', () => {
  test('for a code shows the rest of the wait, and can be repeated after the wait', async () => {
    const limited = await startLimited('codesByAddress=1')
    const { page, expectStatus } = await openApp(limited, { email: '' })
    expectStatus(429)
    await page.clock.install()
    await sendCode(page, newEmail())
    await page.getByRole('button', { name: 'Use another address' }).click()

    await sendCode(page, newEmail())

    const button = page.getByRole('button', { name: 'Send code' })
    await page.getByText(/^Too many requests\. Try again in [56]\d seconds\.$/).waitFor()
    expect(await button.isDisabled()).toBe(true)
    expect(await findViolations(page)).toEqual([])
    await page.clock.fastForward(20_000)
    await page.getByText(/Try again in [34]\d seconds/).waitFor()
    await page.clock.fastForward(41_000)
    await page.getByText('You can try again now.').waitFor()
    expect(await button.isDisabled()).toBe(false)
  })

  test('with a code shows the rest of the wait in minutes, and can be repeated after the wait', async () => {
    const limited = await startLimited('triesByBoth=1')
    const { page, expectStatus } = await openApp(limited, { email: '', locale: 'de' })
    expectStatus(400)
    expectStatus(429)
    await page.clock.install()
    const email = newEmail()
    await page.getByRole('textbox', { name: 'E-Mail' }).fill(email)
    await page.getByRole('button', { name: 'Code senden' }).click()
    const code = page.getByRole('textbox', { name: 'Code' })
    const signIn = page.getByRole('button', { name: 'Anmelden' })
    await code.fill('000000')
    await signIn.click()
    await page.getByRole('alert').waitFor()
    await code.fill(codeSentTo(limited, email) ?? '')

    await signIn.click()

    await page.getByText('Versuchen Sie es in 15 Minuten noch einmal.').waitFor()
    expect(await signIn.isDisabled()).toBe(true)
    await page.clock.fastForward(15 * 60_000 - 80_000)
    await page.getByText(/Versuchen Sie es in (79|80) Sekunden noch einmal/).waitFor()
    await page.clock.fastForward(81_000)
    await page.getByText('Sie können es jetzt noch einmal versuchen.').waitFor()
    expect(await signIn.isDisabled()).toBe(false)
  })

  test('of a procedure shows the rest of the wait', async () => {
    const { page, expectStatus } = await openApp(await startLimited('steps=1'), { email: '' })
    expectStatus(429)
    const increment = page.getByRole('button', { name: 'Increment' })
    await increment.click()
    await page.getByRole('status', { name: 'Counter' }).getByText('1').waitFor()

    await increment.click()

    await page
      .getByRole('alert')
      .getByText(/Try again in \d+ seconds\./)
      .waitFor()
  })
})

describe('an invalid field', () => {
  test.each([
    ['en', 'E-mail', 'Send code', 'E-mail: A complete address, such as name@example.com.'],
    [
      'ja',
      'メールアドレス',
      'コードを送信',
      'メールアドレス： name@example.com のような完全なアドレスを入力してください。',
    ],
  ])('is named with its rule in the language of the page: %s', async (locale, field, button, text) => {
    const { page, expectStatus } = await openApp(service, { email: '', locale })
    expectStatus(400)
    await page.getByRole('textbox', { name: field }).fill('ada@localhost')

    await page.getByRole('button', { name: button }).click()

    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toBe(text)
  })

  test('is named with the English message of the service if the page knows no rule', async () => {
    const { page, expectStatus } = await openApp(service, { path: '/tasks', locale: 'de' })
    expectStatus(400)
    const issues = [
      { path: 'taskTitle', message: 'Must have at most 500 characters' },
      { path: 'color', message: 'Must be a color' },
      { path: 'color', message: 'Must be short' },
    ]
    const error = { defined: false, code: 'BAD_REQUEST', status: 400, message: '', data: { issues } }
    await page.route('**/rpc/tasks/create', (route) => route.fulfill({ status: 400, json: { json: error } }))

    await page.locator('.new-task input').fill('Buy milk')
    await page.locator('.new-task button').click()

    const alert = page.getByRole('alert')
    await alert.getByText('Höchstens 500 Zeichen.').waitFor()
    expect(await alert.locator('p').allTextContents()).toEqual([
      'Neue Aufgabe: Höchstens 500 Zeichen.',
      'color: Must be a color',
      'color: Must be short',
    ])
    expect(await alert.locator('[lang=en]').allTextContents()).toEqual(['Must be a color', 'Must be short'])
  })

  test('keeps a form with a broken bound from being sent', async () => {
    const { page, client } = await openApp(service, { path: '/tasks' })
    const title = page.getByRole('textbox', { name: 'New task' })
    const add = page.getByRole('button', { name: 'Add task' })

    await title.fill('🌻'.repeat(501))

    await page.getByText('500 characters at most.').waitFor()
    expect(await title.getAttribute('aria-invalid')).toBe('true')
    await add.click()
    await title.fill('🌻'.repeat(500))
    await page.getByText('500 characters at most.').waitFor({ state: 'detached' })
    await page.getByRole('textbox', { name: 'Description' }).fill('x'.repeat(10_001))
    await page.getByText('10000 characters at most.').waitFor()
    await add.click()
    expect(await client.tasks.list()).toMatchObject({ taskCount: 0 })
    await page.getByRole('textbox', { name: 'Description' }).fill('')
    await add.click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('x'.repeat(501))
    await page.getByText('500 characters at most.').waitFor()
  })

  test('of numbers shows the smallest and the largest number', async () => {
    const { page } = await openApp(service, { email: '' })

    await page.getByLabel('New value').fill('1.5')

    await page.getByText('A whole number from -9007199254740991 to 9007199254740991.').waitFor()
  })
})
