import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { findViolations, focusedText, openApp, overflows, useBrowser } from '../fixtures/browser.ts'
import { codeSentTo, createFetch, wrongCodeFor } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ ADMIN_EMAILS: ROOT })
const call = createFetch(service)
useBrowser()

const HOSTILE = '<img src=x onerror=alert(1)> \u202Eאב 😀'

type Options = Parameters<typeof openApp>[1]

/** Opens the table of people, and waits for the first request, which is refused if the role is removed. */
async function openPeople(options: Options = {}) {
  const app = await openApp(service, { path: '/people', email: ROOT, ...options })
  await rowsOf(app.page).first().waitFor()
  return app
}

/** Opens the audit trail, and waits for the first entries. */
async function openTrail(options: Options = {}) {
  const app = await openApp(service, { path: '/people?tab=trail', email: ROOT, ...options })
  await entriesOf(app.page).first().waitFor()
  return app
}

/** Signs in a new person. Returns the address, and functions that act as the person and as the administrator. */
async function createPerson(name = '') {
  const email = newEmail()
  const cookie = await service.signIn(email)
  if (name) await call('POST', '/api/auth/update-user', { name }, { cookie })
  return { email, cookie, client: service.client({ cookie }) }
}

/** Enters a wrong code, so that the audit trail contains a refusal. */
async function failSignIn(email: string) {
  await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
  const otp = wrongCodeFor(codeSentTo(service, email) ?? '')
  await call('POST', '/api/auth/sign-in/email-otp', { email, otp })
}

/** Calls an endpoint of the administration as another administrator than the one in the browser. */
async function administrate(operation: string, body: object) {
  return call('POST', `/api/auth/admin/${operation}`, body, { cookie: await service.signIn(ROOT) })
}

const search = (page: Page, text: string) =>
  page.getByRole('searchbox', { name: 'Search by e-mail' }).fill(text)

/** The rows of the table, without the headers of the columns. */
const rowsOf = (page: Page) =>
  page
    .getByRole('table', { name: 'People' })
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader') })

const rowOf = (page: Page, email: string) => rowsOf(page).filter({ hasText: email })

const menuButtonOf = (page: Page, email: string) =>
  rowOf(page, email).getByRole('button', { name: `Actions for ${email}` })

const itemsOf = (page: Page, email: string) => rowOf(page, email).getByRole('listitem').getByRole('button')

const entriesOf = (page: Page) => page.getByRole('list', { name: 'Audit trail' }).getByRole('listitem')

/** Chooses an action in the menu of a person. */
async function choose(page: Page, email: string, action: string) {
  await menuButtonOf(page, email).click()
  await rowOf(page, email).getByRole('button', { name: action, exact: true }).click()
}

async function findPerson(page: Page, email: string) {
  await search(page, email)
  await page.getByText('1–1 of 1 account').waitFor()
}

/** Chooses an action in the menu of a person, and presses the button in the dialog. */
async function act(page: Page, email: string, action: string, reason?: string) {
  await findPerson(page, email)
  await choose(page, email, action)
  const dialog = page.getByRole('dialog', { name: `${action}: ${email}` })
  if (reason !== undefined) await dialog.getByRole('textbox', { name: 'Reason' }).fill(reason)
  await dialog.getByRole('button', { name: action, exact: true }).click()
}

describe('the view of people', () => {
  test('is closed to people who are no administrators', async () => {
    const { page } = await openApp(service, { path: '/people' })

    await page.getByText('You do not have the permission').waitFor()
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0)
  })

  test('finds people by a part of the address, with one request for the typed text', async () => {
    const ada = await createPerson(HOSTILE)
    const { page } = await openPeople()
    await rowOf(page, ROOT).first().waitFor()
    const requests: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('list-users')) requests.push(request.url())
    })

    // Ten keys a second on the clock of the page, also on a slow machine.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    for (const key of ada.email.slice(2, 30)) {
      await page.getByRole('searchbox').press(key)
      await page.clock.runFor(100)
    }
    await page.clock.runFor(1000)
    await page.clock.resume()

    await page.getByText('1–1 of 1 account').waitFor()
    await rowOf(page, ada.email).waitFor()
    expect(await rowOf(page, ada.email).locator('strong').textContent()).toBe(HOSTILE)
    expect(requests).toHaveLength(1)

    await search(page, 'nobody-has-this-address')
    await page.getByText('No account has this address.').waitFor()
    expect(await rowsOf(page).count()).toBe(0)
  })

  test('shows many people in pages', async () => {
    const mark = `page${Date.now()}`
    const cookie = await service.signIn(ROOT)
    for (let index = 1; index <= 21; index++)
      await call(
        'POST',
        '/api/auth/admin/create-user',
        { email: `${index}@${mark}.example`, name: '' },
        { cookie },
      )
    const { page } = await openPeople()
    await search(page, mark)
    await page.getByText('1–20 of 21 accounts').waitFor()
    expect(await page.getByRole('button', { name: 'Previous page' }).isDisabled()).toBe(true)

    await page.getByRole('button', { name: 'Next page' }).click()

    await page.getByText('21–21 of 21 accounts').waitFor()
    await rowOf(page, `1@${mark}.example`).waitFor()
    expect(await page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Previous page' }).click()
    await rowOf(page, `21@${mark}.example`).waitFor()
  })
})

describe('an administrator', () => {
  test('makes a person an administrator, and removes the role again', async () => {
    const ada = await createPerson()
    const { page } = await openPeople()

    await act(page, ada.email, 'Make administrator')
    await page.getByText(`The account ${ada.email} is changed.`).waitFor()
    await rowOf(page, ada.email).getByText('Administrator', { exact: true }).waitFor()
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe(`Actions for ${ada.email}`)
    await menuButtonOf(page, ada.email).click()
    await itemsOf(page, ada.email).first().waitFor()
    expect(await itemsOf(page, ada.email).allTextContents()).toEqual([
      ...['Remove administrator', 'Ban', 'Show audit trail'],
    ])
    await page.keyboard.press('Escape')
    await openPeople({ email: ada.email })

    await act(page, ada.email, 'Remove administrator')
    await rowOf(page, ada.email).getByText('Administrator', { exact: true }).waitFor({ state: 'detached' })
  })

  test('is warned before removing the own role, and then leaves the administration', async () => {
    const ada = await createPerson()
    const { page: other } = await openPeople()
    await act(other, ada.email, 'Make administrator')
    await other.getByText('is changed').waitFor()
    const { page } = await openPeople({ email: ada.email })
    await findPerson(page, ada.email)
    await menuButtonOf(page, ada.email).click()
    await itemsOf(page, ada.email).first().waitFor()
    expect(await itemsOf(page, ada.email).allTextContents()).toEqual([
      'Remove administrator',
      'Show audit trail',
    ])

    await rowOf(page, ada.email).getByRole('button', { name: 'Remove administrator' }).click()
    await page.getByRole('dialog').getByText('This is your own account.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove administrator' }).click()

    await page.waitForURL(`${service.origin}/`)
    await page.getByRole('link', { name: 'Tasks' }).waitFor()
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0)
  })

  test('bans a person with a reason, ends the sessions immediately, and unbans the person', async () => {
    const ada = await createPerson()
    const adasPage = await openApp(service, { email: ada.email })
    adasPage.expectStatus(401)
    const { page } = await openPeople()

    await act(page, ada.email, 'Ban', HOSTILE)
    await rowOf(page, ada.email).getByText('Banned', { exact: true }).waitFor()
    expect(await rowOf(page, ada.email).textContent()).toContain(HOSTILE)
    await adasPage.page.getByText('Your session has ended').waitFor()
    await expect(ada.client.account.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })

    await act(page, ada.email, 'Unban')
    await rowOf(page, ada.email).getByText('Banned', { exact: true }).waitFor({ state: 'detached' })
    expect(await service.signIn(ada.email)).toContain('session_token')
  })

  test('acts as a person, with a banner and without sensitive actions, and returns', async () => {
    const ada = await createPerson()
    await ada.client.tasks.create({ taskTitle: 'Of Ada' })
    await ada.client.notes.create({ title: 'Of Ada', body: '' })
    await service.signIn(ada.email)
    const { page } = await openPeople()

    await act(page, ada.email, 'Act as this person')
    const banner = page.getByRole('alert').filter({ hasText: `You are using Tallystick as ${ada.email}.` })
    await banner.waitFor()
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Devices' }).click()
    await page.getByRole('list', { name: 'Devices' }).getByText('This device').waitFor()
    expect(await page.getByRole('list', { name: 'Devices' }).getByRole('listitem').count()).toBe(3)
    expect(await page.getByRole('button', { name: /Revoke/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Notes' }).click()
    const note = page.getByRole('list', { name: 'Notes' }).getByRole('listitem')
    await note.waitFor()
    expect(await note.getByRole('button').allTextContents()).toEqual(['Edit', 'Delete'])
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByText('Only the owner of the account').waitFor()
    expect(await page.getByRole('button', { name: /Export|Delete/ }).count()).toBe(0)

    await banner.getByRole('button', { name: 'Return to your own account' }).click()
    await page.getByRole('link', { name: 'People' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('sees why an action was refused', async () => {
    const ada = await createPerson()
    const { id } = await ada.client.account.get()
    const { page, expectStatus } = await openPeople()
    expectStatus(404)
    await search(page, ada.email)
    // The list without the search also contains the person. After the removal, a late result of the search would not.
    await expect.poll(() => rowsOf(page).count()).toBe(1)
    await choose(page, ada.email, 'Make administrator')
    await administrate('remove-user', { userId: id })

    await page.getByRole('dialog').getByRole('button', { name: 'Make administrator' }).click()

    await page.getByRole('dialog').getByText('This account no longer exists.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })
})

describe('the audit trail', () => {
  test('shows the entries about a person, and marks refused calls', async () => {
    const ada = await createPerson()
    await failSignIn(ada.email)
    const { page, expectStatus } = await openPeople()
    expectStatus(400)

    await search(page, ada.email)
    await choose(page, ada.email, 'Show audit trail')

    const refused = entriesOf(page).filter({ hasText: 'Refused' })
    await refused.getByText('sign-in').waitFor()
    await refused.getByText(`Unknown person → ${ada.email}`).waitFor()
    expect(await focusedText(page)).toBe('Audit trail')
    expect(await page.getByRole('link', { name: 'Audit trail' }).getAttribute('aria-current')).toBe('page')
    expect(await entriesOf(page).filter({ hasText: 'sign-in' }).count()).toBe(2)
    expect(await refused.count()).toBe(1)

    await page.getByRole('textbox', { name: 'Only entries about' }).fill(newEmail())
    await page.keyboard.press('Enter')
    await page.getByText('No account has this address.').waitFor()
    expect(await page.getByRole('textbox', { name: 'Only entries about' }).getAttribute('aria-invalid')).toBe(
      'true',
    )
  })

  test('loads further entries on request, and nothing when the window receives the focus', async () => {
    for (let index = 0; index < 22; index++) await service.signIn(newEmail())
    const { page } = await openTrail()
    await entriesOf(page).nth(19).waitFor()
    expect(await entriesOf(page).count()).toBe(20)
    const requests: string[] = []
    page.on('request', (request) => {
      if (/audit|list-users/.test(request.url())) requests.push(request.url())
    })

    await page.evaluate(
      "window.dispatchEvent(new Event('focus')); document.dispatchEvent(new Event('visibilitychange'))",
    )
    await page.getByRole('button', { name: 'Load more' }).click()

    await entriesOf(page).nth(20).waitFor()
    expect(requests).toHaveLength(1)
  })

  test('keeps the tab and the filters over a reload, and returns with the Back button', async () => {
    const ada = await createPerson()
    await failSignIn(ada.email)
    const { page } = await openPeople()
    const action = page.getByRole('combobox', { name: 'Action' })
    const outcome = page.getByRole('combobox', { name: 'Outcome' })

    await page.getByRole('link', { name: 'Audit trail' }).click()
    await action.selectOption('sign-in')
    await outcome.selectOption('Refused')
    await page.getByRole('textbox', { name: 'Only entries about' }).fill(ada.email)
    await page.keyboard.press('Enter')
    await expect.poll(() => entriesOf(page).count()).toBe(1)
    await page.reload()

    await entriesOf(page).getByText(`Unknown person → ${ada.email}`).waitFor()
    expect(await entriesOf(page).count()).toBe(1)
    expect([await action.inputValue(), await outcome.inputValue()]).toEqual(['sign-in', 'refused'])
    await action.selectOption('account.delete')
    await page.getByText('No entry matches the filters.').waitFor()
    await page.goBack()
    await entriesOf(page).getByText('sign-in').waitFor()
    await page.goBack()
    await expect.poll(() => page.getByRole('textbox', { name: 'Only entries about' }).inputValue()).toBe('')
    for (let steps = 0; steps < 3; steps++) await page.goBack()
    await rowsOf(page).first().waitFor()
  })

  test('shows the browser and the system, and the whole user agent as a title', async () => {
    const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    const { page } = await openTrail({ userAgent })

    expect(await entriesOf(page).first().getByText('Firefox · Linux').getAttribute('title')).toBe(userAgent)
  })
})

test('the menu of a person works with the keyboard', async () => {
  const ada = await createPerson()
  const { page } = await openPeople()
  await findPerson(page, ada.email)
  const button = menuButtonOf(page, ada.email)
  const focusedName = () => page.locator(':focus').getAttribute('aria-label')
  await button.focus()

  await page.keyboard.press('Enter')
  await itemsOf(page, ada.email).first().waitFor()
  await page.keyboard.press('Tab')
  expect(await focusedText(page)).toBe('Act as this person')
  await page.keyboard.press('Escape')
  expect(await itemsOf(page, ada.email).count()).toBe(0)
  expect(await focusedName()).toBe(`Actions for ${ada.email}`)

  await page.keyboard.press('Enter')
  for (let items = 0; items < 3; items++) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: `Ban: ${ada.email}` }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focusedName()).toBe(`Actions for ${ada.email}`)
})

test.each(
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    [320, 390, 1280].map((width) => ({ colorScheme, width })),
  ),
)(
  'the administration has no accessibility violations, and no horizontal scrolling: $colorScheme, $width px',
  async ({ colorScheme, width }) => {
    const ada = await createPerson('x'.repeat(120))
    const { id } = await ada.client.account.get()
    await administrate('ban-user', { userId: id, banReason: 'x'.repeat(120) })
    await failSignIn(newEmail())
    const { page } = await openPeople({ colorScheme, viewport: { width, height: 640 } })
    const check = async () => {
      expect(await findViolations(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
    }
    await findPerson(page, ada.email)
    await check()

    await menuButtonOf(page, ada.email).click()
    await itemsOf(page, ada.email).first().waitFor()
    await check()

    await rowOf(page, ada.email).getByRole('button', { name: 'Unban' }).click()
    await page.getByRole('dialog').waitFor()
    await check()

    await page.goto(`${service.origin}/people?tab=trail`)
    await page.getByText('Refused').nth(1).waitFor()
    await check()
  },
)
