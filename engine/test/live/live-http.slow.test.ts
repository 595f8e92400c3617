import { RPCLink } from '@orpc/client/fetch'
import { BatchLinkPlugin } from '@orpc/client/plugins'
import { createORPCClient } from '@orpc/client'
import { eq, sql } from 'drizzle-orm'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { users } from '../../db/accounts/users.ts'
import { sessions } from '../../db/accounts/sessions.ts'
import { createApp } from '../../http/server/app.ts'
import { openEvents, waitForEnd, waitForState } from '../fixtures/event-source.ts'
import { createFetch, sessionTokenIn } from '../fixtures/http.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { createTallystick, newEmail, startService, withTableLocked } from '../fixtures/service.ts'
import type { Client } from '../library/contract.ts'
import { books } from '../library/db.ts'

/** In seconds. Longer than any test. */
const ANSWER_TIMEOUT = 60
const service = await startService({ ANSWER_TIMEOUT: String(ANSWER_TIMEOUT), MAX_REQUESTS: '3' })
const { origin } = service
const limited = await startService({ MAX_STREAMS: '1' })
const { db } = service.services
const call = createFetch(service)
const events = (path: string, headers?: Record<string, string>) => openEvents(origin, path, headers)

/** Advances the clock of the service beyond a time in seconds, until the end of the test. */
function advanceClock(seconds: number) {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 + 1 })
  onTestFinished(() => void vi.useRealTimers())
}

describe('GET /api/live', () => {
  test('has the headers of an event stream', async () => {
    const { status, headers } = await events('/api/live?topics=visits')

    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
  })

  test('answers HEAD without events', async () => {
    const { status, headers } = await fetch(`${origin}/api/live?topics=visits`, { method: 'HEAD' })

    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  })

  test.each([
    ['topics=loans', 401, 'UNAUTHORIZED'],
    ['topics=visits,loans', 401, 'UNAUTHORIZED'],
    ['topics=loans,x', 401, 'UNAUTHORIZED'],
    ['topics=x', 400, 'BAD_REQUEST'],
    ['topics=', 400, 'BAD_REQUEST'],
    ['', 400, 'BAD_REQUEST'],
    ['topics=visits&loans[bookId][x]=0', 400, 'BAD_REQUEST'],
    ['topics=visits&loans=x', 400, 'BAD_REQUEST'],
  ])('answers an error before the first event: %s', async (query, status, code) => {
    expect(await call('GET', `/api/live?${query}`)).toMatchObject({ status, body: { code, status } })
  })

  test.each([
    'topics=loans,visits',
    'topics=loans&topics=visits',
    'topics[]=loans&topics[]=visits',
    'topics=loans,visits,loans',
  ])('accepts several topics: %s', async (query) => {
    const source = await events(`/api/live?${query}`, { cookie: await service.signIn(newEmail()) })

    await waitForState(source, 'loans', { loans: [] })
    await waitForState(source, 'visits', (await call('GET', '/api/visits')).body)
    expect(source.events).toHaveLength(2)
  })

  test('selects loans by book', async () => {
    const cookie = await service.signIn(newEmail())
    const client = service.client({ cookie })
    const [bookId, other] = [crypto.randomUUID(), crypto.randomUUID()]
    await db.insert(books).values([bookId, other].map((id) => ({ id, title: 'A book', copies: 2 })))
    const { id } = await client.loans.create({ bookId })
    await client.loans.create({ bookId: other })
    const source = await events(`/api/live?topics=loans&loans[bookId]=${bookId}`, { cookie })

    await client.loans.update({ id, remark: 'Late' })

    await waitForState(source, 'loans', await client.loans.list({ bookId }))
    expect(source.stateOf('loans')).toMatchObject({ loans: [{ id, remark: 'Late' }] })
  })

  test('sends again only the topics that have changed since the last event id', async () => {
    const cookie = await service.signIn(newEmail())
    const client = service.client({ cookie })
    const first = await events('/api/live?topics=loans,shelves', { cookie })
    await waitForState(first, 'shelves', await client.shelves.list())
    first.close()
    await client.shelves.create({ name: 'x' })

    const second = await events('/api/live?topics=loans,shelves', {
      cookie,
      'last-event-id': first.events.at(-1)?.id ?? '',
    })

    await waitForState(second, 'shelves', await client.shelves.list())
    expect(second.events).toHaveLength(1)
  })

  test.each(['', 'x', 'visits', 'visits=', 'loans=a,visits=b', 'é'.repeat(500)])(
    'sends all topics after an unknown event id: %s',
    async (id) => {
      const source = await events('/api/live?topics=visits', {
        'last-event-id': encodeURIComponent(id).slice(0, 500),
      })

      await waitForState(source, 'visits', (await call('GET', '/api/visits')).body)
    },
  )

  test('stays open for longer than ANSWER_TIMEOUT, and occupies no slot of MAX_REQUESTS', async () => {
    const sources = await Promise.all(Array.from({ length: 3 }, () => events('/api/live?topics=visits')))
    sources.push(...(await Promise.all(Array.from({ length: 3 }, () => events('/api/live?topics=visits')))))
    await withTableLocked(service.databaseUrl, 'visits', async () => {
      const later = call('GET', '/api/visits')
      await vi.waitFor(async () => {
        const blocked = sql`select 1 from pg_locks where not granted and relation = 'visits'::regclass`
        expect(await db.execute(blocked)).not.toHaveLength(0)
      }, PATIENCE)
      advanceClock(ANSWER_TIMEOUT)
      expect((await later).status).toBe(503)
    })

    const { body } = await call('POST', '/api/visits/add')

    for (const source of sources) await waitForState(source, 'visits', body)
  })

  test('a connection with a further request is closed immediately, and occupies no slot', async () => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    const closed = once(socket, 'close')
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
    socket.write(get('/api/live?topics=visits'))
    await once(socket, 'data')
    socket.write(get('/api/visits').repeat(3))

    await closed

    expect((await call('GET', '/api/visits')).status).toBe(200)
  })

  test.each([
    ['before another request', ['/api/live?topics=visits', '/api/shelves']],
    ['behind another request', ['/api/shelves', '/api/live?topics=visits']],
    ['behind another stream', Array<string>(50).fill('/api/live?topics=visits')],
  ])('does not start on a connection with unanswered requests: %s', async (_, paths) => {
    const cookie = await limited.signIn(newEmail())
    await withTableLocked(limited.databaseUrl, 'shelves', async () => {
      const socket = connect(Number(new URL(limited.origin).port), '127.0.0.1').on('error', () => undefined)
      const closed = once(socket, 'close')
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`

      socket.resume().write(paths.map(get).join(''))

      await closed
    })
    await vi.waitFor(async () => {
      const source = await openEvents(limited.origin, '/api/live?topics=visits')
      source.close()
      expect(source.status).toBe(200)
    }, PATIENCE)
  })

  test('a browser’s EventSource, which prefers event streams, receives the same events', async () => {
    const source = await events('/api/live?topics=visits', { accept: 'text/event-stream' })

    await waitForState(source, 'visits', (await call('GET', '/api/visits')).body)
  })
})

describe('a Datastar page', () => {
  const datastar = { 'datastar-request': 'true' }

  test('receives the patches of the fragments', async () => {
    const cookie = await service.signIn(newEmail())
    const client = service.client({ cookie })
    await client.shelves.create({ name: 'Milk' })
    const fragment = await call('GET', '/api/visits', undefined, datastar)
    const list = await call('GET', '/api/shelves', undefined, { cookie, ...datastar })

    const response = await fetch(`${origin}/api/live?topics=visits,shelves`, {
      headers: { cookie, ...datastar, 'last-event-id': 'x' },
    })

    let text = ''
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part
      if (text.includes('shelfCount')) break
    }
    expect(text.replace(/^id: .*\n/gm, '')).toBe(String(fragment.body) + String(list.body))
  })

  test('receives the full state on each connect', async () => {
    const first = await events('/api/live?topics=visits', datastar)
    await expect.poll(() => first.events.length, PATIENCE).toBe(2)

    const second = await events('/api/live?topics=visits', {
      ...datastar,
      'last-event-id': first.events[0]?.id ?? '',
    })

    await expect.poll(() => second.events.length, PATIENCE).toBe(2)
  })

  test('is disconnected when the session is revoked, and then refused', async () => {
    const email = newEmail()
    const cookie = await service.signIn(email)
    const source = await events('/api/live?topics=shelves', { cookie, ...datastar })
    const owner = service.client({ cookie: await service.signIn(email) })

    await owner.sessions.revoke({ revokeSessionToken: sessionTokenIn(cookie) })

    await expect.poll(() => source.response.closed, { timeout: 20_000 }).toBe(true)
    expect(source.isComplete()).toBe(false)
    const again = await call('GET', '/api/live?topics=shelves', undefined, { cookie, ...datastar })
    expect(again).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
  })

  test.each(['loans', 'sessions', 'visits,loans'])('cannot watch %s', async (topics) => {
    const cookie = await service.signIn(newEmail())

    const answer = await call('GET', `/api/live?topics=${topics}`, undefined, { cookie, ...datastar })

    expect(answer).toMatchObject({ status: 400, body: { data: { issues: [{ path: 'topics' }] } } })
  })
})

/** Creates a session in which an administrator acts as a person. */
async function impersonate() {
  const [admin, person] = [newEmail(), newEmail()]
  const [adminCookie, cookie] = [await service.signIn(admin), await service.signIn(person)]
  const token = sessionTokenIn(cookie)
  await db.update(users).set({ role: 'admin' }).where(eq(users.email, admin))
  await db
    .update(sessions)
    .set({
      impersonatedBy: sql`(select id from users where email = ${admin})`,
      administratorSessionId: sql`(select id from sessions where token = ${sessionTokenIn(adminCookie)})`,
    })
    .where(eq(sessions.token, token))
  return { admin, cookie, token }
}

describe('a stream ends', () => {
  const open = async (headers: Record<string, string>) => {
    const source = await events('/api/live?topics=shelves,visits', headers)
    await waitForState(source, 'shelves', { shelves: [] })
    return source
  }

  test('after the person is banned', async () => {
    const email = newEmail()
    const source = await open({ cookie: await service.signIn(email) })

    await db.update(users).set({ banned: true }).where(eq(users.email, email))

    await waitForEnd(source)
  })

  test('after the administrator of an impersonation loses the role', async () => {
    const { admin, cookie } = await impersonate()
    const source = await open({ cookie })

    await db.update(users).set({ role: 'user' }).where(eq(users.email, admin))

    await waitForEnd(source)
  })

  test('after the account is deleted', async () => {
    const email = newEmail()
    const cookie = await service.signIn(email)
    const source = await open({ cookie })

    await service.client({ cookie }).account.delete({ email })

    await waitForEnd(source)
  })

  test('after the person signs out', async () => {
    const cookie = await service.signIn(newEmail())
    const source = await open({ cookie })

    await call('POST', '/api/auth/sign-out', {}, { cookie, origin: service.services.settings.baseUrl })

    await waitForEnd(source)
  })

  test('when the session expires', async () => {
    // The service does not renew impersonations.
    const { cookie, token } = await impersonate()
    await db
      .update(sessions)
      .set({ expiresAt: sql`now() + interval '1 hour'` })
      .where(eq(sessions.token, token))
    const source = await open({ cookie })

    await db.transaction(async (tx) => {
      // Prevents the notification of the change, after which the service would end the stream immediately.
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx
        .update(sessions)
        .set({ expiresAt: sql`now()` })
        .where(eq(sessions.token, token))
    })
    const { body } = await call('POST', '/api/visits/add')
    await waitForState(source, 'visits', body)
    expect(source.isComplete()).toBe(false)
    advanceClock(3600)

    await waitForEnd(source)
    expect((await call('GET', '/api/live?topics=shelves', undefined, { cookie })).status).toBe(401)
  })

  test('but continues while only visits are watched', async () => {
    const email = newEmail()
    const source = await events('/api/live?topics=visits', { cookie: await service.signIn(email) })
    await db.update(users).set({ banned: true }).where(eq(users.email, email))

    const { body } = await call('POST', '/api/visits/add')

    await waitForState(source, 'visits', body)
    expect(source.isComplete()).toBe(false)
  })

  test('when the service stops, with a random time to connect again', async () => {
    const second = await createTallystick({ DATABASE_URL: service.databaseUrl })
    afterAll(() => second.close())
    const server = createApp(second.services).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const open = (headers?: Record<string, string>) => openEvents(address, '/api/live?topics=visits', headers)
    const sources = await Promise.all(Array.from({ length: 5 }, () => open()))
    // Datastar's client connects again only after a broken connection.
    const page = await open({ 'datastar-request': 'true' })

    second.services.closing.abort()
    server.close()

    for (const source of sources) await waitForEnd(source)
    await expect.poll(() => page.response.destroyed, PATIENCE).toBe(true)
    expect(page.isComplete()).toBe(false)
    const delays = [...sources, page].map(({ events: received }) =>
      Number(received.findLast(({ retry }) => retry)?.retry),
    )
    expect(new Set(delays).size).toBeGreaterThan(1)
    for (const delay of delays) expect(delay).toBeGreaterThan(0)
  })
})

test('a batch refuses streams', async () => {
  const batching = new BatchLinkPlugin({ groups: [{ condition: () => true, context: {} }] })
  const client: Client = createORPCClient(new RPCLink({ url: `${origin}/rpc`, plugins: [batching] }))

  const settled = await Promise.allSettled([
    client.live.watch({ topics: ['visits'] }),
    client.live.watch({ topics: ['visits'] }),
  ])

  const error = { reason: { code: 'BAD_REQUEST', status: 400 } }
  expect(settled).toMatchObject([error, error])
})

test('RPC accepts GET, and sends the same states', async () => {
  const data = encodeURIComponent(JSON.stringify({ json: { topics: ['visits'] } }))

  const source = await events(`/rpc/live/watch?data=${data}`)

  await expect.poll(() => source.events.length, PATIENCE).toBe(1)
  const { body } = await call('GET', '/api/visits')
  expect(JSON.parse(source.events[0]?.data ?? '')).toEqual({ json: { topic: 'visits', state: body } })
})
