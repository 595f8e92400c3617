import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type BrowserContextOptions, chromium } from 'playwright-core'

import { checkFolder, writeFiles } from '../engine/dev/create/folder.ts'
import { sampleAccounts } from '../engine/operator/seed.ts'
import { sampleNotes } from '../src/samples/notes.ts'
import { sampleTasks } from '../src/samples/tasks.ts'
import { createTallystick } from '../src/testing.ts'
import { captureConsole } from './console-screenshot.ts'

// Writes the screenshots of README.md to docs/, with the sample data of `tallystick seed`. With the path of a new or empty
// folder, writes pictures of all views in all sizes, themes and some languages, and sheets of twelve pictures.

const PORT = '3210'
const ROOT = 'root@example.com'
const origin = `http://localhost:${PORT}`

const tallystick = await createTallystick({ PORT, ADMIN_EMAILS: ROOT })
await tallystick.listen(Number(PORT))

const accounts = sampleAccounts('ada@example.com')
const cookies = new Map<string, string>()
let sharedNote = ''
for (const name of ['charles', 'ada'] as const) {
  const { email } = accounts[name]
  const cookie = await tallystick.signIn(email)
  cookies.set(email, cookie)
  const client = tallystick.client({ cookie })
  for (const { title, description, status } of sampleTasks[name].toReversed()) {
    const { id } = await client.tasks.create({ taskTitle: title, taskDesc: description ?? undefined })
    if (status !== 'pending') await client.tasks.update({ id, status })
  }
  for (const { shares, ...note } of sampleNotes[name].toReversed()) {
    const { id } = await client.notes.create(note)
    if (shares.length > 0) sharedNote = id
    for (const [reader, role] of shares) await client.notes.share({ id, email: accounts[reader].email, role })
  }
}
cookies.set(ROOT, await tallystick.signIn(ROOT))
await tallystick.stranger.counter.set({ inputValue: 1842 })

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})

interface Shot extends BrowserContextOptions {
  path: string
  /** Signed out without an address. */
  email?: string
  width: number
  height?: number
}

/** Returns a picture of a view after its content has loaded. */
async function capture({ path, email = '', width, height = 800, ...options }: Shot) {
  const context = await browser.newContext({ locale: 'en', viewport: { width, height }, ...options })
  const [cookie = '', value = ''] = (cookies.get(email) ?? '').split('=')
  if (value) await context.addCookies([{ name: cookie, value, url: origin }])
  const page = await context.newPage()
  await page.goto(origin + path)
  await page
    .locator(path === '/docs' ? '.detail' : 'footer')
    .first()
    .waitFor({ state: 'attached' })
  await page.waitForTimeout(800)
  const picture = await page.screenshot()
  await context.close()
  return picture
}

const ada = 'ada@example.com'
const readme: Record<string, Shot> = {
  'page-notes': {
    path: `/notes?note=${sharedNote}`,
    email: ada,
    width: 960,
    height: 853,
    colorScheme: 'dark',
  },
  'page-tasks': { path: '/tasks', email: ada, width: 360, height: 640 },
}

/** All views with the name of the file, the path and the person. */
const views: [name: string, path: string, email?: string][] = [
  ['start', '/'],
  ['home', '/', ada],
  ['tasks', '/tasks', ada],
  ['notes', '/notes', ada],
  ['devices', '/devices', ada],
  ['account', '/account', ada],
  ['people', '/people', ROOT],
  ['trail', '/people?tab=trail', ROOT],
  ['reservation', '/reservation'],
  ['docs', '/docs'],
]
const sizes = [0, 3, 50, 500]

/** Creates a session of a person with `size` tasks and notes. */
async function createItems(size: number) {
  const email = `${size}@example.com`
  const cookie = await tallystick.signIn(email)
  cookies.set(email, cookie)
  const client = tallystick.client({ cookie })
  for (let item = 1; item <= size; item++) {
    await client.tasks.create({
      taskTitle: `Task ${item}`,
      ...(item % 3 === 0 && { taskDesc: 'For Monday' }),
    })
    await client.notes.create({ title: `Note ${item}`, body: 'A line of the note.\n'.repeat((item % 9) + 1) })
  }
  return email
}

async function listShots() {
  const shots: Record<string, Shot> = {}
  for (const [name, path, email] of views) {
    for (const width of [390, 1280])
      for (const colorScheme of ['light', 'dark'] as const)
        shots[`${name}-${width}-${colorScheme}`] = { path, width, colorScheme, ...(email && { email }) }
    for (const [locale, width] of [
      ['de', 1280],
      ['ar', 390],
      ['ja', 1280],
    ] as const)
      shots[`${name}-${width}-${locale}`] = { path, width, locale, ...(email && { email }) }
  }
  for (const size of sizes) {
    const email = await createItems(size)
    for (const width of [320, 390, 768, 1280, 1920])
      for (const path of ['/tasks', '/notes'])
        shots[`${path.slice(1)}-${size}-${width}`] = { path, width, email }
  }
  return shots
}

/** Number of pictures of a sheet. */
const SHEET = 12

/** Writes pages that show many pictures beside each other. */
async function createSheet(pictures: [string, Buffer][]) {
  const page = await browser.newPage({ viewport: { width: 1800, height: 1000 } })
  await page.setContent(
    `<style>body{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;font:14px sans-serif}figure{margin:0}img{width:100%;border:1px solid gray}</style>` +
      pictures
        .map(
          ([name, picture]) =>
            `<figure><figcaption>${name}</figcaption><img src="data:image/png;base64,${picture.toString('base64')}"></figure>`,
        )
        .join(''),
  )
  const sheet = await page.screenshot({ fullPage: true })
  await page.close()
  return sheet
}

const captureAll = async (shots: Record<string, Shot>) => {
  const pictures: [string, Buffer][] = []
  for (const [name, shot] of Object.entries(shots)) pictures.push([`${name}.png`, await capture(shot)])
  return pictures
}

const [, , argument] = process.argv
if (argument === undefined) {
  for (const [name, picture] of await captureAll(readme)) writeFileSync(`docs/${name}`, picture)
  writeFileSync('docs/console.png', await captureConsole(browser))
} else {
  const folder = resolve(process.env.INIT_CWD ?? '.', argument)
  checkFolder(folder)
  const pictures = await captureAll(await listShots())
  const sheets: [string, Buffer][] = []
  for (let first = 0; first < pictures.length; first += SHEET)
    sheets.push([`sheet-${first / SHEET + 1}.png`, await createSheet(pictures.slice(first, first + SHEET))])
  writeFiles(folder, new Map([...pictures, ...sheets]))
}

await browser.close()
await tallystick.close()
