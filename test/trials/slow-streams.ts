import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import { MAX_TRANSFERS } from '../../engine/http/endpoints/transfer-limits.ts'
import { measureRequests } from './constant-rate.ts'
import { startService } from './service-process.ts'
import { startDurablePostgres } from './trial.ts'

/**
 * MAX_REQUESTS. Below MAX_INCOMPLETE of engine/http/server/body-limits.ts, so that streams of many addresses can occupy all slots. Streams
 * of one address occupy at most a quarter of MAX_INCOMPLETE, and those of the last second that were ended early.
 */
const SLOTS = 200
/** Concurrent streams. At most MAX_INCOMPLETE. */
const COUNT = 240
/** Interval between the starts of two streams, in milliseconds. */
const START_INTERVAL = 10
/** Time limit of a stream, in milliseconds. */
const TIME_LIMIT = 40_000
/** Duration of a measurement without streams, in milliseconds. */
const BASELINE_DURATION = 10_000
const ORDINARY = [{ method: 'GET', path: '/api/labels' }]

interface End {
  /** In milliseconds. */
  duration: number
  status?: number | undefined
}

/** Sends a stream slowly, until the service ends the connection. */
type SendSlowly = (start: string) => (port: number) => Promise<End>

/**
 * Sends slow bodies to an endpoint that reads a stream. Such a request occupies one of MAX_REQUESTS from its start. Streams of one
 * address must not disturb other requests. Streams of many addresses occupy all slots, and free them at their time limit. Returns
 * figures.
 */
export async function measureStreams(sendSlowly: SendSlowly) {
  const { url } = await startDurablePostgres()
  const service = await startService(
    { DATABASE_URL: url, MAX_REQUESTS: String(SLOTS), TRUSTED_PROXIES: '127.0.0.1', RATE_LIMITS: 'off' },
    ['--import', 'tsx', 'test/trials/job-service.ts'],
  )
  const { origin } = service
  const port = Number(new URL(origin).port)
  const sendStreams = (addressOf: (index: number) => number) =>
    Promise.all(
      Array.from({ length: COUNT }, async (_, index) => {
        await sleep(index * START_INTERVAL)
        const address = `x-forwarded-for: 198.51.100.${addressOf(index)}\r\n`
        const start = `PUT /api/uploads HTTP/1.1\r\nhost: 127.0.0.1\r\n${address}content-length: 500\r\n\r\n`
        return sendSlowly(start)(port)
      }),
    )
  const statusOf = async (path: string) => (await fetch(origin + path)).status

  const end = performance.now() + BASELINE_DURATION
  const alone = await measureRequests(origin, ORDINARY, () => performance.now() > end)
  let ends: End[] | undefined
  const ofOneAddress = sendStreams(() => 1).then((all) => (ends = all))
  const beside = await measureRequests(origin, ORDINARY, () => ends !== undefined)
  const statusesOfOne = countStatuses(await ofOneAddress)

  let isEnded = false
  const ofMany = sendStreams((index) => index).finally(() => (isEnded = true))
  while ((await statusOf('/api/labels')) !== 503) assert.ok(!isEnded, 'The streams occupied no slots')
  assert.equal(await statusOf('/api/health/live'), 200)
  const endsOfMany = await ofMany
  const statusesOfMany = countStatuses(endsOfMany)
  assert.equal(await statusOf('/api/labels'), 200, 'The streams did not free their slots')
  await service.kill('SIGTERM')

  const all = [...(await ofOneAddress), ...endsOfMany]
  const late = all.filter(({ duration }) => duration > TIME_LIMIT)
  assert.deepEqual(statusesOfOne, { 408: MAX_TRANSFERS, 429: COUNT - MAX_TRANSFERS })
  assert.deepEqual(late, [], 'Not all streams were ended in time')
  assert.deepEqual(statusesOfMany, { 408: SLOTS, 503: COUNT - SLOTS })
  return { alone, beside, ended: Math.max(...all.map(({ duration }) => duration)) }
}

const countStatuses = (ends: readonly End[]) =>
  ends.reduce<Record<number, number>>((counts, { status = 0 }) => {
    counts[status] = (counts[status] ?? 0) + 1
    return counts
  }, {})
