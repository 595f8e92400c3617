import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { createApp } from '../../engine/http/server/app.ts'
import { createTallystick } from '../../src/testing.ts'
import { launchBrowser } from '../fixtures/browser.ts'
import { BreakableConnection } from '../../engine/test/fixtures/breakable-connection.ts'
import { sessionTokenIn } from '../../engine/test/fixtures/http.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

const html = `<!doctype html><title>Live</title><script>
  const updates = []
  const source = new EventSource('/api/live?topics=counter,tasks')
  source.onmessage = ({ data }) => updates.push(JSON.parse(data))
</script>`

/** Opens a page with an EventSource, with the session of a new person, through a connection that can be cut. */
async function openPage(headers: { cookie?: string }) {
  const connection = new BreakableConnection('127.0.0.1', Number(new URL(service.origin).port))
  const origin = `http://127.0.0.1:${await connection.listen()}`
  const context = await browser.newContext()
  onTestFinished(async () => {
    await context.close()
    connection.close()
  })
  const [name = '', value = ''] = headers.cookie?.split('=') ?? []
  if (name) await context.addCookies([{ name, value, url: origin }])
  const page = await context.newPage()
  await page.route('**/page', (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await page.goto(`${origin}/page`)
  return { connection, page }
}

const waitForUpdates = (page: Page, expected: unknown[]) =>
  vi.waitFor(async () => {
    expect(await page.evaluate('updates')).toMatchObject(expected)
  }, PATIENCE)

const waitUntilClosed = (page: Page) =>
  page.waitForFunction('source.readyState === EventSource.CLOSED', undefined, PATIENCE)

describe('an EventSource of a browser', () => {
  test('resumes after the connection is cut: unchanged topics are not sent again', async () => {
    const cookie = await service.signIn(newEmail())
    const person = service.client({ cookie })
    const { count } = await person.counter.set({ inputValue: 5 })
    const { connection, page } = await openPage({ cookie })
    const states = [
      { topic: 'counter', state: { count } },
      { topic: 'tasks', state: { taskCount: 0 } },
    ]
    await waitForUpdates(page, states)

    connection.cut()
    await page.waitForFunction('source.readyState === EventSource.CONNECTING')
    await person.tasks.create({ taskTitle: 'Write' })
    connection.state = 'open'

    await waitForUpdates(page, [...states, { topic: 'tasks', state: { tasks: [{ title: 'Write' }] } }])
  })

  test('closes when the service refuses it after the session is revoked', async () => {
    const email = newEmail()
    const cookie = await service.signIn(email)
    const { page } = await openPage({ cookie })
    await page.waitForFunction('updates.length === 2')

    const owner = service.client({ cookie: await service.signIn(email) })
    await owner.sessions.revoke({ revokeSessionToken: sessionTokenIn(cookie) })

    await waitUntilClosed(page)
  })

  test('closes without a sign-in', async () => {
    const { page } = await openPage({})

    await waitUntilClosed(page)

    expect(await page.evaluate('updates')).toEqual([])
  })
})

test('a page that reads a stream as the client of Datastar does receives an error when the service stops', async () => {
  const instance = await createTallystick({ DATABASE_URL: service.databaseUrl })
  const server = createApp(instance.services).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const page = await browser.newPage()
  await page.route('**/page', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }))
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/page`)
  await page.evaluate(`
    globalThis.received = ''
    globalThis.reading = (async () => {
      const { body } = await fetch('/api/live?topics=counter', { headers: { 'datastar-request': 'true' } })
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      for (let part = await reader.read(); !part.done; part = await reader.read()) received += part.value
    })().catch((error) => error.message);
    undefined`)
  await page.waitForFunction("received.includes('patch-signals')")

  instance.services.closing.abort()

  expect(await page.evaluate('reading')).toBe('network error')
  expect(await page.evaluate('received')).toMatch(/\nretry: \d+\n\n/)
  await page.close()
  server.close()
  await instance.close()
})
