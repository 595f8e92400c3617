import { readFile } from 'node:fs/promises'
import { sql } from 'drizzle-orm'
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

test('The rows of a table are exported with the types of JSON, and without formulas in CSV', async () => {
  const { db } = running.services
  await db.execute(
    sql`create table exported (id int primary key, title text, is_done boolean, amount numeric, tags text[], more jsonb)`,
  )
  await db.execute(
    sql`insert into exported values (1, ${'=1+1, "x"\nnext'}, true, -1.50, array['a'], '{"b":[2]}'), (2, null, false, null, null, null)`,
  )
  const { page } = await openView('data/exported?sort=id')
  const download = async (format: string) => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: `Export as ${format}`, exact: true }).click(),
    ])
    return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
  }

  const csv = await download('CSV')
  const json = await download('JSON')

  expect(csv).toEqual({
    name: 'exported.csv',
    text: [
      '"id","title","is_done","amount","tags","more"',
      `"1","'=1+1, ""x""\nnext","true","-1.50","{a}","{""b"": [2]}"`,
      '"2",,"false",,,',
    ].join('\r\n'),
  })
  expect(json.name).toBe('exported.json')
  expect(JSON.parse(json.text)).toEqual([
    { id: 1, title: '=1+1, "x"\nnext', is_done: true, amount: '-1.50', tags: '{a}', more: { b: [2] } },
    { id: 2, title: null, is_done: false, amount: null, tags: null, more: null },
  ])
  await page.getByRole('status').filter({ hasText: '2 rows' }).waitFor()
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

  test('opens by a click, and its list has the address of the owner and a short id', async () => {
    const { page } = await openView('data/shelves')
    const row = page.getByRole('row', { name: /Of Ada|shelf/i }).last()
    const owner = row.getByRole('link', { name: 'ada@example.com' })
    const id = await owner.getAttribute('title')
    expect(id?.length).toBeGreaterThan(8)
    expect(await row.innerText()).not.toContain(id)

    await row.getByRole('cell').last().click()

    await page.getByRole('region', { name: 'Row', exact: true }).waitFor()
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
