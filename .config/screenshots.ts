import { once } from 'node:events'
import { type BrowserContextOptions, chromium } from 'playwright-core'

import { createApp } from '../engine/http/server/app.ts'
import { sampleAccounts } from '../engine/operator/seed.ts'
import { sampleNotes } from '../src/samples/notes.ts'
import { sampleTasks } from '../src/samples/tasks.ts'
import { createTallystick } from '../src/testing.ts'

// Writes the screenshots of README.md to docs/, with the sample data of `tallystick seed`.

const PORT = '3210'
const origin = `http://localhost:${PORT}`

const tallystick = await createTallystick({ PORT })
const server = createApp(tallystick.services).listen(Number(PORT))
await once(server, 'listening')

const accounts = sampleAccounts('ada@example.com')
const cookies = new Map<string, string>()
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
    for (const [reader, role] of shares) await client.notes.share({ id, email: accounts[reader].email, role })
  }
}
await tallystick.stranger.counter.set({ inputValue: 1842 })

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})

async function capture(name: string, path: string, email: string, options: BrowserContextOptions) {
  const context = await browser.newContext({ locale: 'en', ...options })
  const [cookie = '', value = ''] = (cookies.get(email) ?? '').split('=')
  if (value) await context.addCookies([{ name: cookie, value, url: origin }])
  const page = await context.newPage()
  await page.goto(origin + path)
  await page.getByRole('contentinfo').waitFor()
  await page.waitForTimeout(1000)
  // On the view of notes, the list is below the form.
  if (path === '/notes') await page.mouse.wheel(0, 480)
  await page.waitForTimeout(300)
  await page.screenshot({ path: `docs/${name}.png` })
  await context.close()
}

await capture('page-home', '/', '', { viewport: { width: 720, height: 640 } })
await capture('page-notes', '/notes', 'ada@example.com', {
  viewport: { width: 720, height: 640 },
  colorScheme: 'dark',
})
await capture('page-tasks', '/tasks', 'ada@example.com', { viewport: { width: 360, height: 640 } })

await browser.close()
server.closeAllConnections()
server.close()
await tallystick.close()
