import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

import { launchBrowser } from '../fixtures/browser.ts'
import { startService } from './service-process.ts'
import { trial } from './trial.ts'

const VISITS = 9
/** Time until the page is usable, in milliseconds. */
const LIMIT = 1000

/** Chrome's profile “Fast 4G”, in bytes per second and milliseconds. */
const NETWORK = { offline: false, latency: 60, downloadThroughput: 1.18e6, uploadThroughput: 0.19e6 }
/** Slows the processor down to the speed of a phone. */
const CPU_RATE = 4

/** Measures the time until a person on a phone can use the page at `/`, without files of an earlier visit. */
await trial('page', async (report) => {
  const service = await startService({})
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage({ viewport: { width: 360, height: 640 } })
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Network.emulateNetworkConditions', NETWORK)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_RATE })
    const times: number[] = []
    for (let visit = 0; visit < VISITS; visit++) {
      await devtools.send('Network.clearBrowserCache')
      times.push(await timeUntilUsable(page, service.origin))
    }
    const median = times.toSorted((a, b) => a - b)[Math.floor(VISITS / 2)] ?? Infinity
    report({ visits: VISITS, median: Math.round(median), longest: Math.round(Math.max(...times)) })
    assert.ok(median <= LIMIT, `the page is usable only after ${Math.round(median)} ms`)
  } finally {
    await browser.close()
  }
})

async function timeUntilUsable(page: Page, origin: string) {
  const start = performance.now()
  await page.goto(origin, { waitUntil: 'commit' })
  await page.getByRole('status', { name: 'Counter' }).getByText(/\d/).waitFor()
  return performance.now() - start
}
