import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { freePort } from '../../engine/dev/testing/postgres.ts'
import { createFetch } from '../../engine/test/fixtures/http.ts'
import { findViolations, forbidProblems, openContext, useBrowser } from '../fixtures/browser.ts'
import { createProject, signInByTerminal, startDevelopment } from '../fixtures/development.ts'

useBrowser()

/** A view of one idea, whose path has a parameter. */
const IDEA = `import { useQuery } from '@tanstack/react-query'
import { createTexts, view } from 'tallystick-dev/page'
import { Link } from 'wouter'

import { orpc } from '../api.ts'

const texts = createTexts({ idea: 'One idea', back: 'All ideas' })

export const idea = view({ path: '/ideas/{id}', title: 'idea', access: 'signedIn', topics: ['ideas'], texts, Content: Idea })

function Idea({ id }: { id: string }) {
  const { t } = texts.useLanguage()
  const { data } = useQuery(orpc.ideas.list.queryOptions({ input: {} }))
  return (
    <>
      <p>{data?.ideas.find((each) => String(each.id) === id)?.title}</p>
      <Link href="/ideas">{t('back')}</Link>
    </>
  )
}
`

/** Starts a new project with the view of one idea. */
async function startProject() {
  const project = await createProject({ page: true })
  await writeFile(join(project, 'app/views/idea.tsx'), IDEA)
  const views = join(project, 'app/views.ts')
  const code = await readFile(views, 'utf8')
  await writeFile(
    views,
    `import { idea } from './views/idea.tsx'\n${code.replace('  ideas,\n', '  ideas,\n  idea,\n')}`,
  )
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const { output } = await startDevelopment(project, { PORT: String(port) })
  await expect.poll(output, { timeout: 120_000 }).toMatch(/Console +http/)
  return { origin, call: createFetch({ origin }), cookie: await signInByTerminal(origin, output) }
}

test('the page of a new project lists, adds and deletes, and shows an item at its own path', async () => {
  const { origin, call, cookie } = await startProject()
  const context = await openContext()
  forbidProblems(context, origin)
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url: origin }])
  const page = await context.newPage()
  await page.goto(`${origin}/ideas`)
  await page.getByText('You have no ideas.').waitFor()
  expect(await findViolations(page)).toEqual([])

  await page.getByRole('textbox', { name: 'Title' }).fill('A rain gauge')
  await page.getByRole('button', { name: 'Add a new idea' }).click()
  const items = page.getByRole('list', { name: 'Ideas' }).getByRole('listitem')
  await items.getByText('A rain gauge').waitFor()
  expect(await findViolations(page)).toEqual([])

  const { body } = await call('GET', '/api/ideas', undefined, { cookie })
  const [idea] = (body as { ideas: { id: number }[] }).ideas
  await page.goto(`${origin}/ideas/${idea?.id}`)
  await page.getByRole('heading', { name: 'One idea' }).waitFor()
  await page.getByText('A rain gauge').waitFor()
  const links = page.getByRole('navigation').getByRole('link')
  expect(await links.getByText('One idea').count()).toBe(0)
  expect(await links.filter({ hasText: 'Ideas' }).first().getAttribute('aria-current')).toBe('true')

  await page.getByRole('link', { name: 'All ideas' }).click()
  await items.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('You have no ideas.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await items.getByText('A rain gauge').waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'One idea' }).waitFor()
})
