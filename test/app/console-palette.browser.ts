import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { startConsole } from '../../engine/test/fixtures/console.ts'
import { findViolations, overflows, useBrowser } from '../fixtures/browser.ts'
import { openView as openConsoleView } from '../fixtures/console-view.ts'

useBrowser()
const running = await startConsole()
const openView = (view: string, options?: Parameters<typeof openConsoleView>[2]) =>
  openConsoleView(running, view, options)

await running.client.data.addSamples()

/** Returns the texts of the results, and the number of the selected result. */
async function resultsOf(page: Page) {
  const options = page.getByRole('option')
  const selected = await page.evaluate<number>(
    "[...document.querySelectorAll('[role=option]')].findIndex((each) => each.ariaSelected === 'true')",
  )
  return { names: await options.locator('.name').allTextContents(), selected }
}

describe('The search', () => {
  test('opens with Ctrl+K, finds procedures by their names first, and opens one with arrows and Enter', async () => {
    const { page } = await openView('data/users')
    await page.getByRole('heading', { name: 'users' }).waitFor()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: /^Search/ })

    await field.fill('shelves')
    await expect.poll(async () => (await resultsOf(page)).names.at(-1), PATIENCE).toBe('shelves')
    const { names } = await resultsOf(page)
    expect(names[0]).toMatch(/^shelves\./)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await expect.poll(async () => (await resultsOf(page)).selected, PATIENCE).toBe(1)
    await page.keyboard.press('Enter')

    await page.getByRole('heading', { name: names[1] ?? '', exact: true }).waitFor()
    await field.waitFor({ state: 'detached' })
  })

  test('opens with Cmd+K, has at most 20 results, and closes with Escape', async () => {
    const { page } = await openView('start')
    await page.getByRole('button', { name: /^Search/ }).waitFor()
    await page.keyboard.press('Meta+k')
    const field = page.getByRole('combobox', { name: /^Search/ })
    await field.fill('e')

    await expect.poll(async () => (await resultsOf(page)).names.length, PATIENCE).toBeGreaterThan(5)
    expect((await resultsOf(page)).names.length).toBeLessThanOrEqual(20)
    await page.keyboard.press('Escape')

    await field.waitFor({ state: 'detached' })
  })

  test('has the focus in its field each time that it opens in a low window', async () => {
    const { page } = await openView('data/users', { viewport: { width: 1280, height: 400 } })
    const field = page.getByRole('combobox', { name: /^Search/ })
    await page.getByRole('heading', { name: 'users' }).waitFor()
    for (const text of ['first', 'second']) {
      await page.keyboard.press('Control+k')
      await field.waitFor()
      await page.keyboard.type(text)
      expect(await field.inputValue()).toBe(text)
      await page.keyboard.press('Escape')
      await field.waitFor({ state: 'detached' })
    }
  })

  test('finds a table, a request and a person', async () => {
    const { page } = await openView('requests')
    await page.getByText('Recording', { exact: true }).waitFor()
    await running.service.fetch('GET', '/api/missing')
    await page.getByRole('button', { name: 'GET /api/missing' }).waitFor()
    const open = async (text: string, name: RegExp) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: /^Search/ }).fill(text)
      await page.getByRole('option', { name }).click()
    }

    await open('missing 404', /Request$/)
    await page.getByRole('region', { name: 'Request', exact: true }).waitFor()
    await open('loans', /Table$/)
    await page.getByRole('heading', { name: 'loans', exact: true }).waitFor()
    await open('ada@', /Person$/)
    await page.getByRole('region', { name: 'Row', exact: true }).getByText('ada@example.com').waitFor()
  })

  test.each([
    { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
    { colorScheme: 'dark', viewport: { width: 390, height: 800 } },
    { forcedColors: 'active' },
  ] as const)('is accessible with %j', async (options) => {
    const { page } = await openView('procedures/shelves.create', options)
    await page.getByRole('button', { name: /^Search/ }).click()
    await page.getByRole('combobox', { name: /^Search/ }).fill('shelves')
    await expect.poll(async () => (await resultsOf(page)).selected, PATIENCE).toBe(0)

    expect(await findViolations(page)).toEqual([])
    expect(await overflows(page)).toBe(false)
  })
})

test.each(['light', 'dark'] as const)(
  'code has colors with enough contrast in %s colors',
  async (colorScheme) => {
    const { page } = await openView('procedures/shelves.create', { colorScheme })
    const same = page.getByRole('region', { name: 'The same call' })
    await same.locator('.keyword', { hasText: 'curl' }).waitFor()
    expect(await findViolations(page)).toEqual([])

    await same.getByText('TypeScript', { exact: true }).click()

    await same.locator('.keyword', { hasText: 'import' }).first().waitFor()
    await same.locator('.string').first().waitFor()
    await same.locator('.comment').first().waitFor()
    expect(await same.locator('code').first().textContent()).toContain(
      "import { createRpcClient, isDefinedError, safe } from 'tallystick-contract'",
    )
    expect(await findViolations(page)).toEqual([])
  },
)

test('has texts of 13 px, rows of 28 px, and controls of 32 px', async () => {
  const { page } = await openView('data/users')
  await page.getByRole('cell', { name: 'ada@example.com' }).waitFor()
  const sizeOf = (selector: string) =>
    page.evaluate<[number, string]>(
      `(() => { const e = document.querySelector(${JSON.stringify(selector)}); return [e.getBoundingClientRect().height, getComputedStyle(e).fontSize] })()`,
    )

  expect(await sizeOf('.rows tbody tr')).toEqual([28, '13px'])
  expect(await sizeOf('.list li > a')).toEqual([28, '13px'])
  expect(await sizeOf('.filter select')).toEqual([32, '13px'])
  expect(await sizeOf('.filter button')).toEqual([32, '13px'])
})

test('shows details beside the requests from 900 px', async () => {
  const { page } = await openView('requests', { viewport: { width: 900, height: 800 } })
  await page.getByText('Recording', { exact: true }).waitFor()
  await running.service.fetch('GET', '/api/missing')
  await page.getByRole('button', { name: 'GET /api/missing' }).click()
  const details = await page.getByRole('region', { name: 'Request', exact: true }).boundingBox()
  const list = await page.getByRole('group', { name: 'Requests' }).boundingBox()

  expect(details?.y).toBe(list?.y)
  expect(details?.x).toBeGreaterThan(list?.x ?? 0)
  expect(await overflows(page)).toBe(false)
  expect(await findViolations(page)).toEqual([])
})

test('The key ? shows the shortcuts, and not in a field', async () => {
  const { page } = await openView('procedures')
  await page.getByRole('searchbox').fill('?')
  await page.getByRole('searchbox').press('?')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.getByRole('heading', { name: 'Procedures' }).click()
  await page.keyboard.press('?')

  const dialog = page.getByRole('dialog', { name: 'Shortcuts' })
  await dialog.getByText('Call the procedure of the form').waitFor()
  expect(await findViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})
