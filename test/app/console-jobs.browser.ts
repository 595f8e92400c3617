import { expect, test } from 'vitest'

import { createContext } from '../../engine/guard/authentication.ts'
import { startConsole } from '../../engine/test/fixtures/console.ts'
import { app as letters, arrived } from '../../engine/test/jobs/letters.ts'
import { app as parcels } from '../../engine/test/jobs/parcels/app.ts'
import { deliver, weigh } from '../../engine/test/jobs/parcels/jobs.ts'
import { findViolations, overflows, useBrowser } from '../fixtures/browser.ts'
import { openView } from '../fixtures/console-view.ts'

useBrowser()
const jobConsole = await startConsole({}, { ...letters, jobs: parcels.jobs })
const { client, services } = jobConsole
const tomorrow = () => new Date(Date.now() + 86_400_000)
const { enqueue, mail } = createContext(services, {})
const runDue = (until: Date) => services.worker.runDue(until)

test('a dead job shows its error, runs again, and its attempts are requests', async () => {
  const id = await enqueue(deliver, { label: 'dead', then: 'fail' })
  await runDue(tomorrow())
  const { page } = await openView(jobConsole, 'jobs')
  await page.getByText('Dead 1').click()

  await page.getByRole('link', { name: 'deliver' }).click()
  const details = page.getByRole('region', { name: 'Job', exact: true })
  await details.getByText('The address of dead is unknown').waitFor()
  await details.getByText('3 of 3').waitFor()
  await details.getByRole('button', { name: 'Run again' }).click()

  await details.getByRole('button', { name: 'Run now' }).waitFor()
  expect(await client.jobs.get({ id })).toMatchObject({ state: 'waiting' })
  await runDue(tomorrow())
  await details.getByRole('link', { name: 'Attempts in Requests' }).click()
  const attempt = page.getByRole('region', { name: 'Request', exact: true })
  await attempt.getByText('The address of dead is unknown').waitFor()
  await attempt.getByText('dead', { exact: true }).waitFor()
  const position = attempt.getByRole('link', { name: /parcels\/jobs\.ts:\d+:\d+$/ })
  expect(await position.getAttribute('href')).toMatch(/^vscode:\/\/file\/.*\/parcels\/jobs\.ts:\d+:\d+$/)
  await attempt.getByLabel('Editor').selectOption({ label: 'JetBrains' })
  await expect.poll(() => position.getAttribute('href')).toMatch(/^idea:\/\/open\?file=.*jobs\.ts&line=\d+/)
})

test('a job leads to the request that has added it', async () => {
  const running = await startConsole({}, parcels)
  const { page } = await openView(running, 'requests')
  await page.getByText('Recording', { exact: true }).waitFor()
  await running.client.procedures.call({
    operation: 'parcels.create',
    input: { label: 'Linked', isRefused: false },
    caller: { person: 'ada', scopes: null },
    headers: {},
  })
  await page.getByRole('button', { name: 'parcels.create' }).click()
  const request = page.getByRole('region', { name: 'Request', exact: true })
  await request.getByRole('link', { name: 'deliver' }).click()

  const details = page.getByRole('region', { name: 'Job', exact: true })
  await details.getByRole('link', { name: 'by parcels.create' }).click()

  await request.getByRole('heading', { name: 'parcels.create', exact: true }).waitFor()
})

test('a waiting e-mail is shown in a frame without scripts', async () => {
  const id = await mail.send({
    to: 'ada@example.com',
    template: arrived,
    values: { label: 'Box', at: new Date(0) },
  })

  const { page } = await openView(jobConsole, `jobs/${id}`)

  await page.getByText('To ada@example.com').waitFor()
  const frame = page.locator('iframe')
  expect(await frame.getAttribute('sandbox')).toBe('')
  await frame.contentFrame().getByText('The parcel Box has arrived.').waitFor()
})

test.each([
  ['light', 1280],
  ['dark', 390],
] as const)('the view is accessible in %s colors with %i pixels', async (colorScheme, width) => {
  const id = await enqueue(weigh, { label: 'waiting' }, { after: tomorrow() })
  const { page } = await openView(jobConsole, `jobs/${id}`, { colorScheme, viewport: { width, height: 900 } })
  await page.getByRole('button', { name: 'Run now' }).waitFor()

  expect(await findViolations(page)).toEqual([])
  expect(await overflows(page)).toBe(false)
})

test('an application without jobs has no such view', async () => {
  const { page } = await openView(await startConsole(), 'start')

  await page.getByRole('heading', { name: 'Test library' }).waitFor()
  expect(await page.getByRole('link', { name: 'Jobs' }).count()).toBe(0)
})
