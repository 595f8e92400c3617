import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

import { createClient } from '../../contract/client.ts'
import { launchBrowser } from '../fixtures/browser.ts'
import { type Service, signIn, startService } from './service-process.ts'
import { trial, UNLIMITED_RATES } from './trial.ts'

const VISITS = 9
/** Time until the page is usable, in milliseconds. */
const LIMIT = 1000
/** Sum of the layout shifts of a visit: good according to the Core Web Vitals. */
const MAX_SHIFT = 0.1
const TASKS = 500

/** Chrome's profile “Fast 4G”, in bytes per second and milliseconds. */
const NETWORK = { offline: false, latency: 60, downloadThroughput: 1.18e6, uploadThroughput: 0.19e6 }
/** Slows the processor down to the speed of a phone. */
const CPU_RATE = 4

/** Records layout shifts without a recent input, and the longest duration of a key event, in milliseconds. */
const RECORDER = `
  window.shift = 0
  window.longestKey = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shift += value
  }).observe({ type: 'layout-shift', buffered: true })
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries())
      if (name.startsWith('key')) longestKey = Math.max(longestKey, duration)
  }).observe({ type: 'event', durationThreshold: 16, buffered: true })`

const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Infinity

/**
 * Measures the time until a person on a phone can use the page at `/`, without files of an earlier visit. Then measures the
 * layout and the keyboard at `/tasks` with a long list.
 */
await trial('page', async (report) => {
  const service = await startService(UNLIMITED_RATES)
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage({ viewport: { width: 360, height: 640 } })
    await page.addInitScript(RECORDER)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Network.emulateNetworkConditions', NETWORK)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_RATE })
    const visits: Visit[] = []
    for (let visit = 0; visit < VISITS; visit++) {
      await devtools.send('Network.clearBrowserCache')
      visits.push(await visitStart(page, service.origin))
    }
    const usable = visits.map((visit) => visit.usable)
    const list = await visitTasks(page, service)
    report({
      visits: VISITS,
      'first contentful paint': Math.round(median(visits.map(({ paint }) => paint))),
      median: Math.round(median(usable)),
      longest: Math.round(Math.max(...usable)),
      shift: Math.max(...visits.map(({ shift }) => shift)).toFixed(3),
      'shift with many tasks': list.shift.toFixed(3),
      'longest key event': Math.round(list.longestKey),
    })
    assert.ok(median(usable) <= LIMIT, `the page is usable only after ${Math.round(median(usable))} ms`)
    for (const { shift } of [...visits, list])
      assert.ok(shift <= MAX_SHIFT, `the layout shifts by ${shift.toFixed(3)}`)
  } finally {
    await browser.close()
  }
})

interface Visit {
  /** Times in milliseconds. */
  usable: number
  paint: number
  shift: number
}

async function visitStart(page: Page, origin: string): Promise<Visit> {
  const start = performance.now()
  await page.goto(origin, { waitUntil: 'commit' })
  await page.getByRole('status', { name: 'Counter' }).getByText(/\d/).waitFor()
  const usable = performance.now() - start
  const paint = await page.evaluate<number>(
    "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity",
  )
  return { usable, paint, shift: await page.evaluate<number>('shift') }
}

/** Opens a long list, and types into the field of a new task. */
async function visitTasks(page: Page, { origin, dataDir }: Service) {
  const cookie = await signIn(origin, 'ada@example.com', dataDir)
  const client = createClient(origin, { headers: { cookie } })
  for (let each = 0; each < TASKS; each++)
    await client.tasks.create({ taskTitle: `Task ${each}`, taskDesc: 'Milk and bread. '.repeat(each % 20) })
  const [name = '', value = ''] = cookie.split('=')
  await page.context().addCookies([{ name, value, url: origin }])
  await page.goto(`${origin}/tasks`, { waitUntil: 'commit' })
  await page.getByText(`Task ${TASKS - 1}`).waitFor()
  const shift = await page.evaluate<number>('shift')
  await page.getByRole('textbox', { name: 'New task' }).pressSequentially('Buy milk and bread')
  return { shift, longestKey: await page.evaluate<number>('longestKey') }
}
