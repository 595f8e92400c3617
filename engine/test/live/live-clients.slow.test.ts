import { createORPCClient, getEventMeta } from '@orpc/client'
import { ClientRetryPlugin, type ClientRetryPluginContext } from '@orpc/client/plugins'
import type { ContractRouterClient, InferContractRouterInputs } from '@orpc/contract'
import type { JsonifiedClient } from '@orpc/openapi-client'
import { OpenAPILink } from '@orpc/openapi-client/fetch'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  type CallContext,
  type ClientOf,
  createRpcClient,
  decodeErrorBody,
  isDefinedError,
  type LiveUpdateOf,
  safe,
} from 'tallystick-contract'
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

import { createApp } from '../../http/server/app.ts'
import { createFetch, sessionTokenIn } from '../fixtures/http.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { startProxy } from '../fixtures/proxy.ts'
import {
  createClient,
  createRestClient,
  createTallystick,
  describeTransports,
  newEmail,
  startService,
} from '../fixtures/service.ts'
import { contract } from '../library/contract.ts'
import { books, visits } from '../library/db.ts'

type Contract = typeof contract

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const secret = { AUTH_SECRET: 'x'.repeat(40) }
const service = await startService(secret)
const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** Starts another instance of the service on the same database. */
async function startInstance() {
  const instance = await createTallystick({ DATABASE_URL: service.databaseUrl, ...secret })
  const server = createApp(instance.services).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.close()
    server.closeAllConnections()
    await instance.close()
  }
  return { ...instance, server, origin: originOf(server), close }
}
const other = await startInstance()
afterAll(() => other.close())

type Input = InferContractRouterInputs<Contract>['live']['watch']
type RetryContext = CallContext & ClientRetryPluginContext
type LiveClient = Pick<ClientOf<Contract, RetryContext>, 'live'>
type Options = Parameters<LiveClient['live']['watch']>[1]

/** Watches topics, and collects the updates until the test ends. */
async function watch(client: LiveClient, input: Input, options: Options = {}) {
  const updates: LiveUpdateOf<Contract>[] = []
  const ending: { error?: unknown; isDone?: true } = {}
  const events = await client.live.watch(input, options)
  const read = async () => {
    for await (const update of events) updates.push(update)
  }
  const reading = read()
    .catch((error: unknown) => (ending.error = error))
    .finally(() => (ending.isDone = true))
  const stop = async () => {
    await events.return()
    await reading
  }
  onTestFinished(stop)
  const statesOf = (topic: string) => updates.filter((each) => each.topic === topic).map(({ state }) => state)
  return {
    updates,
    ending,
    statesOf,
    stop,
    lastEventId: () => getEventMeta(updates.at(-1))?.id,
    /** Waits until the last state of the topic matches. */
    waitFor: (topic: string, state: object) =>
      vi.waitFor(() => {
        expect(statesOf(topic).at(-1)).toMatchObject(state)
      }, PATIENCE),
    /** Waits until the iterator ends, and returns the error. */
    end: () => vi.waitUntil(() => ending.isDone && ending, PATIENCE),
  }
}

/** Replaces the random part of the delay before a client connects again: 1 is the longest delay. */
const setDelay = (part: number) => vi.spyOn(Math, 'random').mockReturnValue(part)
beforeEach(() => {
  const random = setDelay(0.02)
  onTestFinished(() => {
    random.mockRestore()
  })
})

/** Counts a visit, after which there are `count` visits. */
async function setVisits(count: number) {
  const before = { count: count - 1 }
  const { db } = service.services
  await db.insert(visits).values(before).onConflictDoUpdate({ target: visits.id, set: before })
  await service.stranger.visits.add()
}

describeTransports(service, ({ stranger, person }) => {
  describe('live.watch', () => {
    test('sends the current states, and the states after the changes of every writer', async () => {
      const email = newEmail()
      const cookie = await service.signIn(email)
      const overRest = createFetch(service)
      const overRpc = createClient(service.origin, { headers: { cookie } })
      const elsewhere = other.client({ cookie })
      await setVisits(3)
      const { id } = await overRpc.shelves.create({ name: 'One' })
      const book = { id: crypto.randomUUID(), title: 'A book', copies: 1 }
      await service.services.db.insert(books).values(book)

      const watched = await watch(await person(email), { topics: ['visits', 'shelves', 'loans', 'sessions'] })
      await watched.waitFor('visits', { count: 3 })
      await watched.waitFor('shelves', { shelves: [{ name: 'One' }] })
      await watched.waitFor('loans', { loans: [] })
      await watched.waitFor('sessions', { sessionCount: 2 })

      await overRest('POST', '/api/visits/add')
      await watched.waitFor('visits', { count: 4 })
      await overRpc.visits.add()
      await watched.waitFor('visits', { count: 5 })
      await overRest('POST', '/api/shelves', { name: 'Two' }, { cookie })
      await watched.waitFor('shelves', { shelves: [{ name: 'Two' }, { name: 'One' }] })
      await elsewhere.shelves.rename({ id, name: 'Three' })
      await watched.waitFor('shelves', { shelves: [{ name: 'Two' }, { name: 'Three' }] })
      const loan = await elsewhere.loans.create({ bookId: book.id })
      await watched.waitFor('loans', { loans: [{ bookId: book.id }] })
      await overRest('DELETE', `/api/loans/${loan.id}`, undefined, { cookie })
      await watched.waitFor('loans', { loans: [] })
      await service.signIn(email)
      await watched.waitFor('sessions', { sessionCount: 3 })
    })

    test('returns the loans of a book', async () => {
      const ada = await person()
      const [bookId, another] = [crypto.randomUUID(), crypto.randomUUID()]
      const values = [bookId, another].map((id) => ({ id, title: 'A book', copies: 1 }))
      await service.services.db.insert(books).values(values)
      for (const { id } of values) await ada.loans.create({ bookId: id })

      const watched = await watch(ada, { topics: ['loans'], loans: { bookId } })
      await watched.waitFor('loans', { loans: [{ bookId }] })
    })

    test('continues after the last event on another instance: unchanged topics are not sent again', async () => {
      const email = newEmail()
      const ada = await person(email)
      const elsewhere = createRestClient(other.origin, { headers: { cookie: await other.signIn(email) } })
      await setVisits(1)
      const topics: Input['topics'] = ['visits', 'shelves']
      const first = await watch(ada, { topics })
      await first.waitFor('visits', { count: 1 })
      await first.waitFor('shelves', { shelves: [] })
      const lastEventId = first.lastEventId()
      await first.stop()

      await ada.shelves.create({ name: 'One' })
      const shelves = [{ name: 'One' }]
      for (const client of [ada, elsewhere]) {
        const next = await watch(client, { topics }, { lastEventId })
        await next.waitFor('shelves', { shelves })
        expect(next.updates[0]).toMatchObject({ topic: 'shelves', state: { shelves } })
        // Unchanged visits would arrive before the next shelf.
        await ada.shelves.create({ name: 'Another' })
        shelves.unshift({ name: 'Another' })
        await next.waitFor('shelves', { shelves })
        expect(next.statesOf('visits')).toEqual([])
      }
    })

    test('throws UNAUTHORIZED after the session is revoked on another instance', async () => {
      const email = newEmail()
      const cookie = await other.signIn(email)
      const elsewhere = other.client({ cookie })
      const { sessions: before } = await elsewhere.sessions.list()
      const watched = await watch(await person(email), { topics: ['shelves'] })
      await watched.waitFor('shelves', { shelves: [] })
      const { sessions } = await elsewhere.sessions.list()
      const added = sessions.find(({ id }) => before.every((each) => each.id !== id))

      await elsewhere.sessions.revoke({ revokeSessionToken: added?.token ?? '' })

      expect((await watched.end()).error).toMatchObject({
        code: 'UNAUTHORIZED',
        status: 401,
        defined: true,
        message: 'Sign in first',
      })
    })

    test('is refused with a typed error before the first event', async () => {
      const watchAll = (topics: unknown[]) => stranger.live.watch({ topics } as Input)

      await expect(watchAll(['visits', 'shelves'])).rejects.toMatchObject({
        code: 'UNAUTHORIZED',
        status: 401,
      })
      await expect(watchAll(['weather'])).rejects.toMatchObject({ code: 'BAD_REQUEST', status: 400 })
      await expect(watchAll([])).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        data: { issues: [{ path: 'topics', message: 'Must name at least one topic' }] },
      })
    })

    test('ends when the caller aborts the signal or returns the iterator', async () => {
      const controller = new AbortController()
      const aborted = await watch(stranger, { topics: ['visits'] }, { signal: controller.signal })
      const returned = await watch(stranger, { topics: ['visits'] })
      for (const watched of [aborted, returned]) await watched.waitFor('visits', {})

      controller.abort()
      await returned.stop()

      await aborted.end()
      expect(returned.ending).toEqual({ isDone: true })
    })

    test('ends when the caller aborts the signal after a garbage collection', async () => {
      const controller = new AbortController()
      const aborted = await watch(stranger, { topics: ['visits'] }, { signal: controller.signal })
      await aborted.waitFor('visits', {})

      collectGarbage()
      // What is collected calls its finalizers in a later iteration of the event loop.
      await new Promise(setImmediate)
      collectGarbage()
      controller.abort()

      await aborted.end()
    })
  })
})

/** Starts a proxy in front of the instances of the service. `target` is the origin of the instance. */
async function startSwitch() {
  const route = { target: service.origin as string | undefined }
  const proxy = await startProxy(service.origin, [], () => (client, startup) => {
    if (!route.target) return void client.resetAndDestroy()
    const upstream = connect(Number(new URL(route.target).port), '127.0.0.1')
    upstream.write(startup)
    client.pipe(upstream).pipe(client)
    upstream.on('error', () => undefined).on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  onTestFinished(() => {
    proxy.close()
  })
  return {
    route,
    origin: new URL(proxy.url).origin,
    connections: () => proxy.clients.length,
    cut: () => {
      for (const client of proxy.clients) client.resetAndDestroy()
    },
  }
}

describe.each([
  ['over RPC', createClient],
  ['over REST', createRestClient],
])('live.watch %s', (_, createTyped) => {
  test('resumes after the connection is cut: changed topics are sent once, unchanged topics are not', async () => {
    const { route, origin, cut, connections } = await startSwitch()
    const cookie = await service.signIn(newEmail())
    const results: unknown[] = []
    await setVisits(1)
    const watched = await watch(
      createTyped(origin, { headers: { cookie } }),
      { topics: ['visits', 'shelves'] },
      { context: { onRetry: () => (isSuccess) => void results.push(isSuccess) } },
    )
    await watched.waitFor('shelves', { shelves: [] })
    await watched.waitFor('visits', { count: 1 })

    for (const count of [2, 3]) {
      route.target = undefined
      const before = results.length
      cut()
      await setVisits(count)
      await vi.waitUntil(() => results.length > before, PATIENCE)
      route.target = service.origin
      await watched.waitFor('visits', { count })
    }

    expect(watched.statesOf('visits')).toEqual([{ count: 1 }, { count: 2 }, { count: 3 }])
    expect(watched.statesOf('shelves')).toHaveLength(1)
    expect(results.filter(Boolean)).toHaveLength(2)
    expect(connections()).toBe(results.length + 1)
  })

  test('resumes on another instance after the service stops', async () => {
    const stopping = await startInstance()
    const { route, origin } = await startSwitch()
    route.target = stopping.origin
    await setVisits(1)
    const watched = await watch(createTyped(origin), { topics: ['visits'] })
    await watched.waitFor('visits', { count: 1 })

    route.target = other.origin
    stopping.services.closing.abort()
    await stopping.close()
    await setVisits(2)

    await watched.waitFor('visits', { count: 2 })
    expect(watched.updates).toHaveLength(2)
  })

  test.each([
    ['this instance', service],
    ['another instance', other],
  ])('connects once more after the session is revoked on %s', async (__, { client }) => {
    const email = newEmail()
    const cookie = await service.signIn(email)
    const lost: unknown[] = []
    const watched = await watch(
      createTyped(service.origin, { headers: { cookie } }),
      { topics: ['visits', 'shelves'] },
      { context: { onRetry: ({ error }) => void lost.push(error) } },
    )
    await watched.waitFor('shelves', { shelves: [] })
    const owner = client({ cookie: await service.signIn(email) })
    const { sessions } = await owner.sessions.list()
    const revoked = sessions.find(({ isCurrent }) => !isCurrent)

    await owner.sessions.revoke({ revokeSessionToken: revoked?.token ?? '' })

    await vi.waitUntil(() => lost.length > 0, PATIENCE)
    expect((await watched.end()).error).toMatchObject({ code: 'UNAUTHORIZED', status: 401, defined: true })
    expect(lost).toMatchObject([{ message: 'The service ended the stream' }])
  })

  test('waits for a service that does not answer yet', async () => {
    const { route, origin, connections } = await startSwitch()
    route.target = undefined
    const starting = watch(createTyped(origin), { topics: ['visits'] })
    await vi.waitUntil(() => connections() > 1, PATIENCE)
    route.target = service.origin

    const watched = await starting

    await watched.waitFor('visits', {})
  })

  test('ends during the delay if the caller aborts the signal or returns the iterator', async () => {
    const MINUTE = 60_000
    const { route, origin, cut, connections } = await startSwitch()
    const lost: unknown[] = []
    const context: CallContext = { onRetry: ({ error }) => void lost.push(error) }
    const controller = new AbortController()
    const { signal } = controller
    const client = createTyped(origin)
    const aborted = await watch(client, { topics: ['visits'] }, { signal, context })
    const returned = await watch(client, { topics: ['visits'] }, { context })
    await aborted.waitFor('visits', {})
    await returned.waitFor('visits', {})
    setDelay(MINUTE / 1000)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    route.target = undefined
    cut()
    await vi.waitUntil(() => lost.length === 2, PATIENCE)
    const before = connections()

    controller.abort()
    const waiting = client.live.watch({ topics: ['visits'] }, { signal })
    await returned.stop()

    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    expect((await aborted.end()).error).toMatchObject({ name: 'AbortError' })
    expect(returned.ending).toEqual({ isDone: true })
    await vi.advanceTimersByTimeAsync(2 * MINUTE)
    // A connection of the streams would arrive before this connection.
    route.target = service.origin
    await client.status.get()
    expect(connections()).toBe(before + 1)
  })

  test('does not retry other calls', async () => {
    const { route, origin, connections } = await startSwitch()
    route.target = undefined

    await expect(createTyped(origin).visits.get()).rejects.toThrow()

    expect(connections()).toBe(1)
  })
})

describe('live.watch with a ClientRetryPlugin of the caller', () => {
  const connectWithPlugin = (origin: string, retried: unknown[]) =>
    createRpcClient<Contract, RetryContext>(origin, {
      plugins: [
        new ClientRetryPlugin({
          default: { retry: 9, retryDelay: 0, onRetry: ({ error }) => void retried.push(error) },
        }),
      ],
    })

  test('is resumed by the client only', async () => {
    const { origin, cut, connections } = await startSwitch()
    const retried: unknown[] = []
    const watched = await watch(connectWithPlugin(origin, retried), { topics: ['visits'] })
    await setVisits(7)
    await watched.waitFor('visits', { count: 7 })

    cut()
    await vi.waitUntil(() => connections() > 1, PATIENCE)
    await setVisits(8)
    await watched.waitFor('visits', { count: 8 })

    expect(connections()).toBe(2)
    expect(retried).toEqual([])
  })

  test('is resumed by the plugin only, if the context of the call has `retry`', async () => {
    const { route, origin, cut, connections } = await startSwitch()
    const retried: unknown[] = []
    const client = connectWithPlugin(origin, retried)
    const watched = await watch(client, { topics: ['visits'] }, { context: { retry: 2 } })
    await watched.waitFor('visits', {})

    route.target = undefined
    cut()

    await watched.end()
    expect(retried).toHaveLength(2)
    expect(connections()).toBe(3)
  })
})

describe("live.watch with oRPC's own OpenAPILink", () => {
  const connectStock = (url: string): LiveClient =>
    createORPCClient<JsonifiedClient<ContractRouterClient<Contract, ClientRetryPluginContext>>>(
      new OpenAPILink(contract, {
        url,
        customErrorResponseBodyDecoder: decodeErrorBody,
        plugins: [new ClientRetryPlugin()],
      }),
    )

  test('is resumed by ClientRetryPlugin, and repeats no state', async () => {
    const { origin, cut, connections } = await startSwitch()
    await setVisits(1)
    const context = { retry: Infinity, retryDelay: 10 }
    const watched = await watch(connectStock(origin), { topics: ['visits'] }, { context })
    await watched.waitFor('visits', { count: 1 })

    cut()
    await vi.waitUntil(() => connections() === 2, PATIENCE)
    await setVisits(2)

    await watched.waitFor('visits', { count: 2 })
    expect(watched.statesOf('visits')).toEqual([{ count: 1 }, { count: 2 }])
  })

  test('is refused with a typed error', async () => {
    const { error } = await safe(connectStock(service.origin).live.watch({ topics: ['shelves'] }))

    expect(isDefinedError(error) && error.code).toBe('UNAUTHORIZED')
  })
})

describe('GET /api/live', () => {
  test.each([
    ['the same instance', service],
    ['another instance', other],
  ])('ends after the session is revoked on %s', async (_, { client }) => {
    const email = newEmail()
    const cookie = await service.signIn(email)
    const response = await fetch(`${service.origin}/api/live?topics=sessions`, { headers: { cookie } })
    const owner = client({ cookie: await service.signIn(email) })
    const token = sessionTokenIn(cookie)

    await owner.sessions.revoke({ revokeSessionToken: token })

    // The body is complete when the stream has ended.
    expect(await response.text()).toContain('"topic":"sessions"')
  })
})
