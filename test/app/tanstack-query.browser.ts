import { build } from 'esbuild'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import type { Client } from '../../contract/client.ts'
import { launchBrowser } from '../fixtures/browser.ts'
import { BreakableConnection } from '../../engine/test/fixtures/breakable-connection.ts'
import { sessionTokenIn } from '../../engine/test/fixtures/http.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { writeRecipe } from '../fixtures/recipe.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
let browser: Browser
let script: string

/** Bundles the application of docs/clients.md with the sources of the client package. */
async function bundleRecipe() {
  await mkdir(resolve('node_modules/.cache'), { recursive: true })
  const folder = await mkdtemp(resolve('node_modules/.cache/tallystick-recipe-'))
  await writeRecipe(folder)
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'main.tsx')],
    alias: {
      'tallystick-client': resolve('contract/client.ts'),
      'tallystick-client/query': resolve('contract/query/index.ts'),
    },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    write: false,
  })
  await rm(folder, { recursive: true })
  return outputFiles[0]?.text ?? ''
}

beforeAll(async () => {
  script = await bundleRecipe()
  browser = await launchBrowser()
})

afterAll(() => browser.close())

/** Signs in a new person. `open` opens the application in the browser, with the session of this person. */
async function signIn(origin = service.origin) {
  const email = newEmail()
  const cookie = await service.signIn(email)
  const [name = '', value = ''] = cookie.split('=')
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  await context.addCookies([{ name, value, url: origin }])
  const html = `<!doctype html><title>Recipe</title><body><script type="module" src="/recipe.js"></script>`
  await context.route(/\/recipe(\?|$)/, (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await context.route('**/recipe.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: script }),
  )
  context.setDefaultTimeout(PATIENCE.timeout)
  const page = await context.newPage()
  const open = async (query = '', window = page) => {
    await window.goto(`${origin}/recipe${query}`)
  }
  return { client: service.client({ cookie }), context, cookie, email, page, open }
}

/** Opens the page of a new task. */
async function openTask({ hasLiveUpdates = true } = {}) {
  const { client, page, open } = await signIn()
  if (!hasLiveUpdates) await page.route('**/rpc/live/watch', (route) => route.abort())
  const { id } = await client.tasks.create({ taskTitle: 'Write' })
  await open(`?task=${id}`)
  await page.getByRole('heading', { name: 'Write' }).waitFor()
  return { client, page, id }
}

async function rename(page: Page, title: string) {
  await page.getByLabel('New title').fill(title)
  await page.getByRole('button', { name: 'Rename' }).click()
}

const createTasks = async (client: Client, count: number) => {
  for (let number = 1; number <= count; number++) await client.tasks.create({ taskTitle: `Task ${number}` })
}

test('a list shows its rows, and an infinite list requests each page by the cursor of the previous page', async () => {
  const { client, page, open } = await signIn()
  await createTasks(client, 45)
  await open()

  const items = page.getByRole('list', { name: 'All tasks' }).getByRole('listitem')
  const more = page.getByRole('button', { name: 'More' })
  await page.getByText('Pending: 45').waitFor()
  await items.nth(19).waitFor()
  expect(await items.count()).toBe(20)
  await more.click()
  await items.nth(39).waitFor()
  await more.click()
  await items.nth(44).waitFor()

  expect(await items.allTextContents()).toEqual(
    Array.from({ length: 45 }, (_, index) => `Task ${45 - index}`),
  )
  expect(await more.count()).toBe(0)
})

test('an update is visible before the answer, and sends the entity tag of the task', async () => {
  const { client, page, id } = await openTask()
  const tags: (string | undefined)[] = []
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/rpc/tasks/update', async (route) => {
    tags.push(route.request().headers()['if-match'])
    await held
    await route.continue()
  })

  await rename(page, 'Read')
  await page.getByRole('heading', { name: 'Read' }).waitFor()
  expect((await client.tasks.get({ id })).title).toBe('Write')

  await rename(page, 'Sleep')
  release()
  await expect.poll(async () => (await client.tasks.get({ id })).title).toBe('Sleep')
  await page.getByRole('heading', { name: 'Sleep' }).waitFor()
  expect(tags).toEqual(['"1"', '"2"'])
})

test('an update of a task that was changed elsewhere is rejected, and the page shows the current task', async () => {
  const { client, page, id } = await openTask({ hasLiveUpdates: false })
  await client.tasks.update({ id, title: 'Changed elsewhere' })

  await rename(page, 'Lost')

  await page.getByText('The task was changed elsewhere.').waitFor()
  await page.getByRole('heading', { name: 'Changed elsewhere' }).waitFor()
  expect((await client.tasks.get({ id })).title).toBe('Changed elsewhere')
})

test('a form shows the fields that violate the schema, and a created task appears in all lists', async () => {
  const { page, open } = await signIn()
  await open()

  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByText('taskTitle: Must have at least 1 character').waitFor()
  await page.getByLabel('Title of the new task').fill('Plan')
  await page.getByRole('button', { name: 'Add' }).click()

  await page.getByRole('listitem').getByText('Plan').waitFor()
  await page.getByText('Pending: 1').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})

/** Records the RPC requests of a page: the procedure with its input. */
function recordRequests(page: Page) {
  const requests: { procedure: string; input: unknown }[] = []
  page.on('request', (request) => {
    const [, procedure] = /\/rpc\/(.*)$/.exec(request.url()) ?? []
    const body = request.postDataJSON() as { json?: unknown } | null
    if (procedure) requests.push({ procedure, input: body?.json })
  })
  return requests
}

test('changes in another window and of another client appear with requests for queries with other inputs only', async () => {
  const { client, context, page, open } = await signIn()
  await createTasks(client, 2)
  const second = await context.newPage()
  for (const window of [page, second]) {
    await open('', window)
    await window.getByRole('status').getByText('connected').waitFor()
    await window.getByText('Pending: 2').waitFor()
  }
  // The windows show this task after all requests of their start.
  await client.tasks.create({ taskTitle: 'Before' })
  for (const window of [page, second]) {
    await window.getByText('Pending: 3').waitFor()
    await window.getByRole('listitem').getByText('Before').waitFor()
  }
  const requests = recordRequests(page)

  const { count } = await client.counter.increment()
  for (const window of [page, second]) await window.getByText(`Counter: ${count}`, { exact: true }).waitFor()
  expect(requests).toEqual([])

  await second.getByLabel('Title of the new task').fill('Elsewhere')
  await second.getByRole('button', { name: 'Add' }).click()
  await page.getByText('Pending: 4').waitFor()
  await page.getByRole('listitem').getByText('Elsewhere').waitFor()
  expect(requests).toEqual([{ procedure: 'tasks/list', input: { limit: 20 } }])
})

test('a page shows changes that were made while its connection was lost', async () => {
  const connection = new BreakableConnection('127.0.0.1', Number(new URL(service.origin).port))
  onTestFinished(() => {
    connection.close()
  })
  const { client, page, open } = await signIn(`http://127.0.0.1:${await connection.listen()}`)
  await open()
  await page.getByRole('status').getByText('connected').waitFor()
  await page.getByText('Pending: 0').waitFor()

  connection.cut()
  await page.getByRole('status').getByText('connecting').waitFor()
  await client.tasks.create({ taskTitle: 'Write' })
  connection.state = 'open'

  await page.getByText('Pending: 1').waitFor()
  await page.getByRole('status').getByText('connected').waitFor()
})

test('a page asks the person to sign in again after the session is revoked', async () => {
  const { cookie, page, open, email } = await signIn()
  await open()
  await page.getByRole('status').getByText('connected').waitFor()

  const elsewhere = service.client({ cookie: await service.signIn(email) })
  await elsewhere.sessions.revoke({ revokeSessionToken: sessionTokenIn(cookie) })

  await page.getByText('Sign in again').waitFor()
  expect(await page.getByRole('status').textContent()).toBe('closed')
})
