import type { Dialog, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { openApp, useBrowser } from '../fixtures/browser.ts'
import { codeSentTo } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
useBrowser()

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const open = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click()
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })

/**
 * Lets the page itself load another page. If a tab is closed, the browser asks only if its own process already knows that the
 * page wants a question, and this message of the page can come later than the text.
 */
const leave = (page: Page) => page.evaluate('location.assign("/docs")')

interface Form {
  view: string
  /** The name of the field. */
  name: string
  /** The name of the button that opens the form. */
  opener?: string
  save: string
}

const newTask: Form = { view: 'Tasks', name: 'New task', save: 'Add task' }

/** The forms in which a person writes texts. */
const forms: Record<string, Form> = {
  'a new task': newTask,
  'an edited task': { view: 'Tasks', name: 'Title', opener: 'Edit', save: 'Save' },
  'a new note': { view: 'Notes', name: 'Title', save: 'Save note' },
  'an edited note': { view: 'Notes', name: 'Title', opener: 'Edit', save: 'Save note' },
}
const TEXT = 'Not saved yet'

/** Holds the requests that save until the returned function is called. They are then sent, or answered with `answer`. */
async function hold(page: Page, answer?: { status: number; json: object }) {
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route(/\/rpc\/(tasks|notes)\/(create|update)/, async (route) => {
    await released
    await (answer ? route.fulfill(answer) : route.continue())
  })
  return release
}

/** Opens a form, and enters TEXT. */
async function write({ view, name, opener }: Form) {
  const app = await openApp(service)
  const { page, client } = app
  if (opener && view === 'Tasks') await client.tasks.create({ taskTitle: 'Old' })
  if (opener && view === 'Notes') await client.notes.create({ title: 'Old', body: '' })
  await open(page, view)
  if (opener) await press(page, opener)
  await field(page, name).fill(TEXT)
  return app
}

describe.each(Object.entries(forms))('the text of %s', (_, form) => {
  test('is kept while another view is open, and can be saved', async () => {
    const { page } = await write(form)

    await open(page, 'Home')
    await page.getByRole('status', { name: 'Counter' }).waitFor()
    await open(page, form.view)

    await expect.poll(() => field(page, form.name).inputValue()).toBe(TEXT)
    await press(page, form.save)
    await page.getByRole('listitem').getByText(TEXT).waitFor()
    await open(page, 'Home')
    await open(page, form.view)
    await page.getByRole('listitem').getByText(TEXT).waitFor()
    expect(await page.getByRole('listitem').getByRole('textbox').count()).toBe(0)
  })

  test('is not offered again if the service saves it while another view is open', async () => {
    const { page } = await write(form)
    const release = await hold(page)
    await press(page, form.save)
    await open(page, 'Home')
    await open(page, form.view)
    await page.getByRole('heading', { name: form.view, exact: true }).waitFor()

    release()

    await page.getByRole('listitem').getByText(TEXT).waitFor()
    await expect.poll(() => page.locator(`li input[type=text], li textarea`).count()).toBe(0)
    await expect.poll(() => page.locator(`input[value="${TEXT}"]`).count()).toBe(0)
    expect(await page.getByText('Keep mine').count()).toBe(0)
  })

  test('is kept for the same person, and not for others, if the session ends elsewhere', async () => {
    const { page, email, client, expectStatus } = await write(form)
    expectStatus(401)
    const { token } = (await client.sessions.list()).sessions[0] ?? { token: '' }
    const other = service.client({ cookie: await service.signIn(email) })
    await other.sessions.revoke({ revokeSessionToken: token })
    await page.getByText('Your session has ended.').waitFor()

    await signInAgain(page, email)
    await expect.poll(() => field(page, form.name).inputValue()).toBe(TEXT)

    await other.sessions.revokeOthers()
    await page.getByText('Your session has ended.').waitFor()
    await signInAgain(page, newEmail())
    await page.getByRole('heading', { name: form.view, exact: true }).waitFor()
    expect(await page.getByText(TEXT).count()).toBe(0)
    expect(await page.locator(`input[value="${TEXT}"]`).count()).toBe(0)
  })

  test('is not discarded without a question', async () => {
    const { page, client } = await write(form)
    const questions: Dialog[] = []
    page.on('dialog', (dialog) => {
      questions.push(dialog)
      void dialog.dismiss()
    })

    await leave(page)
    await expect.poll(() => questions.map((dialog) => dialog.type())).toEqual(['beforeunload'])
    await press(page, 'Sign out')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Text that you have not saved will be lost.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    expect(await field(page, form.name).inputValue()).toBe(TEXT)
    expect(await client.account.get()).toBeDefined()
  })
})

test('a text that was not saved is not shown to the next person', async () => {
  const { page, email, expectStatus } = await write(newTask)
  expectStatus(401)
  expectStatus(503)
  const release = await hold(page, { status: 503, json: {} })
  await press(page, newTask.save)
  await service.client({ cookie: await service.signIn(email) }).sessions.revokeOthers()
  await page.getByText('Your session has ended.').waitFor()
  await signInAgain(page, newEmail())
  await page.getByText('You have no tasks.').waitFor()

  const failed = page.waitForResponse((response) => response.status() === 503)
  release()

  await failed
  expect(await field(page, 'New task').inputValue()).toBe('')
  expect(await page.getByText(TEXT).count()).toBe(0)
})

test.each(['a new note', 'an edited note', 'an edited task'])(
  'text that a person writes while %s is being saved is kept',
  async (name) => {
    const form = forms[name] ?? newTask
    const { page, client } = await write(form)
    const release = await hold(page)
    await press(page, form.save)
    await field(page, form.name).fill('Continued')

    release()

    const saved = async () => [
      ...(await client.tasks.list()).tasks.map(({ title }) => title),
      ...(await client.notes.list()).notes.map(({ title }) => title),
    ]
    await expect.poll(saved).toEqual([TEXT])
    await page
      .getByRole('button', { name: form.save, exact: true })
      .and(page.locator(':not([aria-busy=true])'))
      .waitFor()
    expect(await field(page, form.name).inputValue()).toBe('Continued')
    expect(await page.getByText('Keep mine').count()).toBe(0)
  },
)

test('a note is not created twice', async () => {
  const form = forms['a new note'] ?? newTask
  const { page, client } = await write(form)
  const release = await hold(page)
  await press(page, form.save)
  await open(page, 'Home')
  await open(page, form.view)

  const button = page.getByRole('button', { name: form.save })
  expect(await button.getAttribute('aria-busy')).toBe('true')
  await button.press('Enter')
  await field(page, form.name).press('Enter')
  release()

  await page.getByRole('listitem').getByText(TEXT).waitFor()
  expect((await client.notes.list()).notes).toHaveLength(1)
})

test('the browser asks before a page with an unsent change closes', async () => {
  const { page } = await write(newTask)
  const questions: string[] = []
  page.on('dialog', (dialog) => {
    questions.push(dialog.type())
    void dialog.dismiss()
  })
  const release = await hold(page)
  await press(page, newTask.save)

  await leave(page)

  await expect.poll(() => questions).toEqual(['beforeunload'])
  release()
  await page.getByRole('checkbox').waitFor()
})

test('a person signs out after a question, and no text remains', async () => {
  const { page, email, expectStatus } = await write(newTask)
  expectStatus(401)
  const questions: string[] = []
  page.on('dialog', (dialog) => {
    questions.push(dialog.type())
    void dialog.accept()
  })
  await press(page, 'Sign out')
  await page.getByRole('dialog').getByRole('button', { name: 'Discard the text' }).click()
  await page.getByRole('link', { name: 'Tasks' }).waitFor({ state: 'detached' })

  await page.goto(`${service.origin}/tasks`)
  await signInAgain(page, email)

  expect(await field(page, 'New task').inputValue()).toBe('')
  expect(questions).toEqual([])
})

test('a page without unsaved texts closes without a question', async () => {
  const { page } = await write(newTask)
  const questions: string[] = []
  page.on('dialog', (dialog) => {
    questions.push(dialog.type())
    void dialog.accept()
  })
  await press(page, 'Add task')
  await page.getByRole('checkbox').waitFor()

  const closed = page.waitForEvent('close')
  await page.close({ runBeforeUnload: true })
  await closed

  expect(questions).toEqual([])
})

async function signInAgain(page: Page, email: string) {
  await field(page, 'E-mail').fill(email)
  await press(page, 'Send code')
  await field(page, 'Code').waitFor()
  await field(page, 'Code').fill(codeSentTo(service, email) ?? '')
  await press(page, 'Sign in')
}
