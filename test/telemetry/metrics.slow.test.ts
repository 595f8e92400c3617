import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

import { createApp } from '../../engine/http/server/app.ts'
import { createTallystick } from '../../src/testing.ts'
import { openEvents } from '../../engine/test/fixtures/event-source.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { freePort } from '../../engine/testing/postgres.ts'
import { createFetch, signInOverHttp } from '../../engine/test/fixtures/http.ts'
import { withTableLocked, type Service, newEmail, startService } from '../fixtures/service.ts'
import { registerApp } from '../../engine/test/fixtures/oauth-app.ts'

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

const { service, call, address } = await startWithMetrics({ RATE_LIMITS: 'on', LIMITS: 'reservations=2' })

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
    await expect.poll(async () => (await metrics()).tallystick_live_connected, PATIENCE).toBe(1)
    const count = 'tallystick_live_delivery_delay_seconds_count'
    const source = await openEvents(service.origin, '/api/live?topics=counter')
    await expect.poll(() => source.events.length, PATIENCE).toBe(1)

    await call('POST', '/api/counter/increment')

    await expect.poll(() => source.events.length, PATIENCE).toBe(2)
    const now = await metrics()
    expect(now.tallystick_live_streams).toBe(1)
    expect((now[count] ?? 0) - (before[count] ?? 0)).toBe(2)
    const HOUR = 3600
    const start = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => start + HOUR * 1000)
    onTestFinished(() => {
      clock.mockRestore()
    })
    const later = await openEvents(service.origin, '/api/live?topics=counter')
    await expect.poll(() => later.events.length, PATIENCE).toBe(1)
    const sum = 'tallystick_live_delivery_delay_seconds_sum'
    expect(((await metrics())[sum] ?? 0) - (now[sum] ?? 0), 'delay of an old state').toBeLessThan(HOUR)
    source.close()
    later.close()
    await expect.poll(async () => (await metrics()).tallystick_live_streams, PATIENCE).toBe(0)
  })

  test('counts and times requests of every protocol by operation and status', async () => {
    const ada = { cookie: await service.signIn(newEmail()) }
    await call('GET', '/api/tasks', undefined, ada)
    await call('GET', '/api/tasks?status=pending', undefined, ada)
    await call('POST', '/rpc/tasks/list', {}, ada)
    await call('GET', '/api/tasks')
    await call('GET', '/api/tasks/999999999', undefined, ada)
    await call('GET', '/api/tasks/abc', undefined, ada)
    await call('GET', '/api/status')
    await call('GET', '/api/status')
    await call('GET', '/api/health/live')
    await call('GET', '/api/auth/get-session')
    await call('POST', '/token')
    await call('GET', '/nowhere')

    await expectIncrease('tallystick_http_requests_total', {
      '{operation="tasks.list",status="200"}': 3,
      '{operation="tasks.list",status="401"}': 1,
      '{operation="tasks.get",status="404"}': 1,
      '{operation="tasks.get",status="400"}': 1,
      '{operation="status.get",status="200"}': 2,
      '{operation="/api/health/live",status="200"}': 1,
      '{operation="/api/auth/get-session",status="200"}': 1,
      '{operation="/token",status="400"}': 1,
      '{operation="other",status="404"}': 1,
    })
    await expectIncrease('tallystick_http_request_duration_seconds_count', {
      '{operation="tasks.list"}': 4,
      '{operation="tasks.get"}': 2,
      '{operation="status.get"}': 2,
      '{operation="/api/health/live"}': 1,
      '{operation="/api/auth/get-session"}': 1,
      '{operation="/token"}': 1,
      '{operation="other"}': 1,
    })
    await expect
      .poll(() => scrape(address), PATIENCE)
      .toMatchObject({ tallystick_http_requests_under_way: 0 })
  })

  test('counts the status of an error that a Datastar page receives', async () => {
    const library = { 'datastar-request': 'true', accept: 'text/event-stream' }
    const { status } = await call('GET', '/api/notes', undefined, library)

    expect(status).toBe(401)
    await expectIncrease('tallystick_http_requests_total', {
      '{operation="legacyNotes.list",status="401"}': 1,
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

    await expectIncrease('tallystick_sign_ins_total', { '{outcome="accepted"}': 2, '{outcome="refused"}': 2 })
  })

  test('counts exceeded rate limits by name', async () => {
    for (let index = 0; index < 5; index++)
      await call('POST', '/api/reservations', { name: 'Ada', guests: 1 })

    await expectIncrease('tallystick_limits_hit_total', { '{limit="reservations"}': 3 })
    await expectIncrease('tallystick_http_requests_total', {
      '{operation="reservations.create",status="200"}': 2,
      '{operation="reservations.create",status="429"}': 3,
    })
  })

  test('counts statements and failures by name, including statements in transactions', async () => {
    const ada = { cookie: await service.signIn(newEmail()) }
    const { body } = await call('POST', '/api/notes', { title: 'Plan', body: '' }, ada)
    before = await scrape(address)
    const { id } = body as { id: string }

    await call('POST', `/api/notes/${id}/share`, { email: newEmail(), role: 'reader' }, ada)
    await service.services.db.execute('select nothing from nowhere').catch(() => undefined)

    await expectIncrease('tallystick_database_statement_duration_seconds_count', {
      '{statement="sessions_find_by_tokens"}': 1,
      '{statement="notes_find"}': 2,
      '{statement="update notes"}': 1,
      '{statement="select notes"}': 1,
      '{statement="insert note_shares"}': 1,
      '{statement="select"}': 1,
    })
    await expectIncrease('tallystick_database_failures_total', { '{reason="other"}': 1 })
    await expect
      .poll(() => scrape(address), PATIENCE)
      .toMatchObject({ tallystick_database_statements_under_way: 0 })
  })

  test('has a bounded number of labels for any requests', async () => {
    const random = () => Math.random().toString(36).slice(2)
    const methods = ['GET', 'POST', 'DELETE']
    const prefixes = ['', '/api', '/api/tasks', '/api/auth', '/rpc', '/rpc/tasks', '/docs', '/api/health']
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
        key.startsWith('tallystick_http_requests_total'),
      )
      const count = (entries: [string, number][]) => entries.reduce((sum, [, value]) => sum + value, 0)
      const earlier = Object.entries(before).filter(([key]) =>
        key.startsWith('tallystick_http_requests_total'),
      )
      expect(count(requests) - count(earlier)).toBe(100)
      const fresh = requests.map(([key]) => key).filter((key) => !(key in before))
      for (const key of fresh) expect(key).toMatch(/operation="(other|tasks\.(get|delete))"/)
    }, PATIENCE)
  })

  test('contains the process and its event loop', () => {
    expect(before).toMatchObject({
      process_cpu_seconds_total: expect.any(Number),
      process_resident_memory_bytes: expect.any(Number),
      nodejs_eventloop_lag_p99_seconds: expect.any(Number),
    })
  })

  test('contains every metric that docs/deployment.md names', async () => {
    const named = (await readFile('docs/deployment.md', 'utf8')).match(/\b(tallystick|nodejs)_[a-z0-9_]+/g)
    const known = new Set(Object.keys(await scrape(address)).map((key) => key.replace(/{.*/, '')))

    expect(named).toContain('tallystick_http_requests_total')
    for (const name of named ?? [])
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
    const at = `http://127.0.0.1:${port}/api/counter`
    const read = () => scrape(`http://127.0.0.1:${METRICS_PORT}/metrics`)
    let [rejected, late] = [0, 0]
    await withTableLocked(DATABASE_URL, 'counter', async () => {
      const waiting = fetch(at)
      await vi.waitFor(async () => {
        expect(await read()).toMatchObject({ tallystick_http_requests_under_way: 1 })
      }, PATIENCE)
      rejected = (await fetch(at)).status
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_001 })
      onTestFinished(() => void vi.useRealTimers())
      late = (await waiting).status
    })
    await expect
      .poll(read, PATIENCE)
      .toMatchObject({ 'tallystick_http_requests_shed_total{reason="late"}': 1 })
    const seen = await read()
    for (const each of [server, figures]) each?.close().closeAllConnections()
    await busy.close()

    expect([rejected, late]).toEqual([503, 503])
    expect(seen).toMatchObject({
      'tallystick_http_requests_shed_total{reason="full"}': 1,
      'tallystick_http_requests_shed_total{reason="late"}': 1,
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
