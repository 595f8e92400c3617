import { describe, expect, test } from 'vitest'

import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { startConsole } from '../../engine/test/fixtures/console.ts'
import { findViolations, focusedText, overflows, useBrowser } from '../fixtures/browser.ts'
import { openView as openConsoleView } from '../fixtures/console-view.ts'

useBrowser()
const running = await startConsole()
const openView = (view: string, options?: Parameters<typeof openConsoleView>[2]) =>
  openConsoleView(running, view, options)

await running.client.procedures.call({
  operation: 'shelves.create',
  input: { name: `A shelf with a long name ${'long '.repeat(10)}`.trim() },
  caller: { person: 'ada', scopes: null },
  headers: {},
})

describe('A row', () => {
  test('opens beside its table, with links both ways, and has an address', async () => {
    const { page } = await openView('data/shelves')
    await page.getByRole('link', { name: /^Open the row/ }).click()

    const row = page.getByRole('region', { name: 'Row', exact: true })
    const owner = row.getByRole('link').first()
    await row.getByText('ada@example.com').waitFor()
    await page.reload()
    await row.getByText('ada@example.com').waitFor()
    await owner.click()
    await row.getByRole('heading', { name: /^users / }).waitFor()
    await row.getByRole('link', { name: 'shelves.user_id' }).click()
    await page.getByText('Rows 1 to 1 of 1').waitFor()
    await page.goBack()
    await row.getByRole('heading', { name: /^users / }).waitFor()
  })

  test('gives the focus back to its link', async () => {
    const { page } = await openView('data/shelves')
    await page.getByRole('link', { name: /^Open the row/ }).click()
    const row = page.getByRole('region', { name: 'Row', exact: true })
    await expect.poll(() => focusedText(page), PATIENCE).toMatch(/^shelves /)

    await page.keyboard.press('Escape')

    await row.waitFor({ state: 'detached' })
    await expect.poll(() => focusedText(page), PATIENCE).toBe('Open')
  })

  test('that does not exist is named', async () => {
    const { page, expectStatus } = await openView('data/shelves?row=0')
    expectStatus(404)

    await page.getByText('shelves has no row 0').waitFor()
  })

  test.each([
    ['light', 1280],
    ['light', 900],
    ['dark', 390],
  ] as const)(
    'in %s colors with %i pixels is accessible, and does not scroll sideways',
    async (colorScheme, width) => {
      const { page } = await openView('data/shelves', { colorScheme, viewport: { width, height: 900 } })
      await page.getByRole('link', { name: /^Open the row/ }).click()
      await page.getByRole('region', { name: 'Row', exact: true }).getByText('ada@example.com').waitFor()

      expect(await findViolations(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
      const isBeside = await page.getByRole('group', { name: 'Rows of shelves' }).isVisible()
      expect(isBeside).toBe(width >= 900)
    },
  )

  test('is marked with forced colors', async () => {
    const { page } = await openView('data/shelves', { forcedColors: 'active' })
    await page.getByRole('link', { name: /^Open the row/ }).click()
    await page.locator('.rows tr.selected').waitFor()

    const [selected, other] = await page.evaluate<string[]>(
      "['.rows tr.selected td', '.rows thead th'].map((name) => getComputedStyle(document.querySelector(name)).backgroundColor)",
    )
    expect(selected).not.toBe(other)
    expect(await findViolations(page)).toEqual([])
  })
})
