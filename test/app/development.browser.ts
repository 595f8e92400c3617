import { describe, expect, test } from 'vitest'

import { createRawFetch } from '../../engine/test/fixtures/http.ts'
import { startConsole } from '../../engine/test/fixtures/console.ts'
import { app } from '../../src/app.ts'
import {
  findViolations,
  forbidProblems,
  openApp,
  openContext,
  overflows,
  useBrowser,
} from '../fixtures/browser.ts'
import { startService } from '../fixtures/service.ts'

const { client, service } = await startConsole({ DATABASE_URL: 'memory:' }, app)
const withoutConsole = await startService({ DATABASE_URL: 'memory:' })
useBrowser()

/** Opens the page of a service in development. */
async function openPage(path: string, options: Parameters<typeof openContext>[0] = {}) {
  const context = await openContext(options)
  forbidProblems(context, service.origin)
  const page = await context.newPage()
  await page.goto(service.origin + path)
  await page.getByRole('contentinfo').waitFor()
  return page
}

/** Opens a view as Ada, whom the console signs in. */
async function openAsAda(path: string) {
  const { url } = await client.people.signIn({ person: 'ada' })
  const context = await openContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.goto(service.origin + path)
  return page
}

describe('in development', () => {
  test('/ says what the service is for, and a copied command moves the counter', async () => {
    const page = await openPage('/', { permissions: ['clipboard-read', 'clipboard-write'] })
    const developers = page.getByRole('complementary', { name: 'For developers' })
    await developers.getByText('Tallystick is a framework for backends in TypeScript').waitFor()

    await developers.getByRole('button', { name: 'Copy the code for REST' }).click()
    await developers.getByText('Copied.').waitFor()
    const [, method = '', url = ''] =
      /^curl -X (\S+) (\S+)$/.exec(await page.evaluate<string>('navigator.clipboard.readText()')) ?? []
    await createRawFetch({ origin: '' })(method, url)

    await page.getByRole('status', { name: 'Counter' }).getByText('1', { exact: true }).waitFor()
    expect(await findViolations(page)).toEqual([])
    expect(await developers.getByRole('link', { name: 'Console' }).getAttribute('href')).toBe(
      '/api/development/console',
    )
    expect(await developers.getByRole('link', { name: 'API reference' }).getAttribute('href')).toBe('/docs')
  })

  test('no part for developers is wider than a phone', async () => {
    const page = await openPage('/', { viewport: { width: 320, height: 640 } })
    await page.getByText('curl -X POST').waitFor()

    expect(await overflows(page)).toBe(false)
  })

  test('an empty list adds sample data, which every list shows', async () => {
    const page = await openAsAda('/tasks')
    await page.getByText('You have no tasks.').waitFor()
    expect(await findViolations(page)).toEqual([])

    await page.getByRole('button', { name: 'Add sample data' }).click()

    await page.getByRole('list', { name: 'Tasks' }).getByText('Order tea for forty').waitFor()
    await page.getByRole('link', { name: 'Notes' }).click()
    await page.getByRole('list', { name: 'Notes' }).getByText('Who is coming').waitFor()
    await page.getByRole('searchbox').fill('Nothing like this')
    await page.getByText('Nothing contains this text.').waitFor()
    expect(await page.getByRole('button', { name: 'Add sample data' }).count()).toBe(0)
  })
})

describe('without the console, as in production,', () => {
  test('/ speaks to people only', async () => {
    const { page } = await openApp(withoutConsole, { email: '' })
    await page.getByRole('button', { name: 'Increment' }).waitFor()

    const text = await page.locator('main').innerText()

    expect(text).toContain('Tallystick keeps a shared counter')
    expect(text).not.toMatch(/curl|developer|console/i)
  })

  test('an empty list offers no sample data', async () => {
    const { page } = await openApp(withoutConsole, { path: '/tasks' })
    await page.getByText('You have no tasks.').waitFor()

    expect(await page.getByRole('button', { name: 'Add sample data' }).count()).toBe(0)
  })
})
