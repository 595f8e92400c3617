import type { Locator, Page, Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import type { Client } from '../../contract/client.ts'
import { findViolations, focusedText, openApp, overflows, signOut, useBrowser } from '../fixtures/browser.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { startService } from '../fixtures/service.ts'

const service = await startService()
useBrowser()

const itemsOf = (page: Page) => page.getByRole('list', { name: 'Tasks' }).getByRole('listitem')
const itemOf = (page: Page, title: string) => itemsOf(page).filter({ hasText: title })
const button = (parent: Page | Locator, name: string) => parent.getByRole('button', { name, exact: true })

async function addTask(page: Page, title: string) {
  await page.getByRole('textbox', { name: 'New task' }).fill(title)
  await button(page, 'Add task').click()
}

const titlesOf = async (client: Client) => (await client.tasks.list()).tasks.map(({ title }) => title)

/** Opens the tasks of a new person, with these titles. The last title is the newest. */
async function openTasks(titles: string[] = []) {
  const app = await openApp(service, { path: '/tasks' })
  const ids = []
  for (const taskTitle of titles) ids.push((await app.client.tasks.create({ taskTitle })).id)
  for (const title of titles) await itemOf(app.page, title).waitFor()
  return { ...app, id: ids[0] ?? 0 }
}

type Tasks = Awaited<ReturnType<typeof openTasks>>

/** Slows down all timers that the page starts from now on, so that the time to undo a deletion does not end. */
const slowDownTimers = (page: Page) =>
  page.evaluate(`{
    const { setTimeout } = window
    window.setTimeout = (run, time, ...values) => setTimeout(run, 100 * time, ...values)
  }`)

/** Holds the requests of a procedure. The returned function makes all of them fail, without an answer of the service. */
async function hold(page: Page, procedure: string) {
  let fail: () => void = () => undefined
  const isOver = new Promise<void>((resolve) => (fail = resolve))
  await page.route(`**/rpc/tasks/${procedure}`, async (route) => {
    await isOver
    await route.abort('aborted')
  })
  return fail
}

describe('a list of tasks', () => {
  test('explains how to begin, and shows a new task, which remains after a reload', async () => {
    const { page } = await openTasks()
    await page.getByText('You have no tasks.').waitFor()

    await addTask(page, 'Write')

    await itemOf(page, 'Write').getByRole('checkbox', { name: 'Done' }).waitFor()
    await page.getByRole('status').getByText('1 task', { exact: true }).waitFor()
    expect(await page.getByRole('textbox', { name: 'New task' }).inputValue()).toBe('')
    await page.reload()
    await itemOf(page, 'Write').waitFor()
  })

  test('has checkboxes with a target of 44 px for fingers', async () => {
    const { page, client } = await openApp(service, {
      path: '/tasks',
      viewport: { width: 390, height: 800 },
      hasTouch: true,
      isMobile: true,
    })
    await client.tasks.create({ taskTitle: 'Write' })
    const checkbox = itemOf(page, 'Write').getByRole('checkbox')
    await checkbox.waitFor()
    const { x = 0, y = 0, width = 0, height = 0 } = (await checkbox.boundingBox()) ?? {}
    await page.touchscreen.tap(x + width / 2 + 20, y + height / 2 - 20)
    await expect.poll(() => checkbox.isChecked()).toBe(true)
  })

  test('adds, completes, edits and deletes a task with the keyboard alone', async () => {
    const { page, client } = await openTasks()
    await page.getByRole('textbox', { name: 'New task' }).focus()
    await page.keyboard.type('First')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Second')
    await page.keyboard.press('Enter')
    await itemOf(page, 'Second').getByRole('checkbox').focus()
    await page.keyboard.press('Space')
    await expect.poll(async () => (await client.tasks.list({ status: 'completed' })).taskCount).toBe(1)

    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Title' }).waitFor()
    await page.keyboard.type(' changed')
    await page.keyboard.press('Enter')
    await itemOf(page, 'Second changed').waitFor()
    await expect.poll(() => focusedText(page)).toBe('Edit')

    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => itemsOf(page).count()).toBe(1)
    const focused = itemOf(page, 'First').locator(':focus')
    expect(await focused.textContent()).toBe('Delete')
    await page.keyboard.press('Control+z')
    await itemOf(page, 'Second changed').waitFor()
  })

  test('adds a task with a description', async () => {
    const { page, client } = await openTasks()
    expect(await page.getByRole('textbox', { name: 'Description' }).count()).toBe(0)
    await page.getByRole('textbox', { name: 'New task' }).focus()
    await page.getByRole('textbox', { name: 'Description' }).fill('For Monday')
    await addTask(page, 'Write')

    await itemOf(page, 'Write').getByText('For Monday').waitFor()
    expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('')
    expect((await client.tasks.list()).tasks).toMatchObject([{ title: 'Write', description: 'For Monday' }])
  })

  test('keeps filter and search in the address, for a reload and the Back button', async () => {
    const { page } = await openTasks(['Buy milk', 'Call Ada'])
    await page.getByRole('searchbox', { name: 'Search' }).fill('milk')
    await itemOf(page, 'Call Ada').waitFor({ state: 'detached' })
    await page.getByRole('combobox', { name: 'Show' }).selectOption('pending')
    await page.waitForURL('**/tasks?q=milk&status=pending')

    await page.reload()
    await itemOf(page, 'Buy milk').waitFor()
    expect(await itemsOf(page).count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Delete all tasks' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Devices', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
    await page.goBack()

    await page.getByRole('searchbox', { name: 'Search' }).and(page.locator('[value=milk]')).waitFor()
    expect(await itemsOf(page).count()).toBe(1)
  })

  test('searches titles and descriptions, and shows everything again after a new task', async () => {
    const { page } = await openTasks(['Buy milk', 'Call Ada'])
    const search = page.getByRole('searchbox', { name: 'Search' })

    await search.fill('MILK')
    await expect.poll(() => itemsOf(page).count()).toBe(1)
    await page.getByRole('status').getByText('1 task', { exact: true }).waitFor()
    await search.fill('bread')
    await page.getByText('Nothing contains this text.').waitFor()
    expect(await findViolations(page)).toEqual([])
    await addTask(page, 'Sleep')

    await expect.poll(() => itemsOf(page).count()).toBe(3)
    expect(await search.inputValue()).toBe('')
  })

  test('shows the tasks of one status', async () => {
    const { page, client, id } = await openTasks(['Started', 'Finished', 'Waiting'])
    await client.tasks.update({ id, status: 'in_progress' })
    await itemOf(page, 'Finished').getByRole('checkbox', { name: 'Done' }).check()
    await itemOf(page, 'Started').getByText('In progress').waitFor()

    const filter = page.getByRole('combobox', { name: 'Show' })
    for (const [status, title] of [
      ['Open', 'Waiting'],
      ['In progress', 'Started'],
      ['Done', 'Finished'],
    ] as const) {
      await filter.selectOption(status)
      await expect.poll(() => itemsOf(page).getByRole('checkbox').count()).toBe(1)
      await itemOf(page, title).waitFor()
    }

    // Not uncheck(), which reads the state of the checkbox after the click: the item can be removed by then.
    await itemOf(page, 'Finished').getByRole('checkbox', { name: 'Done' }).click()
    await page.getByText('No task has this status.').waitFor()
    await addTask(page, 'Another')
    await itemOf(page, 'Another').waitFor()
    expect(await itemsOf(page).count()).toBe(4)
  })

  test('shows changes by another device of the person without a reload, and no tasks of another person', async () => {
    const { page, email } = await openTasks(['Local'])
    const elsewhere = await openApp(service, { path: '/tasks', email })
    const other = await openApp(service, { path: '/tasks' })

    await addTask(elsewhere.page, 'Elsewhere')
    await itemOf(page, 'Elsewhere').waitFor()
    await itemOf(page, 'Local').getByRole('checkbox').check()
    await expect.poll(() => itemOf(elsewhere.page, 'Local').getByRole('checkbox').isChecked()).toBe(true)
    await addTask(other.page, 'Private')
    await itemOf(other.page, 'Private').waitFor()
    expect(await itemsOf(page).count()).toBe(2)
    expect(await itemsOf(other.page).count()).toBe(1)
  })

  test('shows HTML, bidirectional characters and 120 emoji as text', async () => {
    const { page } = await openTasks()
    const titles = ['<img src=x onerror=alert(1)>', '\u202Egnp.exe', '😀'.repeat(120)]
    for (const title of titles) {
      await addTask(page, title)
      const text = itemOf(page, title).locator('bdi')
      await itemOf(page, title).getByRole('checkbox').waitFor()
      expect(await text.textContent()).toBe(title)
    }
    expect(await page.locator('main img').count()).toBe(0)
    expect(await overflows(page)).toBe(false)
  })

  test('shows 500 tasks: requests further pages during scrolling', async () => {
    const { page, client } = await openTasks()
    const numbers = Array.from({ length: 500 }, (_, index) => index + 1)
    for (const number of numbers) await client.tasks.create({ taskTitle: `Task ${number}.` })
    await page.reload()
    await itemOf(page, 'Task 500.').waitFor()
    await page.getByRole('status').getByText('500 tasks').waitFor()
    expect(await itemsOf(page).count()).toBeLessThan(300)

    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 5000)
        return itemsOf(page).count()
      })
      .toBe(500)
    expect(await button(page, 'Show more').count()).toBe(0)

    const last = itemOf(page, 'Task 1.')
    await last.getByRole('checkbox').check()
    await expect.poll(async () => (await client.tasks.list({ status: 'completed' })).taskCount).toBe(1)
  })

  test('requests the next page when the browser reports several movements of the button together', async () => {
    const { page, client } = await openTasks()
    for (let number = 1; number <= 120; number++) await client.tasks.create({ taskTitle: `Task ${number}.` })
    await page.addInitScript(`{
      const { IntersectionObserver } = window
      window.IntersectionObserver = class extends IntersectionObserver {
        constructor(callback, options) {
          super((entries, observer) => {
            const [{ target }] = entries
            callback([{ target, isIntersecting: false }, ...entries], observer)
          }, options)
        }
      }
    }`)
    await page.reload()
    await itemOf(page, 'Task 120.').waitFor()

    await page.mouse.wheel(0, 50_000)

    await itemOf(page, 'Task 1.').waitFor()
  })
})

describe('a change', () => {
  test('is visible before the service has answered, and is reverted if the service refuses the change', async () => {
    const { page, client } = await openTasks(['Write'])
    const fail = await hold(page, 'update')

    await itemOf(page, 'Write').getByRole('checkbox').click()
    expect(await itemOf(page, 'Write').getByRole('checkbox').isChecked()).toBe(true)
    expect((await client.tasks.list({ status: 'completed' })).taskCount).toBe(0)
    fail()

    await itemOf(page, 'Write').getByRole('alert').getByText('The service does not answer.').waitFor()
    expect(await itemOf(page, 'Write').getByRole('checkbox').isChecked()).toBe(false)
  })

  test('of a new task is visible before the service has answered, and the text is returned if it fails', async () => {
    const { page, client } = await openTasks(['First'])
    const fail = await hold(page, 'create')

    await addTask(page, 'Second')
    await itemOf(page, 'Second').waitFor()
    expect(await titlesOf(client)).toEqual(['First'])
    fail()

    await page.getByRole('alert').getByText('The service does not answer.').waitFor()
    expect(await itemOf(page, 'Second').count()).toBe(0)
    expect(await page.getByRole('textbox', { name: 'New task' }).inputValue()).toBe('Second')
  })

  test('of a title that is too long is not sent, and the field names the bound', async () => {
    const { page, client } = await openTasks()
    await addTask(page, 'x'.repeat(501))

    await page.getByText('500 characters at most.').waitFor()
    const field = page.getByRole('textbox', { name: 'New task' })
    expect(await field.inputValue()).toHaveLength(501)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await titlesOf(client)).toEqual([])
  })
})

test.each([
  ['en', 'left', 'מעבר'],
  ['ar', 'right', 'Buy milk'],
])('in %s, a title and a description of the other direction start at the %s', async (locale, side, text) => {
  const { page, client } = await openApp(service, { path: '/tasks', locale })
  await client.tasks.create({ taskTitle: text, taskDesc: text })
  await page.getByText(text).nth(1).waitFor()
  // The texts, not their boxes.
  const edges = await page.evaluate<
    number[]
  >(`[...document.querySelectorAll('.task bdi, .task .text')].map((element) => {
    const range = document.createRange()
    range.selectNodeContents(element)
    return Math.round(range.getBoundingClientRect().${side})
  })`)
  expect(edges).toHaveLength(2)
  expect(edges[0]).toBe(edges[1])
})

describe('keys', () => {
  test('search, add, save and cancel', async () => {
    const { page, client } = await openTasks(['First'])
    await page.keyboard.press('/')
    await page.getByRole('searchbox', { name: 'Search' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('n/')
    expect(await page.getByRole('searchbox', { name: 'Search' }).inputValue()).toBe('n/')
    await page.getByRole('searchbox', { name: 'Search' }).fill('')
    await page.getByRole('searchbox', { name: 'Search' }).blur()

    await page.keyboard.press('n')
    await page.keyboard.type('Second')
    await page.keyboard.press('Tab')
    await page.keyboard.type('For Monday')
    await page.keyboard.press('Control+Enter')
    await itemOf(page, 'Second').getByText('For Monday').waitFor()

    await button(itemOf(page, 'First'), 'Edit').click()
    const title = page.getByRole('textbox', { name: 'Title' })
    await title.fill('Changed')
    await page.keyboard.press('Escape')
    await title.waitFor({ state: 'detached' })
    await itemOf(page, 'First').waitFor()

    await button(itemOf(page, 'First'), 'Edit').click()
    await title.fill('Changed')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Control+Enter')
    await itemOf(page, 'Changed').waitFor()
    expect(await titlesOf(client)).toEqual(['Second', 'Changed'])
  })

  test('are listed, and those without Ctrl can be switched off', async () => {
    const { page } = await openTasks(['First'])
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await page.keyboard.press('?')
    await keys.getByText('Ctrl + Enter').waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.keyboard.press('Space')
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'hidden' })

    await page.keyboard.press('n')
    expect(await page.getByRole('textbox', { name: 'New task' }).and(page.locator(':focus')).count()).toBe(0)

    await page.locator('[popovertarget=settings]').click()
    await button(page, 'Keyboard shortcuts').click()
    await keys.getByRole('checkbox').check()
    await page.keyboard.press('Escape')
    await page.keyboard.press('n')
    await page.getByRole('textbox', { name: 'New task' }).and(page.locator(':focus')).waitFor()
  })
})

describe('without a connection', () => {
  test('changes are marked, and are sent when the connection is back', async () => {
    const { page, context, client } = await openTasks(['First'])
    await context.setOffline(true)
    await page.getByText('You are offline').waitFor()

    await addTask(page, 'Second')
    await itemOf(page, 'Second').getByText('Waiting for the connection').waitFor()
    await itemOf(page, 'First').getByRole('checkbox').check()
    await itemOf(page, 'First').getByText('Waiting for the connection').waitFor()
    await button(itemOf(page, 'First'), 'Edit').click()
    await page.getByRole('textbox', { name: 'Title' }).fill('Changed')
    await button(page, 'Save').click()
    await page.getByText('Waiting for the connection').nth(1).waitFor()
    expect(await findViolations(page)).toEqual([])
    await context.setOffline(false)

    await itemOf(page, 'Changed').getByRole('checkbox', { checked: true }).waitFor()
    await expect
      .poll(async () => (await titlesOf(client)).toSorted(), PATIENCE)
      .toEqual(['Changed', 'Second'])
    expect(await page.getByText('Waiting for the connection').count()).toBe(0)
  })
})

describe('a deletion', () => {
  test('can be undone before it is sent', async () => {
    const { page, client } = await openTasks(['First', 'Second'])
    await slowDownTimers(page)
    await button(itemOf(page, 'First'), 'Delete').click()
    await button(itemOf(page, 'Second'), 'Delete').click()
    await page.getByRole('status').getByText('2 tasks deleted.').waitFor()
    await page.getByText('You have no tasks.').waitFor()

    await button(page, 'Undo').click()

    await itemOf(page, 'First').waitFor()
    await itemOf(page, 'Second').waitFor()
    // The button had the focus, and has disappeared.
    await itemOf(page, 'Second').getByRole('checkbox').and(page.locator(':focus')).waitFor()
    expect(await button(page, 'Undo').count()).toBe(0)
    expect(await titlesOf(client)).toHaveLength(2)
  })

  test('is sent after a few seconds', async () => {
    const { page, client } = await openTasks(['First', 'Second'])
    const sentAt = page.waitForRequest('**/rpc/tasks/delete').then(() => Date.now())
    const clickedAt = Date.now()
    await button(itemOf(page, 'First'), 'Delete').click()
    await itemOf(page, 'First').waitFor({ state: 'detached' })
    expect((await sentAt) - clickedAt).toBeGreaterThan(3000)

    await expect.poll(() => titlesOf(client), PATIENCE).toEqual(['Second'])
    await button(page, 'Undo').waitFor({ state: 'detached' })
    expect(await itemsOf(page).count()).toBe(1)
  })

  test.each([
    ['the person leaves the page', ({ page }: Tasks) => page.goto('about:blank')],
    ['the person closes the page', ({ page }: Tasks) => page.close({ runBeforeUnload: true })],
    [
      'the person signs out',
      async (app: Tasks) => {
        await signOut(app)
        // The sign-out continues after the deletion. Chromium sometimes does not close a page that is being loaded.
        await button(app.page, 'Send code').waitFor()
      },
    ],
    [
      'the page is hidden',
      ({ page }: Tasks) =>
        page.evaluate(`
          Object.defineProperty(document, 'visibilityState', { value: 'hidden' })
          document.dispatchEvent(new Event('visibilitychange'))`),
    ],
  ])('is sent at once if %s', async (_, leave) => {
    const tasks = await openTasks(['First', 'Second'])
    const { page, email } = tasks
    const client = service.client({ cookie: await service.signIn(email) })
    await slowDownTimers(page)
    await button(itemOf(page, 'First'), 'Delete').click()
    await button(page, 'Undo').waitFor()

    await leave(tasks)

    await expect.poll(() => titlesOf(client), PATIENCE).toEqual(['Second'])
  })

  test('can be undone in another view', async () => {
    const { page, client } = await openTasks(['First', 'Second'])
    await slowDownTimers(page)
    await button(itemOf(page, 'First'), 'Delete').click()
    await page.getByRole('link', { name: 'Notes' }).click()
    await page.getByRole('textbox', { name: 'Body' }).waitFor()

    await button(page, 'Undo').click()

    await page.getByRole('main').and(page.locator(':focus')).waitFor()
    await page.getByRole('link', { name: 'Tasks' }).click()
    await itemOf(page, 'First').waitFor()
    expect(await titlesOf(client)).toHaveLength(2)
  })

  test('waits while the pointer or the focus is on the message', async () => {
    const { page, client } = await openTasks(['First'])
    // Without animations, the clock of the page decides when the time ends.
    await page.clock.install()
    await button(itemOf(page, 'First'), 'Delete').click()
    const undo = button(page, 'Undo')

    await undo.hover()
    await page.clock.runFor(60_000)
    await undo.focus()
    await page.mouse.move(0, 0)
    await page.clock.runFor(60_000)
    expect(await titlesOf(client)).toEqual(['First'])
    await undo.blur()
    await page.clock.runFor(60_000)

    await expect.poll(() => titlesOf(client), PATIENCE).toEqual([])
  })

  test('waits for the connection', async () => {
    const { page, context, client } = await openTasks(['First'])
    await page.clock.install()
    await button(itemOf(page, 'First'), 'Delete').click()
    await context.setOffline(true)
    await page.clock.runFor(60_000)
    await button(page, 'Undo').waitFor()

    await context.setOffline(false)
    await page.getByText('Connected again').waitFor()
    await page.clock.runFor(60_000)

    await expect.poll(() => titlesOf(client), PATIENCE).toEqual([])
  })

  test('that fails is announced, and the task is visible again', async () => {
    const { page } = await openTasks(['First'])
    await page.route('**/rpc/tasks/delete', (route) => route.abort('aborted'))
    await button(itemOf(page, 'First'), 'Delete').click()

    await page.getByRole('alert').getByText('The service does not answer.').waitFor()
    await itemOf(page, 'First').waitFor()
  })

  test('of all tasks requires a confirmation', async () => {
    const { page, client } = await openTasks(['First', 'Second'])
    const dialog = page.getByRole('dialog', { name: 'Delete all tasks' })
    await button(page, 'Delete all tasks').click()
    await button(dialog, 'Cancel').click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.locator(':focus').textContent()).toBe('Delete all tasks')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await titlesOf(client)).toHaveLength(2)

    await button(page, 'Delete all tasks').click()
    await button(dialog, 'Delete all tasks').click()
    await page.getByText('You have no tasks.').waitFor()
    expect(await titlesOf(client)).toEqual([])
  })
})

describe('during editing', () => {
  /** Opens the form of a task, and enters another title. */
  async function edit() {
    const app = await openTasks(['Plan'])
    await button(itemOf(app.page, 'Plan'), 'Edit').click()
    await app.page.getByRole('textbox', { name: 'Title' }).fill('My plan')
    return { ...app, current: () => app.client.tasks.get({ id: app.id }) }
  }

  test('title, description and status change', async () => {
    const { page, current } = await edit()
    await itemsOf(page).getByRole('textbox', { name: 'Description' }).fill('For Monday')
    await page.getByRole('combobox', { name: 'Status' }).selectOption('In progress')
    await button(page, 'Save').click()

    await itemOf(page, 'My plan').getByText('For Monday').waitFor()
    expect(await current()).toMatchObject({
      title: 'My plan',
      description: 'For Monday',
      status: 'in_progress',
    })
  })

  test('a change by the person immediately before is not a change elsewhere', async () => {
    const { page, client, expectStatus } = await openTasks(['Plan'])
    // The page learns of the change from the list alone, which arrives after the click.
    expectStatus(503)
    await page.route('**/rpc/live/watch', (route) => route.fulfill({ status: 503, json: {} }))
    await page.reload()
    await itemOf(page, 'Plan').waitFor()
    const answers: string[] = []
    let answer: () => void = () => undefined
    const isClicked = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/rpc/tasks/list*', async (route) => {
      await isClicked
      answers.push('list')
      await route.continue()
    })
    await page.route('**/rpc/tasks/get*', async (route) => {
      answers.push('get')
      await route.continue()
    })

    await itemOf(page, 'Plan').getByRole('checkbox').click()
    await expect.poll(async () => (await client.tasks.list({ status: 'completed' })).taskCount).toBe(1)
    await button(itemOf(page, 'Plan'), 'Edit').click()
    await itemOf(page, 'Plan').locator('button[aria-busy=true]').waitFor()
    answer()
    await page.getByRole('textbox', { name: 'Title' }).waitFor()
    expect(answers[0]).toBe('list')
    await page.getByRole('textbox', { name: 'Title' }).fill('My plan')
    await page.keyboard.press('Enter')

    await itemOf(page, 'My plan').getByRole('checkbox').waitFor()
  })

  test('a change elsewhere is announced with both versions, and Save does not overwrite the change', async () => {
    const { page, client, id, current } = await edit()
    await client.tasks.update({ id, title: 'Their plan' })
    await page.getByRole('alert').getByText('This task was changed elsewhere.').waitFor()
    await page.getByText('Their plan').waitFor()

    await button(page, 'Save').click()
    expect((await current()).title).toBe('Their plan')
    await button(page, 'Keep mine').click()
    await itemOf(page, 'My plan').getByRole('checkbox').waitFor()
    expect((await current()).title).toBe('My plan')
  })

  /** Changes the task elsewhere, immediately before the request arrives at the service. The page does not know the change. */
  async function changeBeforeSave({ page, client, id }: Awaited<ReturnType<typeof edit>>) {
    const onSave = async (route: Route) => {
      await client.tasks.update({ id, title: 'Their plan' })
      await route.continue()
    }
    await page.route('**/rpc/tasks/update', onSave, { times: 1 })
    await button(page, 'Save').click()
  }

  test.each([
    ['Keep mine', 'My plan'],
    ['Take theirs', 'Their plan'],
  ])('the service refuses to overwrite a change, and the person chooses: %s', async (choice, title) => {
    const app = await edit()
    const { page, current, expectStatus } = app
    expectStatus(412)
    await changeBeforeSave(app)

    const versions = itemsOf(page).locator('.versions')
    await versions.getByText('My plan').waitFor()
    await versions.getByText('Their plan').waitFor()
    expect((await current()).title).toBe('Their plan')

    await button(page, choice).click()
    await itemOf(page, title).getByRole('checkbox').waitFor()
    expect((await current()).title).toBe(title)
    expect(await itemsOf(page).count()).toBe(1)
  })

  test('the text survives the deletion of the task elsewhere', async () => {
    const { page, client, id, expectStatus } = await edit()
    expectStatus(404)
    await client.tasks.delete({ id })
    await page.getByText('1 task', { exact: true }).waitFor({ state: 'detached' })
    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('My plan')

    await button(page, 'Save').click()
    await page.getByRole('alert').getByText('This task was deleted elsewhere.').waitFor()
    await button(page, 'Save as a new task').click()

    await itemOf(page, 'My plan').getByRole('checkbox').waitFor()
    expect(await titlesOf(client)).toEqual(['My plan'])
  })

  test('the task remains if the filter no longer contains it', async () => {
    const { page, client, id } = await edit()
    await page.getByRole('combobox', { name: 'Show' }).selectOption('Open')
    await client.tasks.update({ id, status: 'completed' })
    await page.getByRole('status').getByText('0 tasks').waitFor()

    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('My plan')
  })
})

describe.each([
  ['light', 1200],
  ['dark', 360],
  ['light', 320],
  ['dark', 320],
] as const)('in %s colors, %d pixels wide,', (colorScheme, width) => {
  test('the tasks are accessible, and do not scroll horizontally', async () => {
    const { page, client } = await openApp(service, {
      path: '/tasks',
      colorScheme,
      viewport: { width, height: 800 },
    })
    const check = async () => {
      expect(await findViolations(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
    }
    await page.getByText('You have no tasks.').waitFor()
    await check()

    const { id } = await client.tasks.create({ taskTitle: 'x'.repeat(200), taskDesc: 'y'.repeat(300) })
    await client.tasks.create({ taskTitle: 'Second' })
    await client.tasks.update({ id, status: 'in_progress' })
    await itemsOf(page).nth(1).getByText('In progress').waitFor()
    await itemOf(page, 'Second').getByRole('checkbox').check()
    await check()

    await button(itemOf(page, 'xxx'), 'Edit').click()
    await page.getByRole('textbox', { name: 'Title' }).fill('Mine')
    await client.tasks.update({ id, title: 'z'.repeat(200) })
    await button(page, 'Keep mine').waitFor()
    await button(itemOf(page, 'Second'), 'Delete').click()
    await button(page, 'Undo').waitFor()
    await check()

    await button(page, 'Delete all tasks').click()
    await page.getByRole('dialog').waitFor()
    await check()
  })
})
