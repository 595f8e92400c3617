import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Browser } from 'playwright-core'

import { createRecorder } from '../engine/console/requests/recorder.ts'
import { serveConsole } from '../engine/console/server.ts'
import { createApp } from '../engine/http/server/app.ts'
import { openServices } from '../engine/start/open-services.ts'
import { readSettings } from '../engine/settings/settings.ts'
import { app } from '../src/app.ts'

const PORT = '3220'

/** Starts the service with its console, calls some procedures, and returns a picture of a recorded request. */
export async function captureConsole(browser: Browser) {
  const settings = readSettings(
    { DATABASE_URL: 'memory:', AUTH_SECRET: randomBytes(32).toString('hex'), PORT, LOG_LEVEL: 'silent' },
    app,
  )
  const recorder = createRecorder(app)
  const services = await openServices(app, settings, { recorder })
  const server = createApp(services).listen(settings.port)
  await once(server, 'listening')
  const { address, close } = await serveConsole(services, recorder, () => undefined)

  const context = await browser.newContext({ locale: 'en', viewport: { width: 1280, height: 960 } })
  const [page, caller] = [await context.newPage(), await context.newPage()]
  await page.goto(address())
  const root = page.url()
  const call = async (operation: string) => {
    await caller.goto(`${root}#/procedures/${operation}`)
    await caller.getByRole('button', { name: 'Run', exact: true }).click()
    await caller.getByRole('region', { name: 'Answer' }).waitFor()
  }
  await page.goto(`${root}#/requests`)
  await page.getByText('Recording', { exact: true }).waitFor()
  for (const path of ['/api/counter', '/api/tasks']) await fetch(settings.baseUrl + path)
  for (const operation of ['notes.create', 'tasks.create', 'tasks.list']) await call(operation)
  await page.getByRole('button', { name: 'tasks.create', exact: true }).click()
  await page.getByRole('link', { name: 'Run again' }).waitFor()
  const picture = await page.screenshot()

  await context.close()
  close()
  server.close()
  server.closeAllConnections()
  await services.close()
  return picture
}
