import { once } from 'node:events'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { createApp } from '../../http/server/app.ts'
import { createFetch } from '../fixtures/http.ts'
import { createTallystick, startService } from '../fixtures/service.ts'
import { BreakableConnection } from '../fixtures/breakable-connection.ts'

const { databaseUrl, services } = await startService()
const url = new URL(databaseUrl)
const connection = new BreakableConnection(url.hostname, Number(url.port))
url.port = String(await connection.listen())
url.hostname = '127.0.0.1'

/** How long a test waits for a condition before it fails. */
const WAIT = { timeout: 20_000 }

/** Starts a service, with functions that break its connections to the database. */
async function start(environment: Record<string, string>) {
  const tallystick = await createTallystick({ DATABASE_URL: url.href, ...environment })
  const server = createApp(tallystick.services).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await tallystick.close()
  }
  return { ...tallystick, server, call: createFetch({ origin }), close }
}

const LIMIT = 20
const tallystick = await start({ MAX_REQUESTS: String(LIMIT) })
const impatient = await start({ ANSWER_TIMEOUT: '1' })
const { call, server } = tallystick

const email = 'ada@example.com'
const signedIn = { cookie: await tallystick.signIn(email) }

afterAll(async () => {
  await Promise.all([tallystick.close(), impatient.close()])
  connection.close()
})

beforeEach(async () => {
  connection.state = 'open'
  for (const service of [tallystick, impatient])
    await vi.waitFor(async () => {
      expect((await service.call('GET', '/api/visits')).status).toBe(200)
    }, WAIT)
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
    const answers = [await live(), await ready(), await call('GET', '/api/visits')]
    tallystick.services.state.stopping = false

    expect(answers.map(({ status }) => status)).toEqual([200, 503, 200])
  })
})

describe('without its database, the service', () => {
  test('returns 503 immediately while connections are refused, and recovers afterwards', async () => {
    connection.cut()
    const answers = [await call('GET', '/api/visits'), await call('POST', '/api/visits/add'), await ready()]
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
      expect((await call('POST', '/api/visits/add')).status).toBe(200)
    }, WAIT)
  })

  test.each<[string, string, object?, Record<string, string>?]>([
    ['GET', '/api/me', undefined, signedIn],
    ['POST', '/rpc/shelves/list', {}, signedIn],
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
    }, WAIT)
  })

  test('recovers after connection resets during requests of any kind', async () => {
    let [asking, answers] = [true, 0]
    const ask = async () => {
      for (; asking; answers++) await call('GET', '/api/visits')
    }
    const callers = [ask(), ask(), ask()]
    for (let reset = 1; reset <= 5; reset++) {
      await expect.poll(() => answers, { ...WAIT, interval: 1 }).toBeGreaterThan(20 * reset)
      connection.reset()
    }
    asking = false
    await Promise.all(callers)

    await vi.waitFor(async () => {
      expect((await call('GET', '/api/visits')).status).toBe(200)
    }, WAIT)
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
    const { status, headers, body } = await impatient.call('GET', '/api/visits')

    expect(status).toBe(503)
    expect(body).toMatchObject({ message: 'The answer took too long' })
    expect(headers.get('retry-after')).toBe('1')
    expect(headers.get('connection')).toBe('close')
    connection.disconnect()
  })

  test('closes connections that no longer deliver data, and recovers', async () => {
    const cookie = await impatient.signIn(email)
    const changes = () =>
      Promise.all(
        Array.from({ length: 8 }, () =>
          impatient.call('POST', '/rpc/shelves/create', { json: { name: 'x' } }, { cookie }),
        ),
      )
    await changes()
    connection.dropData()
    const [lost] = await changes()

    expect(lost?.status).toBe(503)
    await vi.waitFor(async () => {
      const answers = [...(await changes()), await impatient.call('GET', '/api/visits')]
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    }, WAIT)
    // The other service has a longer time limit.
    connection.disconnect()
  })

  test('accepts no more than MAX_REQUESTS requests, and rejects others with 503', async () => {
    connection.state = 'silent'
    let count = 0
    const arrived = new Promise<void>((resolve) => {
      server.on('request', () => {
        if (++count === LIMIT) resolve()
      })
    })
    const accepted = Array.from({ length: LIMIT }, () => call('GET', '/api/visits'))
    await arrived
    const rejected = await call('GET', '/api/visits')
    const alive = await live()
    connection.cut()

    expect(rejected).toMatchObject({
      status: 503,
      body: { message: 'The service is at its limit of concurrent requests' },
    })
    expect(alive.status).toBe(200)
    for (const { status, body } of await Promise.all(accepted)) {
      expect(status).toBe(503)
      expect(body).not.toEqual(rejected.body)
    }
  })

  test('recovers after the server terminates its connections', async () => {
    const statuses: number[] = []
    for (let round = 0; round < 5; round++) {
      await services.db.execute(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tallystick' and datname = current_database() and pid <> pg_backend_pid()`,
      )
      statuses.push((await call('POST', '/api/visits/add')).status, (await call('GET', '/api/visits')).status)
    }

    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    await vi.waitFor(async () => {
      expect((await call('GET', '/api/visits')).status).toBe(200)
    }, WAIT)
  })
})
