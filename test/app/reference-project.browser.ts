import { expect, test } from 'vitest'

import { freePort } from '../../engine/dev/testing/postgres.ts'
import { findViolations, forbidProblems, openContext, useBrowser } from '../fixtures/browser.ts'
import { add, createProject, signInByTerminal, startDevelopment } from '../fixtures/development.ts'

useBrowser()

test(
  'the reference of a new project explains and calls the procedures of the project',
  { timeout: 300_000 },
  async () => {
    const project = await createProject({ page: false })
    await add(project, 'projects', '--shared')
    await add(project, 'tickets', '--of', 'projects')
    const port = await freePort()
    const origin = `http://localhost:${port}`
    const { output } = await startDevelopment(project, { PORT: String(port) })
    await expect.poll(output, { timeout: 120_000 }).toMatch(/Console +http/)
    const [name = '', value = ''] = (await signInByTerminal(origin, output)).split('=')
    const context = await openContext()
    forbidProblems(context, origin)
    await context.addCookies([{ name, value, url: origin }])
    const page = await context.newPage()
    const answer = page.getByRole('region', { name: 'Answer' })
    const open = async (operation: string) => {
      await page.locator('.list').getByRole('link', { name: operation }).click()
      await page.getByRole('heading', { level: 2, name: operation }).waitFor()
    }
    await page.goto(`${origin}/docs`)

    await open('tickets.list')
    expect(await page.locator('.route').innerText()).toContain('/api/projects/{projectId}/tickets')
    // A link that is half under the search, which stays at the top, would count as too small.
    await page.evaluate("document.querySelector('.list').scrollTo(0, 0)")
    expect(await findViolations(page)).toEqual([])
    await open('projects.create')
    await page.getByLabel('title').fill('From the reference page')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click()
    await answer.getByText('"From the reference page"').first().waitFor()
    await open('projects.list')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await answer.getByText('"From the reference page"').first().waitFor()
  },
)
