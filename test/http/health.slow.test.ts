import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { createTallystick } from '../../src/testing.ts'
import { createApp } from '../../src/http/app.ts'
import { createFetch } from '../fixtures/http.ts'
import { startService } from '../fixtures/service.ts'
import { BreakableConnection } from '../fixtures/breakable-connection.ts'

const { databaseUrl, services } = await startService()
const url = new URL(databaseUrl)
const connection = new BreakableConnection(url.hostname, Number(url.port))
url.port = String(await connection.listen())
url.hostname = '127.0.0.1'
const tallystick = await createTallystick({ DATABASE_URL: url.href, ANSWER_TIMEOUT: '1', MAX_REQUESTS: '20' })
const server = createApp(tallystick.services).listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
const call = createFetch({ origin })

const email = 'ada@example.com'
const signedIn = { cookie: await tallystick.signIn(email) }

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await tallystick.close()
  connection.close()
})

beforeEach(async () => {
  connection.state = 'open'
  await vi.waitFor(async () => {
    expect((await call('GET', '/api/counter')).status).toBe(200)
  }, 10_000)
})

const live = () => call('GET', '/api/health/live')
const ready = () => call('GET', '/api/health/ready')

describe('/api/health', () => {
  test('reports a live and ready service', async () => {
    expect([await live(), await ready()]).toMatchObject([
      { status: 200, body: { status: 'ok' } },
      { status: 200, body: { status: 'ok' } },
    ])
  })

  test('accepts GET only, and has no other paths', async () => {
    expect(await call('POST', '/api/health/live')).toMatchObject({ status: 405 })
    expect(await call('GET', '/api/health/other')).toMatchObject({ status: 404 })
  })

  test('reports a stopping process as live and not ready', async () => {
    tallystick.services.state.stopping = true
    const answers = [await live(), await ready(), await call('GET', '/api/counter')]
    tallystick.services.state.stopping = false

    expect(answers.map(({ status }) => status)).toEqual([200, 503, 200])
  })
})

describe('without its database, the service', () => {
  test('returns 503 immediately while connections are refused, and recovers afterwards', async () => {
    connection.cut()
    const answers = [
      await call('GET', '/api/counter'),
      await call('POST', '/api/counter/increment'),
      await ready(),
    ]
    const alive = await live()

    for (const { status, headers, body } of answers.slice(0, 2)) {
      expect({ status, body }).toMatchObject({
        status: 503,
        body: { code: 'SERVICE_UNAVAILABLE', status: 503 },
      })
      expect(headers.get('retry-after')).toBe('1')
    }
    expect(answers[2]?.status).toBe(503)
    expect(alive.status).toBe(200)
    connection.state = 'open'
    await vi.waitFor(async () => {
      expect((await ready()).status).toBe(200)
      expect((await call('POST', '/api/counter/increment')).status).toBe(200)
    }, 10_000)
  })

  test.each<[string, string, object?, Record<string, string>?]>([
    ['GET', '/api/me', undefined, signedIn],
    ['POST', '/rpc/tasks/list', {}, signedIn],
    ['POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' }],
    ['POST', '/api/auth/sign-in/email-otp', { email, otp: '123456' }],
    ['POST', '/api/auth/sign-out', {}, signedIn],
    ['GET', '/api/auth/get-session', undefined, signedIn],
    ['POST', '/api/auth/update-user', { name: 'Ada' }, signedIn],
    ['GET', '/api/auth/admin/list-users', undefined, signedIn],
    ['POST', '/token', { grant_type: 'refresh_token', refresh_token: 'a:b', client_id: 'app' }],
    ['POST', '/revoke', { token: 'a:b', client_id: 'app' }],
    ['POST', '/register', { redirect_uris: ['http://127.0.0.1:9/callback'] }],
    ['GET', '/.well-known/jwks.json'],
    ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { authorization: 'Bearer a.b.c' }],
  ])('returns 503 for %s %s', async (method, path, body, headers) => {
    connection.cut()
    const refused = await call(method, path, body, headers)

    expect(refused).toMatchObject({ status: 503 })
    expect(JSON.stringify(refused.body)).toContain('"code":"SERVICE_UNAVAILABLE"')
    expect(refused.headers.get('retry-after')).toBe('1')
  })

  test.each(['GET', 'POST'])('returns a page with 503 for %s /authorize', async (method) => {
    connection.cut()
    const path = '/authorize?client_id=app&redirect_uri=http://127.0.0.1:9/callback'
    const refused = await call(method, path, method === 'POST' ? {} : undefined)

    expect(refused.status).toBe(503)
    expect(refused.body).toContain('The service does not answer at the moment.')
    expect(refused.headers.get('retry-after')).toBe('1')
  })

  test('reads its signing keys as soon as the database is available', async () => {
    connection.cut()
    const refused = await call('GET', '/.well-known/jwks.json')
    connection.state = 'open'

    expect(refused.status).toBe(503)
    await vi.waitFor(async () => {
      expect((await call('GET', '/.well-known/jwks.json')).status).toBe(200)
    }, 5000)
  })

  test('recovers after connection resets during requests of any kind', async () => {
    let asking = true
    const ask = async () => {
      while (asking) await call('GET', '/api/counter')
    }
    const callers = [ask(), ask(), ask()]
    for (let reset = 0; reset < 5; reset++) {
      await sleep(100)
      connection.reset()
    }
    asking = false
    await Promise.all(callers)

    await vi.waitFor(async () => {
      expect((await call('GET', '/api/counter')).status).toBe(200)
    }, 5000)
  })

  test('does not report an existing session as signed out', async () => {
    await services.db.execute(
      `create function away() returns trigger language plpgsql as 'begin raise exception using errcode = 57014; end'`,
    )
    await services.db.execute(
      `create trigger away before delete on sessions for each row execute function away()`,
    )
    const { status } = await call('POST', '/api/auth/sign-out', {}, signedIn)
    await services.db.execute(`drop function away cascade`)

    expect(status).toBe(503)
    expect((await call('GET', '/api/me', undefined, signedIn)).status).toBe(200)
  })

  test('returns 503 within a time limit if the database does not respond', async () => {
    connection.state = 'silent'
    const began = Date.now()
    const { status, headers } = await call('GET', '/api/counter')

    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBe('1')
    expect(headers.get('connection')).toBe('close')
    expect(Date.now() - began).toBeLessThan(5000)
    connection.disconnect()
  })

  test('closes connections that no longer deliver data, and recovers', async () => {
    const changes = () =>
      Promise.all(Array.from({ length: 8 }, () => call('POST', '/rpc/tasks/reset', {}, signedIn)))
    await changes()
    connection.dropData()
    const [lost] = await changes()

    expect(lost?.status).toBe(503)
    await vi.waitFor(async () => {
      const answers = [...(await changes()), await call('GET', '/api/counter')]
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    }, 10_000)
  })

  test('accepts no more than MAX_REQUESTS requests, and rejects others with 503', async () => {
    connection.state = 'silent'
    const answers = Array.from({ length: 30 }, () => call('GET', '/api/counter'))
    await sleep(200)
    const alive = await live()
    const [rejected] = (await Promise.all(answers)).filter(
      ({ body }) =>
        (body as { message: string }).message === 'The service is at its limit of concurrent requests',
    )

    expect(rejected).toMatchObject({ status: 503 })
    expect(alive.status).toBe(200)
    connection.disconnect()
  })

  test('recovers after the server terminates its connections', async () => {
    const statuses: number[] = []
    for (let round = 0; round < 5; round++) {
      await services.db.execute(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tallystick' and datname = current_database() and pid <> pg_backend_pid()`,
      )
      statuses.push(
        (await call('POST', '/api/counter/increment')).status,
        (await call('GET', '/api/counter')).status,
      )
    }

    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    await vi.waitFor(async () => {
      expect((await call('GET', '/api/counter')).status).toBe(200)
    }, 10_000)
  })
})
