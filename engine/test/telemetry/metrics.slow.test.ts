import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

import { createApp } from '../../http/server/app.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { app } from '../library/app.ts'
import { books } from '../library/db.ts'
import { openEvents } from '../fixtures/event-source.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { freePort } from '../../dev/testing/postgres.ts'
import { createFetch, signInOverHttp } from '../fixtures/http.ts'
import {
  createTallystick,
  withTableLocked,
  type Service,
  newEmail,
  startService,
} from '../fixtures/service.ts'
import { registerApp } from '../fixtures/oauth-app.ts'

type Figures = Record<string, number>

/** Requests the metrics at an address. Returns the value of each metric. The key consists of name and labels. */
const scrape = async (address: string): Promise<Figures> => {
  const text = await (await fetch(address)).text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]))
}

async function startWithMetrics(environment: Record<string, string>) {
  const METRICS_PORT = String(await freePort())
  const service = await startService({ METRICS_PORT, ...environment })
  const server = await service.services.metrics?.serve()
  afterAll(() => {
    server?.close()
    server?.closeAllConnections()
  })
  return { service, call: createFetch(service), address: `http://127.0.0.1:${METRICS_PORT}/metrics` }
}

const { service, call, address } = await startWithMetrics({
  RATE_LIMITS: 'on',
  LIMITS: 'visits=2',
  TRUSTED_PROXIES: '127.0.0.1',
})

let before: Figures = {}
beforeEach(async () => {
  before = await scrape(address)
})

/**
 * Waits until the metric `name` has increased by `expected`, which contains the increase for each set of labels. The
 * wait is necessary because the service counts a response after sending the response.
 */
const expectIncrease = (name: string, expected: Figures) =>
  vi.waitFor(async () => {
    const now = await scrape(address)
    const risen = Object.entries(now).flatMap(([key, value]) => {
      const by = value - (before[key] ?? 0)
      return key.startsWith(`${name}{`) && by !== 0 ? [[key.slice(name.length), by]] : []
    })
    expect(Object.fromEntries(risen)).toEqual(expected)
  }, PATIENCE)

describe('/metrics', () => {
  test('shows open streams, deliveries, and whether changes of other processes arrive', async () => {
    const metrics = () => scrape(address)
    await expect.poll(async () => (await metrics()).test_library_live_connected, PATIENCE).toBe(1)
    const count = 'test_library_live_delivery_delay_seconds_count'
    const source = await openEvents(service.origin, '/api/live?topics=visits')
    await expect.poll(() => source.events.length, PATIENCE).toBe(1)

    await call('POST', '/api/visits/add')

    await expect.poll(() => source.events.length, PATIENCE).toBe(2)
    const now = await metrics()
    expect(now.test_library_live_streams).toBe(1)
    expect((now[count] ?? 0) - (before[count] ?? 0)).toBe(2)
    const HOUR = 3600
    const start = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => start + HOUR * 1000)
    onTestFinished(() => {
      clock.mockRestore()
    })
    const later = await openEvents(service.origin, '/api/live?topics=visits')
    await expect.poll(() => later.events.length, PATIENCE).toBe(1)
    const sum = 'test_library_live_delivery_delay_seconds_sum'
    expect(((await metrics())[sum] ?? 0) - (now[sum] ?? 0), 'delay of an old state').toBeLessThan(HOUR)
    source.close()
    later.close()
    await expect.poll(async () => (await metrics()).test_library_live_streams, PATIENCE).toBe(0)
  })

  test('counts e-mails by outcome', async () => {
    const metrics = createMetrics({ ...service.services.settings, metricsPort: await freePort() }, app)
    const server = await metrics.serve()
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const send = metrics.observeMails((mail: string) =>
      mail === 'refused' ? Promise.reject(new Error(mail)) : Promise.resolve(),
    )

    await send('accepted')
    await expect(send('refused')).rejects.toThrow('refused')
    await expect(send('refused')).rejects.toThrow('refused')

    expect(await scrape(`http://127.0.0.1:${port}/metrics`)).toMatchObject({
      'test_library_mails_total{outcome="sent"}': 1,
      'test_library_mails_total{outcome="failed"}': 2,
    })
  })

  test('counts and times requests of every protocol by operation and status', async () => {
    const ada = { cookie: await service.signIn(newEmail()) }
    await call('GET', '/api/loans', undefined, ada)
    await call('GET', '/api/loans?limit=10', undefined, ada)
    await call('POST', '/rpc/loans/list', {}, ada)
    await call('GET', '/api/loans')
    await call('GET', '/api/loans/999999999', undefined, ada)
    await call('GET', '/api/loans/abc', undefined, ada)
    await call('GET', '/api/status')
    await call('GET', '/api/status')
    await call('GET', '/api/health/live')
    await call('GET', '/api/auth/get-session')
    await call('POST', '/token')
    await call('GET', '/nowhere')

    await expectIncrease('test_library_http_requests_total', {
      '{operation="loans.list",status="200"}': 3,
      '{operation="loans.list",status="401"}': 1,
      '{operation="loans.get",status="404"}': 1,
      '{operation="loans.get",status="400"}': 1,
      '{operation="status.get",status="200"}': 2,
      '{operation="/api/health/live",status="200"}': 1,
      '{operation="/api/auth/get-session",status="200"}': 1,
      '{operation="/token",status="400"}': 1,
      '{operation="other",status="404"}': 1,
    })
    await expectIncrease('test_library_http_request_duration_seconds_count', {
      '{operation="loans.list"}': 4,
      '{operation="loans.get"}': 2,
      '{operation="status.get"}': 2,
      '{operation="/api/health/live"}': 1,
      '{operation="/api/auth/get-session"}': 1,
      '{operation="/token"}': 1,
      '{operation="other"}': 1,
    })
    await expect
      .poll(() => scrape(address), PATIENCE)
      .toMatchObject({ test_library_http_requests_under_way: 0 })
  })

  test('counts the status of an error that a Datastar page receives', async () => {
    const page = { 'datastar-request': 'true', accept: 'text/event-stream' }
    const { status } = await call('GET', '/api/shelves', undefined, page)

    expect(status).toBe(401)
    await expectIncrease('test_library_http_requests_total', {
      '{operation="shelves.list",status="401"}': 1,
    })
  })

  test('counts sign-ins and wrong codes, over the API and the page', async () => {
    const [email, another] = [newEmail(), newEmail()]
    const signIn = (otp: string) => call('POST', '/api/auth/sign-in/email-otp', { email, otp })
    await signInOverHttp(service, email)
    await signIn('000000')
    await signIn('a text that is too long for a code')
    const { submitConsent } = await registerApp(service)
    await submitConsent({ action: 'send', email: another }, {})
    const otp = codeOf(service, another)
    await submitConsent(
      { action: 'sign-in', email: another, otp: otp === '000000' ? '000001' : '000000' },
      {},
    )
    await submitConsent({ action: 'sign-in', email: another, otp }, {})

    await expectIncrease('test_library_sign_ins_total', {
      '{outcome="accepted"}': 2,
      '{outcome="refused"}': 2,
    })
  })

  test('counts exceeded rate limits by name', async () => {
    for (let index = 0; index < 5; index++)
      await call('POST', '/api/visits/add', undefined, { 'x-forwarded-for': '198.51.100.1' })

    await expectIncrease('test_library_limits_hit_total', { '{limit="visits"}': 3 })
    await expectIncrease('test_library_http_requests_total', {
      '{operation="visits.add",status="200"}': 2,
      '{operation="visits.add",status="429"}': 3,
    })
  })

  test('counts statements and failures by name, including statements in transactions', async () => {
    const ada = { cookie: await service.signIn(newEmail()) }
    const bookId = crypto.randomUUID()
    await service.services.db.insert(books).values({ id: bookId, title: 'A book', copies: 1 })
    before = await scrape(address)

    await call('POST', '/api/loans', { bookId }, ada)
    await service.services.db.execute('select nothing from nowhere').catch(() => undefined)

    await expectIncrease('test_library_database_statement_duration_seconds_count', {
      '{statement="sessions_find_by_tokens"}': 1,
      '{statement="select books"}': 1,
      '{statement="loans_insert_book_id_remark_user_id"}': 1,
      '{statement="loans_find"}': 1,
      '{statement="select"}': 2,
    })
    await expectIncrease('test_library_database_failures_total', { '{reason="other"}': 1 })
    await expect
      .poll(() => scrape(address), PATIENCE)
      .toMatchObject({ test_library_database_statements_under_way: 0 })
  })

  test('has a bounded number of labels for any requests', async () => {
    const random = () => Math.random().toString(36).slice(2)
    const methods = ['GET', 'POST', 'DELETE']
    const prefixes = ['', '/api', '/api/loans', '/api/auth', '/rpc', '/rpc/loans', '/docs', '/api/health']
    const asked = Array.from({ length: 100 }, (_, index) =>
      call(
        methods[index % methods.length] ?? '',
        `${prefixes[index % prefixes.length]}/${random()}?${random()}`,
      ),
    )
    await Promise.all(asked)

    await vi.waitFor(async () => {
      const figures = await scrape(address)
      const requests = Object.entries(figures).filter(([key]) =>
        key.startsWith('test_library_http_requests_total'),
      )
      const count = (entries: [string, number][]) => entries.reduce((sum, [, value]) => sum + value, 0)
      const earlier = Object.entries(before).filter(([key]) =>
        key.startsWith('test_library_http_requests_total'),
      )
      expect(count(requests) - count(earlier)).toBe(100)
      const fresh = requests.map(([key]) => key).filter((key) => !(key in before))
      for (const key of fresh) expect(key).toMatch(/operation="(other|loans\.(get|return))"/)
    }, PATIENCE)
  })

  test('contains the process and its event loop', () => {
    expect(before).toMatchObject({
      process_cpu_seconds_total: expect.any(Number),
      process_resident_memory_bytes: expect.any(Number),
      nodejs_eventloop_lag_p99_seconds: expect.any(Number),
    })
  })

  test('contains every metric that docs/operation.md names', async () => {
    // `tallystick_jobs` is a schema.
    const named = (await readFile('docs/operation.md', 'utf8')).match(
      /\b(?!tallystick_jobs\b)(tallystick|nodejs)_[a-z0-9_]+/g,
    )
    const known = new Set(Object.keys(await scrape(address)).map((key) => key.replace(/{.*/, '')))

    expect(named).toContain('tallystick_http_requests_total')
    for (const name of (named ?? []).map((each) => each.replace(/^tallystick/, 'test_library')))
      expect(
        [name, `${name}_bucket`].some((each) => known.has(each)),
        name,
      ).toBe(true)
  })

  test('is available only at its own address, without other paths', async () => {
    const statuses = [
      await fetch(address),
      await fetch(`${service.origin}/metrics`),
      await fetch(new URL('/', address)),
      await fetch(new URL('/api/status', address)),
      await fetch(address, { method: 'POST' }),
    ].map(({ status, headers }) => [status, headers.get('content-type')])

    expect(statuses).toEqual([
      [200, 'text/plain; version=0.0.4; charset=utf-8'],
      [404, 'application/json'],
      [404, null],
      [404, null],
      [404, null],
    ])
  })

  test('counts rejected requests and timeouts', async () => {
    const METRICS_PORT = String(await freePort())
    const { databaseUrl: DATABASE_URL } = service
    const limits = { MAX_REQUESTS: '1', ANSWER_TIMEOUT: '60' }
    const busy = await createTallystick({ METRICS_PORT, DATABASE_URL, ...limits })
    const figures = await busy.services.metrics?.serve()
    const server = createApp(busy.services).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const at = `http://127.0.0.1:${port}/api/visits`
    const read = () => scrape(`http://127.0.0.1:${METRICS_PORT}/metrics`)
    let [rejected, late] = [0, 0]
    await withTableLocked(DATABASE_URL, 'visits', async () => {
      const waiting = fetch(at)
      await vi.waitFor(async () => {
        expect(await read()).toMatchObject({ test_library_http_requests_under_way: 1 })
      }, PATIENCE)
      rejected = (await fetch(at)).status
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_001 })
      onTestFinished(() => void vi.useRealTimers())
      late = (await waiting).status
    })
    await expect
      .poll(read, PATIENCE)
      .toMatchObject({ 'test_library_http_requests_shed_total{reason="late"}': 1 })
    const seen = await read()
    for (const each of [server, figures]) each?.close().closeAllConnections()
    await busy.close()

    expect([rejected, late]).toEqual([503, 503])
    expect(seen).toMatchObject({
      'test_library_http_requests_shed_total{reason="full"}': 1,
      'test_library_http_requests_shed_total{reason="late"}': 1,
    })
  })

  test('creates no metrics without METRICS_PORT', async () => {
    const { services, close } = await createTallystick({ DATABASE_URL: service.databaseUrl })
    await close()

    expect(services.metrics).toBeUndefined()
  })
})

const codeOf = ({ letters }: Service, email: string) =>
  letters.findLast(({ to }) => to === email)?.subject.slice(0, 6) ?? ''
