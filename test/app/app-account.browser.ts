import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'

import { findViolations, focusedText, openApp, overflows, useBrowser } from '../fixtures/browser.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
useBrowser()

const openAccount = (options: Parameters<typeof openApp>[1] = {}) =>
  openApp(service, { path: '/account', ...options })

describe('the name', () => {
  test('is saved, and shown in the header as text', async () => {
    const { page, client, email } = await openAccount()
    await page.locator('main').getByText(email).waitFor()
    const name = '<b>Ada</b> \u202E😀'

    await page.getByRole('textbox', { name: 'Name' }).fill(name)
    await page.getByRole('button', { name: 'Save name' }).click()

    await page.getByRole('status').getByText('Name saved.').waitFor()
    expect(await page.getByRole('banner').getByRole('button').locator('bdi').textContent()).toBe(name)
    expect((await client.account.get()).name).toBe(name)
  })

  test('is saved once, and the button keeps the focus', async () => {
    const { page } = await openAccount()
    let requests = 0
    let answer: () => void = () => undefined
    const isPressedTwice = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/api/auth/update-user', async (route) => {
      requests++
      await isPressedTwice
      await route.continue()
    })
    await page.getByRole('textbox', { name: 'Name' }).fill('Ada')
    const button = page.getByRole('button', { name: 'Save name' })

    await button.press('Enter')
    await page.locator('button[aria-busy=true]').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Name' }).press('Enter')
    await button.focus()
    answer()

    await page.getByRole('status').getByText('Name saved.').waitFor()
    expect(requests).toBe(1)
    expect(await focusedText(page)).toBe('Save name')
  })

  test('can have 120 emoji, and not more', async () => {
    const { page, client } = await openAccount()
    const input = page.getByRole('textbox', { name: 'Name' })

    await input.fill('😀'.repeat(121))
    await page.getByRole('button', { name: 'Save name' }).click()
    await page.locator('main input:invalid').waitFor()
    expect(await page.evaluate('document.querySelector("main input").validationMessage')).toBe(
      'The name can have 120 characters at most.',
    )
    expect((await client.account.get()).name).toBe('')

    await input.fill('😀'.repeat(120))
    await page.getByRole('button', { name: 'Save name' }).click()
    await page.getByText('Name saved.').waitFor()
    expect((await client.account.get()).name).toBe('😀'.repeat(120))
  })
})

describe('the export', () => {
  const EXPORT = '**/rpc/account/export'

  test('shows that it is running, and downloads a JSON file', async () => {
    const { page, client, email } = await openAccount()
    await client.tasks.create({ taskTitle: 'A task' })
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    let requests = 0
    await page.route(EXPORT, async (route) => {
      requests++
      await held
      await route.continue()
    })

    await page.getByRole('button', { name: 'Export data' }).click()
    await page.getByRole('progressbar', { name: 'Preparing the file…' }).waitFor()
    expect(await page.getByRole('button', { name: 'Export data' }).getAttribute('aria-busy')).toBe('true')
    await page.getByRole('button', { name: 'Export data' }).press('Enter')
    const download = page.waitForEvent('download')
    release()

    const file = await download
    expect(file.suggestedFilename()).toBe('tallystick.json')
    expect(requests).toBe(1)
    expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toMatchObject({
      account: { email },
      tasks: [{ title: 'A task' }],
    })
    await page.getByText('The file tallystick.json is in your downloads.').waitFor()
    expect(await page.getByRole('progressbar').count()).toBe(0)
  })

  test.each([
    [409, 'TOO_LARGE', 'too large for one file'],
    [429, 'TOO_MANY_REQUESTS', 'Too many requests'],
  ])('explains the refusal %d %s', async (status, code, text) => {
    const { page, expectStatus } = await openAccount()
    expectStatus(status)
    await page.route(EXPORT, (route) =>
      route.fulfill({ status, json: { json: { defined: false, code, status, message: code } } }),
    )

    await page.getByRole('button', { name: 'Export data' }).click()

    await page.getByRole('alert').getByText(text).waitFor()
    expect(await page.getByText('in your downloads').count()).toBe(0)
  })
})

describe('the deletion of the account', () => {
  test('requires the address, and signs the person out', async () => {
    const { page, email, expectStatus, context } = await openAccount()
    expectStatus(400)
    // The stream of the page ends with the account.
    expectStatus(401)
    const open = page.getByRole('button', { name: 'Delete account' })
    await open.click()
    const dialog = page.getByRole('dialog', { name: 'Delete your account?' })
    const confirm = dialog.getByRole('button', { name: 'Delete account' })

    await dialog.getByRole('textbox').fill(newEmail())
    await confirm.click()
    await dialog.getByText('This is not the e-mail address of your account.').waitFor()
    await dialog.getByRole('textbox').fill(email.toUpperCase())
    await confirm.click()

    await page.getByRole('button', { name: 'Send code' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/')
    expect(await context.cookies()).toEqual([])
    const { account } = service.client({ cookie: await service.signIn(email) })
    expect((await account.export()).audit.filter(({ action }) => action === 'sign-in')).toHaveLength(1)
  })

  test('can be cancelled with the Escape key, which returns the focus', async () => {
    const { page, client } = await openAccount()
    const open = page.getByRole('button', { name: 'Delete account' })
    await open.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()

    await page.keyboard.press('Escape')

    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.locator(':focus').textContent()).toBe('Delete account')
    expect(await client.account.get()).toMatchObject({ name: '' })
  })
})

test.each(['light', 'dark'] as const)(
  'the account has no accessibility violations, and fits 320 px: %s',
  async (colorScheme) => {
    const email = `${'x'.repeat(50)}.${newEmail()}`
    const { page } = await openAccount({ email, colorScheme, viewport: { width: 320, height: 640 } })
    await page.getByRole('button', { name: 'Save name' }).waitFor()
    expect(await findViolations(page)).toEqual([])
    expect(await overflows(page)).toBe(false)

    await page.getByRole('button', { name: 'Delete account' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await findViolations(page)).toEqual([])
    expect(await overflows(page)).toBe(false)
  },
)
