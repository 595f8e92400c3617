import { describe, expect, test } from 'vitest'

import { findViolations, openApp, openContext, overflows, signOut, useBrowser } from '../fixtures/browser.ts'
import { codeSentTo, wrongCodeFor } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService({ DATABASE_URL: 'memory:' })
const sending = await startService({ DATABASE_URL: 'memory:', SMTP_URL: 'smtp://127.0.0.1:1' })
useBrowser()

const requestCode = async (page: Awaited<ReturnType<typeof openApp>>['page'], email: string) => {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email)
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByRole('textbox', { name: 'Code' }).waitFor()
}

describe('the page, signed out,', () => {
  test('explains the service, and links to the reference and the address for agents', async () => {
    const { page } = await openApp(service, { email: '' })

    await page.getByRole('heading', { level: 1, name: 'Tallystick' }).waitFor()
    await page.getByRole('contentinfo').getByText(`${service.origin}/mcp`).waitFor()
    await page.getByRole('link', { name: 'API reference' }).click()
    await page.waitForURL('**/docs')
  })

  test('has no menu below 700 px, because the bar has all views', async () => {
    const { page } = await openApp(service, { email: '', viewport: { width: 390, height: 640 } })
    await page.getByRole('navigation').getByRole('link', { name: 'Reservation' }).waitFor()
    expect(await page.getByRole('button', { name: 'Menu' }).count()).toBe(0)
  })

  test('explains the service without JavaScript', async () => {
    const context = await openContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(service.origin)

    await page.getByRole('heading', { level: 1, name: 'Tallystick' }).waitFor()
    // Playwright finds no texts in `noscript`.
    expect(await page.locator('main').innerText()).toContain('This page requires JavaScript')
    expect(await page.locator('main a').getAttribute('href')).toBe('/docs')
  })

  test('shows the sign-in instead of a view of a person, and then the view', async () => {
    const { page } = await openApp(service, { email: '', path: '/notes' })
    const email = newEmail()

    await requestCode(page, email)
    await page.getByRole('textbox', { name: 'Code' }).fill(codeSentTo(service, email) ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()

    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/notes')
  })
})

describe('the start page of a person', () => {
  test('shows open tasks, notes of other people, and recent access to the account', async () => {
    const ada = await service.person()
    const { page, client, email } = await openApp(service)
    const card = (name: string) => page.getByRole('region', { name })
    await card('Open tasks').getByText('Nothing is open.').waitFor()
    await card('Shared with you').getByText('Nobody shares a note with you.').waitFor()
    await card('Active recently').getByText('This device').waitFor()

    await client.tasks.create({ taskTitle: 'Buy milk' })
    const { id } = await client.tasks.create({ taskTitle: 'Call' })
    await client.tasks.update({ id, status: 'completed' })
    const note = await ada.notes.create({ title: 'Plan', body: '' })
    await ada.notes.share({ id: note.id, email, role: 'reader' })

    await card('Open tasks 1').getByText('Buy milk').waitFor()
    const begun = await client.tasks.create({ taskTitle: 'Write' })
    await client.tasks.update({ id: begun.id, status: 'in_progress' })
    await card('Open tasks 2').getByText('In progress').waitFor()
    expect(await card('Open tasks').getByRole('listitem').allTextContents()).toEqual([
      'Write In progress ',
      'Buy milk  ',
    ])
    await client.tasks.delete({ id: begun.id })
    await card('Open tasks 1').waitFor()
    expect(await card('Open tasks').getByText('Call').count()).toBe(0)
    await card('Shared with you').getByText('Plan').waitFor()
    expect(await findViolations(page)).toEqual([])
    await card('Open tasks').getByRole('checkbox', { name: 'Done' }).click()
    await card('Open tasks').getByText('Nothing is open.').waitFor()
    expect((await client.tasks.list({ status: 'completed' })).taskCount).toBe(2)
    await card('Active recently').getByRole('link').click()
    await page.waitForURL('**/devices')
  })
})

describe('the sign-in', () => {
  test('accepts a code that another tab has requested', async () => {
    const { page } = await openApp(service, { email: '' })
    const email = newEmail()
    await requestCode(page, email)
    const other = await page.context().newPage()
    await other.goto(service.origin)
    await other.getByRole('textbox', { name: 'E-mail' }).fill(email)

    await other.getByRole('button', { name: 'I already have a code' }).click()
    await other.getByRole('textbox', { name: 'Code' }).fill(codeSentTo(service, email) ?? '')
    await other.keyboard.press('Enter')

    await other.getByRole('button', { name: 'Sign out' }).waitFor()
  })

  test('keeps the step of the code after a reload, and the wait for another code', async () => {
    const { page } = await openApp(service, { email: '' })
    const email = newEmail()
    await requestCode(page, email)

    await page.reload()

    await page.getByText(`We sent a code to ${email}`).waitFor()
    expect(await page.getByRole('button', { name: /^Send another code in \d+/ }).isDisabled()).toBe(true)
    await page.getByRole('textbox', { name: 'Code' }).fill(codeSentTo(service, email) ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })

  test('asks for the address again after a reload, if the person has chosen another address', async () => {
    const { page } = await openApp(service, { email: '' })
    await requestCode(page, newEmail())
    await page.getByRole('button', { name: 'Use another address' }).click()

    await page.reload()

    expect(await page.getByRole('textbox', { name: 'E-mail' }).inputValue()).toBe('')
  })

  test('moves the focus to the content', async () => {
    const { page } = await openApp(service, { email: '', path: '/tasks' })
    const email = newEmail()
    await requestCode(page, email)
    await page.getByRole('textbox', { name: 'Code' }).fill(codeSentTo(service, email) ?? '')

    await page.keyboard.press('Enter')

    await page.locator('main:focus').waitFor()
  })

  test('accepts a pasted code with spaces, and refuses a wrong code', async () => {
    const { page, expectStatus } = await openApp(service, { email: '' })
    expectStatus(400)
    const email = newEmail()
    await requestCode(page, email)
    const code = codeSentTo(service, email) ?? ''

    await page.getByRole('textbox', { name: 'Code' }).fill(wrongCodeFor(code))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('This code is not correct').waitFor()
    await page.getByRole('textbox', { name: 'Code' }).fill(` ${code.slice(0, 3)} ${code.slice(3)}\n`)
    await page.keyboard.press('Enter')

    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.getByText(email).waitFor()
  })

  test('shows the waiting time before another code, and accepts another address', async () => {
    const { page } = await openApp(service, { email: '' })
    await page.clock.install()
    const email = newEmail()
    await requestCode(page, email)
    const first = codeSentTo(service, email)

    const waiting = page.getByRole('button', { name: /Send another code in \d+ seconds/ })
    expect(await waiting.isDisabled()).toBe(true)
    await page.clock.runFor(31_000)
    await page.getByRole('button', { name: 'Send another code', exact: true }).click()
    await waiting.waitFor()
    expect(codeSentTo(service, email)).not.toBe(first)

    await page.getByRole('button', { name: 'Use another address' }).click()
    expect(await page.getByRole('textbox', { name: 'E-mail' }).inputValue()).toBe(email)
  })

  test('tells a developer where the code is', async () => {
    const { page } = await openApp(service, { email: '' })

    await requestCode(page, newEmail())

    await page.getByText(service.services.settings.outbox).waitFor()
  })

  test('does not mention a folder if the service sends e-mails', async () => {
    const { page } = await openApp(sending, { email: '' })

    await requestCode(page, newEmail())

    await page.getByText('We sent a code').waitFor()
    expect(await page.getByText(/development/).count()).toBe(0)
  })
})

test('check marks are visible with forced colors', async () => {
  const { page, client } = await openApp(service, { path: '/tasks', forcedColors: 'active' })
  const { id } = await client.tasks.create({ taskTitle: 'Done' })
  await client.tasks.update({ id, status: 'completed' })

  const box = page.getByRole('checkbox').first()
  await box.waitFor()

  const appearance = "getComputedStyle(document.querySelector('[type=checkbox]')).appearance"
  expect(await page.evaluate(appearance)).toBe('auto')
})

describe('the counter', () => {
  test('agrees in two windows', async () => {
    const [first, second] = [await openApp(service, { email: '' }), await openApp(service)]
    const counters = [first, second].map(({ page }) => page.getByRole('status', { name: 'Counter' }))
    const [own, other] = counters
    const expectCount = async (count: string) => {
      for (const counter of counters) await counter.getByText(count, { exact: true }).waitFor()
    }

    await first.page.getByRole('button', { name: 'Reset counter' }).click()
    await expectCount('0')
    await first.page.getByRole('button', { name: 'Increment' }).click()
    await expectCount('1')
    for (let i = 0; i < 3; i++) await second.page.getByRole('button', { name: 'Decrement' }).click()
    await expectCount('-2')
    await second.page.getByRole('spinbutton', { name: 'New value' }).fill('1234567')
    await second.page.getByRole('button', { name: 'Set counter', exact: true }).click()
    await expectCount('1234567')
    expect([await own?.textContent(), await other?.textContent()]).toEqual(['1234567', '1234567'])
  })
})

describe('the session', () => {
  test('ends at the sign-out, and the data of the person disappears', async () => {
    const app = await openApp(service, { path: '/account' })
    const { page, email } = app

    await signOut(app)

    await page.getByRole('button', { name: 'Send code' }).waitFor()
    expect(await page.getByText(email).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Tasks' }).count()).toBe(0)
  })

  test('that is revoked elsewhere shows the sign-in immediately, and the same view after the next sign-in', async () => {
    const { page, email, client, expectStatus } = await openApp(service, { path: '/tasks' })
    // The client resumes the stream, which the service refuses.
    expectStatus(401)
    const elsewhere = service.client({ cookie: await service.signIn(email) })
    await client.account.get()
    const { sessions } = await elsewhere.sessions.list()
    const token = sessions.find(({ isCurrent }) => !isCurrent)?.token ?? ''

    await elsewhere.sessions.revoke({ revokeSessionToken: token })

    await page.getByRole('alert').getByText('Your session has ended').waitFor()
    await requestCode(page, email)
    await page.getByRole('textbox', { name: 'Code' }).fill(codeSentTo(service, email) ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/tasks')
    expect(await page.getByText('Your session has ended').count()).toBe(0)
  })

  test('of a person who loses the connection continues when the connection is back', async () => {
    const { page, context, client } = await openApp(service)
    const counter = page.getByRole('status', { name: 'Counter' })
    await counter.getByText(/\d/).waitFor()

    await context.setOffline(true)
    await page.getByText('You are offline').waitFor()
    const { count } = await client.counter.increment()
    await context.setOffline(false)

    await counter.getByText(String(count), { exact: true }).waitFor()
    await page.getByText('Connected again').waitFor()
  })
})

describe('the frame', () => {
  test.each(['light', 'dark'] as const)(
    'has no accessibility violations, and fits 320 px: %s',
    async (colorScheme) => {
      for (const email of ['', newEmail()]) {
        const { page } = await openApp(service, { email, colorScheme, viewport: { width: 320, height: 640 } })
        await page.getByRole('status', { name: 'Counter' }).getByText(/\d/).waitFor()

        expect(await findViolations(page)).toEqual([])
        expect(await overflows(page)).toBe(false)
      }
    },
  )

  test.each(['ar', 'de', 'ja'])('fits 320 px in the language %s', async (locale) => {
    const viewport = { width: 320, height: 640 }
    const start = await openApp(service, { email: '', locale, viewport })
    await start.page.getByRole('status').getByText(/\d/).waitFor()
    expect(await overflows(start.page)).toBe(false)

    const { page, client } = await openApp(service, { path: '/tasks', locale, viewport })
    await client.tasks.create({ taskTitle: 'Donaudampfschifffahrtsgesellschaft' })
    await page.getByRole('checkbox').waitFor()
    expect(await overflows(page)).toBe(false)

    await page.goto(`${service.origin}/devices`)
    await page.locator('main li').first().waitFor()
    expect(await overflows(page)).toBe(false)
  })

  test('follows the language of the browser, and keeps a chosen language', async () => {
    const { page } = await openApp(service, { email: '', locale: 'he-IL' })
    expect(await page.locator('html').getAttribute('dir')).toBe('rtl')

    await page.locator('[popovertarget=settings]').click()
    await page.locator('#settings select').first().selectOption('de')
    await page.locator('html[lang=de][dir=ltr]').waitFor()
    await page.reload()

    await page.locator('html[lang=de][dir=ltr]').waitFor()
  })

  test('keeps a chosen theme', async () => {
    const { page } = await openApp(service, { email: '', colorScheme: 'light' })

    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark')
    await page.reload()
    await page.getByRole('button', { name: 'Settings' }).waitFor()

    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
  })

  test('has a menu with the person, the language and the theme, which Escape closes', async () => {
    const { page } = await openApp(service)

    await page.locator('[popovertarget=settings]').click()
    await page.getByRole('combobox', { name: 'Language' }).waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.keyboard.press('Escape')

    await page.getByRole('combobox', { name: 'Language' }).waitFor({ state: 'hidden' })
    expect(await page.locator('.settings button:focus').count()).toBe(1)
  })

  test('shows three links and a menu below 700 px, which closes with the next view', async () => {
    const { page } = await openApp(service, { viewport: { width: 699, height: 640 } })
    const link = (name: string) => page.getByRole('link', { name, exact: true })
    for (const name of ['Home', 'Tasks', 'Notes']) expect(await link(name).count()).toBe(1)
    expect(await link('Devices').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0)

    await page.getByRole('button', { name: 'Menu' }).click()
    expect(await findViolations(page)).toEqual([])
    expect(await link('Tasks').count()).toBe(1)
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await link('Devices').click()

    await page.waitForURL('**/devices')
    await link('Devices').waitFor({ state: 'hidden' })
    await page.setViewportSize({ width: 700, height: 640 })
    await link('Devices').waitFor()
    expect(await link('Tasks').count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Menu' }).count()).toBe(0)
  })

  test('keeps the header in the window when a person opens a view', async () => {
    const { page } = await openApp(service, { viewport: { width: 1280, height: 400 } })
    await page.getByRole('link', { name: 'Devices', exact: true }).click()

    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()

    await page.locator('#content:focus').waitFor()
    expect(await page.evaluate('scrollY')).toBe(0)
  })

  test('moves the focus to the content of the next view, and is usable with the keyboard only', async () => {
    const { page } = await openApp(service)

    await page.keyboard.press('Tab')
    await page.getByRole('link', { name: 'Skip to the content' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')

    await page.waitForURL('**/tasks')
    await page.locator('main:focus').waitFor()
    expect(await page.title()).toBe('Tasks – Tallystick')
  })
})
