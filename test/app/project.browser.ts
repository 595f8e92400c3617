import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { freePort } from '../../engine/dev/testing/postgres.ts'
import { createFetch } from '../../engine/test/fixtures/http.ts'
import { findViolations, forbidProblems, openContext, useBrowser } from '../fixtures/browser.ts'
import { add, createProject, signInByTerminal, startDevelopment } from '../fixtures/development.ts'

useBrowser()

/** A test starts a new project, which takes most of its time. */
const LIMIT = { timeout: 300_000 }

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

async function addViewOfIdea(project: string) {
  await writeFile(join(project, 'app/views/idea.tsx'), IDEA)
  const views = join(project, 'app/views.ts')
  const code = await readFile(views, 'utf8')
  await writeFile(
    views,
    `import { idea } from './views/idea.tsx'\n${code.replace('  ideas,\n', '  ideas,\n  idea,\n')}`,
  )
}

/** Starts a new project, and opens its page as Ada. */
async function startProject(change: (project: string) => Promise<void>) {
  const project = await createProject({ page: true })
  await change(project)
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const { output } = await startDevelopment(project, { PORT: String(port) })
  await expect.poll(output, { timeout: 120_000 }).toMatch(/Console +http/)
  const signIn = async (email?: string) => {
    const cookie = await signInByTerminal(origin, output, email)
    const [name = '', value = ''] = cookie.split('=')
    return { cookie, cookies: [{ name, value, url: origin }] }
  }
  const { cookie, cookies } = await signIn()
  const fetch = createFetch({ origin })
  const call = (method: string, path: string, body?: object) => fetch(method, path, body, { cookie })
  const context = await openContext()
  const expectStatus = forbidProblems(context, origin)
  await context.addCookies(cookies)
  return { origin, call, signIn, expectStatus, page: await context.newPage() }
}

test(
  'the page of a new project lists, adds, edits, searches and deletes, and shows an item at its own path',
  LIMIT,
  async () => {
    const { origin, call, page } = await startProject(addViewOfIdea)
    await page.goto(`${origin}/ideas`)
    await page.getByText('You have no ideas.').waitFor()
    expect(await findViolations(page)).toEqual([])

    await page.getByRole('textbox', { name: 'Title' }).fill('A rain gauge')
    await page.getByRole('button', { name: 'Add a new idea' }).click()
    const items = page.getByRole('list', { name: 'Ideas' }).getByRole('listitem')
    await items.getByText('A rain gauge').waitFor()
    expect(await findViolations(page)).toEqual([])

    await items.getByRole('button', { name: 'Edit' }).click()
    await items.getByRole('textbox', { name: 'Title' }).fill('A sun dial')
    expect(await findViolations(page)).toEqual([])
    await items.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => page.evaluate('document.activeElement.title')).toBe('Edit')
    await call('POST', '/api/ideas', { title: 'A rain gauge' })
    await items.getByText('A rain gauge').waitFor()
    await page.getByRole('searchbox').fill('DIAL')
    await items.getByText('A rain gauge').waitFor({ state: 'detached' })
    await page.reload()
    await items.getByText('A sun dial').waitFor()
    expect(await page.getByRole('searchbox').inputValue()).toBe('DIAL')
    expect(await items.count()).toBe(1)

    await items.getByRole('link', { name: 'A sun dial' }).click()
    await page.getByRole('heading', { name: 'One idea' }).waitFor()
    await page.getByText('A sun dial').waitFor()
    const links = page.getByRole('navigation').getByRole('link')
    expect(await links.getByText('One idea').count()).toBe(0)
    expect(await links.filter({ hasText: 'Ideas' }).first().getAttribute('aria-current')).toBe('true')

    await page.getByRole('link', { name: 'All ideas' }).click()
    const last = items.filter({ hasText: 'A sun dial' })
    await last.getByRole('button', { name: 'Delete' }).click()
    await last.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await last.waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'One idea' }).waitFor()

    await page.goto(origin)
    await page.getByRole('heading', { level: 1, name: 'Example App' }).waitFor()
    await page.getByText('Next: edit app/views/home.tsx').waitFor()
    await page.getByRole('region', { name: 'Ideas' }).getByText('A rain gauge').first().waitFor()
    expect(await findViolations(page)).toEqual([])
    const path = await page.getByRole('link', { name: 'Console' }).getAttribute('href')
    const console = await fetch(`${origin}${path}`, { redirect: 'manual' })
    expect([console.status, console.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    ])

    for (const title of ['A rain gauge', 'A sun dial'])
      await items.filter({ hasText: title }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Add sample data' }).click()
    await items.getByText('First idea').waitFor()
    expect(await findViolations(page)).toEqual([])
  },
)

test('the page of a shared resource has the lists within an item, and its members', LIMIT, async () => {
  const { origin, call, signIn, page, expectStatus } = await startProject(async (project) => {
    await add(project, 'gardens', '--shared')
    await add(project, 'plants', '--of', 'gardens')
  })
  expectStatus(404)
  const gardens = ['Kitchen garden', 'Front yard']
  for (const title of gardens) await call('POST', '/api/gardens', { title })
  const open = async (garden: string) => {
    await page.getByRole('navigation').getByRole('link', { name: 'Gardens' }).first().click()
    await page.getByRole('link', { name: garden }).click()
    await page.getByRole('heading', { name: garden, level: 1 }).waitFor()
  }
  const newPlant = page.getByRole('textbox', { name: 'Title' })
  const plants = page.getByRole('list', { name: 'Plants' }).getByRole('listitem')
  await page.goto(`${origin}/gardens`)

  // A text that is not saved belongs to its garden.
  await open('Kitchen garden')
  await newPlant.fill('Basil')
  await open('Front yard')
  expect(await newPlant.inputValue()).toBe('')
  await open('Kitchen garden')
  expect(await newPlant.inputValue()).toBe('Basil')
  await page.getByRole('button', { name: 'Add a new plant' }).click()
  await plants.getByText('Basil').waitFor()
  await plants.getByText('this minute').waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/gardens\/\d+$/)
  expect(await page.title()).toBe('Kitchen garden – Example App')
  expect(await findViolations(page)).toEqual([])

  await page.getByRole('textbox', { name: 'Share with' }).fill('bob@example.com')
  await page.getByRole('button', { name: 'Give access' }).click()
  const bob = page.getByRole('list', { name: 'People with access' }).getByRole('listitem')
  await bob.getByRole('combobox', { name: 'Role of bob@example.com' }).selectOption('May edit')
  await page.getByText('The role of bob@example.com has changed.').waitFor()
  await bob.getByRole('button', { name: 'Remove access' }).click()
  await page.getByText('Only you have access.').waitFor()

  // A person who may only see the garden.
  const { pathname } = new URL(page.url())
  await call('POST', `/api${pathname}/members`, { email: 'bob@example.com', role: 'viewer' })
  const context = await openContext()
  await context.addCookies((await signIn('bob@example.com')).cookies)
  const pageOfBob = await context.newPage()
  await pageOfBob.goto(page.url())
  await pageOfBob.getByRole('list', { name: 'Plants' }).getByText('Basil').waitFor()
  for (const name of ['Add a new plant', 'Give access', 'Edit', 'Delete'])
    expect(await pageOfBob.getByRole('button', { name }).count()).toBe(0)
  expect(await findViolations(pageOfBob)).toEqual([])
  await pageOfBob.goto(`${origin}/gardens`)
  await pageOfBob.getByRole('listitem').filter({ hasText: 'Shared with you' }).getByRole('link').click()
  await pageOfBob.getByRole('button', { name: 'Leave the garden' }).click()
  await pageOfBob.getByRole('dialog').getByRole('button', { name: 'Leave the garden' }).click()
  await pageOfBob.getByText('You have no gardens.').waitFor()

  // Changes by another device while the person edits.
  const [plant] = ((await call('GET', `/api${pathname}/plants`)).body as { plants: { id: number }[] }).plants
  await plants.getByRole('button', { name: 'Edit' }).click()
  await plants.getByRole('textbox', { name: 'Title' }).fill('Thai basil')
  await call('PATCH', `/api/plants/${plant?.id}`, { title: 'Lemon basil' })
  await plants.getByText('This was changed elsewhere.').waitFor()
  expect(await findViolations(page)).toEqual([])
  await plants.getByRole('button', { name: 'Keep mine' }).click()
  await plants.getByText('Thai basil').waitFor()
  await plants.getByRole('button', { name: 'Edit' }).click()
  await plants.getByRole('textbox', { name: 'Title' }).fill('Holy basil')
  await call('DELETE', `/api/plants/${plant?.id}`)
  await plants.getByRole('button', { name: 'Save' }).click()
  await plants.getByRole('button', { name: 'Save as a new item' }).click()
  await plants.getByText('Holy basil').waitFor()

  await page.goto(`${origin}${pathname}/plants`)
  await page.getByRole('heading', { name: 'Plants', level: 1 }).waitFor()
  await plants.getByText('Holy basil').waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Kitchen garden' }).click()
  await page.getByRole('heading', { name: 'Kitchen garden', level: 1 }).waitFor()

  await page.goto(`${origin}/gardens/404`)
  await page.getByRole('alert').getByRole('link', { name: 'Gardens' }).click()
  await page.getByRole('list', { name: 'Gardens' }).waitFor()
})

test(
  'the page of a new project shows an error of the build of the service, until the error is repaired',
  LIMIT,
  async () => {
    const project = await createProject({ page: true })
    const port = await freePort()
    const { output } = await startDevelopment(project, { PORT: String(port) })
    expect(output()).toContain('listens on')
    const page = await (await openContext()).newPage()
    await page.goto(`http://localhost:${port}/`)
    await page.getByRole('banner').waitFor()
    const source = join(project, 'src/app.ts')
    const code = await readFile(source, 'utf8')

    await writeFile(source, `${code}\nconst broken = (\n`)

    const overlay = page.locator('vite-error-overlay')
    await overlay.getByText('the build of the service').waitFor({ timeout: 120_000 })
    await overlay
      .getByText(/src\/app\.ts/)
      .first()
      .waitFor()
    await page.reload()
    await overlay.getByText('the build of the service').waitFor()
    await writeFile(source, code)
    await overlay.waitFor({ state: 'detached', timeout: 120_000 })
  },
)
