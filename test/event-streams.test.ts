import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/fetch'
import { BatchLinkPlugin, ClientRetryPlugin, type ClientRetryPluginContext } from '@orpc/client/plugins'
import type { ContractRouterClient } from '@orpc/contract'
import { OpenAPILink } from '@orpc/openapi-client/fetch'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { type CallContext, createClient } from '../contract/client.ts'
import { createApp } from '../src/http/app.ts'
import { createLog } from '../src/telemetry/log.ts'
import { done, liveContract, PADDING } from './live-procedures.ts'
import { newEmail, startService } from './service.ts'

vi.mock('../src/procedures/index.ts', async (original) => {
  const { createLiveRouter } = await import('./live-procedures.ts')
  const { router } = await original<typeof import('../src/procedures/index.ts')>()
  return { router: { ...router, live: createLiveRouter(router.status.get) } }
})

const service = await startService({ ANSWER_TIMEOUT: '0.9', MAX_REQUESTS: '2' })
const lines: string[] = []
const log = createLog(
  { logLevel: 'info', service: 'test', release: 'local' },
  { write: (line) => void lines.push(line) },
)

async function start() {
  const closing = new AbortController()
  const server = createApp({ ...service.services, log, closing }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, closing, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
const { origin } = await start()

type LiveClient = ContractRouterClient<typeof liveContract, ClientRetryPluginContext>
const plugins = [new ClientRetryPlugin()]
const overRpc = (address = origin): LiveClient =>
  createORPCClient(new RPCLink<ClientRetryPluginContext>({ url: `${address}/rpc`, plugins }))
const overRest = (address = origin): LiveClient =>
  createORPCClient(new OpenAPILink<ClientRetryPluginContext>(liveContract, { url: address, plugins }))

/** Reads all events. Returns their numbers and the error at the end. */
async function collect(events: AsyncIterable<{ n: number }>) {
  const numbers: number[] = []
  try {
    for await (const { n } of events) numbers.push(n)
    return { numbers }
  } catch (error) {
    return { numbers, error }
  }
}

const waitForEnds = (count: number) =>
  vi.waitFor(
    () => {
      expect(done.ended).toBe(count)
    },
    { timeout: 10_000 },
  )

beforeEach(() => {
  Object.assign(done, { produced: 0, ended: 0 })
  lines.length = 0
})

describe.each([
  ['RPC', overRpc],
  ['REST', overRest],
])('an event iterator over %s', (_, connect) => {
  test('sends its events and ends', async () => {
    expect(await collect(await connect().live.count({ to: 3 }))).toEqual({ numbers: [1, 2, 3] })
    expect(done).toEqual({ produced: 3, ended: 1 })
  })

  test('sends a typed error after the first event', async () => {
    const { numbers, error } = await collect(await connect().live.count({ to: 9, failAt: 3 }))

    expect(numbers).toEqual([1, 2])
    expect(error).toMatchObject({ code: 'TOO_FAR', status: 409, defined: true, data: { at: 3 } })
  })

  test('hides and logs an unexpected error', async () => {
    const { numbers, error } = await collect(await connect().live.crash())

    expect(numbers).toEqual([1])
    expect(error).toMatchObject({ code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' })
    expect(lines.join('')).toContain('"procedure":"live.crash"')
    expect(lines.join('')).not.toContain('swordfish')
  })

  test('ends when the client disconnects, and frees its slot', async () => {
    for (let index = 0; index < 4; index++) {
      const controller = new AbortController()
      const events = await connect().live.wait(undefined, { signal: controller.signal })
      await events.next()

      controller.abort()

      await waitForEnds(index + 1)
    }
  })

  test('continues after the last event if the client connects again', async () => {
    const context = { retry: 1, retryDelay: 0 }

    const answer = await collect(await connect().live.count({ to: 4, failAt: 3 }, { context }))

    expect(answer).toEqual({ numbers: [1, 2, 3, 4] })
  })

  test('ends with an error when the server closes', async () => {
    const { server, closing, origin: address } = await start()
    const events = await connect(address).live.wait()
    await events.next()
    const next = collect(events)

    closing.abort()
    server.close()

    expect((await next).error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 })
    await waitForEnds(1)
  })

  test('stays open without events for longer than ANSWER_TIMEOUT', async () => {
    const controller = new AbortController()
    const events = await connect().live.wait(undefined, { signal: controller.signal })
    await events.next()

    await sleep(2500)

    expect(done.ended).toBe(0)
    controller.abort()
    await waitForEnds(1)
  })
})

describe('an event stream', () => {
  const open = async (path: string) => {
    const request = get(origin + path, { agent: false })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return response
  }

  test('has the headers of an event stream', async () => {
    const { statusCode, headers } = (await open('/api/live/count?to=1')).resume()

    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
  })

  test('reads only as many events as the client receives, and disconnects a client that receives nothing', async () => {
    const response = await open('/api/live/flood')
    await waitForEnds(1)

    expect(done.produced).toBeGreaterThan(2)
    // The buffers of the sockets store some megabytes.
    expect(done.produced * PADDING.length).toBeLessThan(50_000_000)
    response.destroy()
  })

  test('does not disconnect a slow client that receives events', async () => {
    const response = await open('/api/live/flood')
    let received = 0
    response.on('data', ({ length }: Buffer) => (received += length))
    for (let round = 0; round < 12; round++) {
      await sleep(50)
      response.pause()
      await sleep(150)
      response.resume()
    }

    expect(done.ended).toBe(0)
    expect(received).toBeGreaterThan(1_000_000)
    response.destroy()
    await waitForEnds(1)
  })

  test('answers HEAD without events', async () => {
    const { status, headers } = await fetch(`${origin}/api/live/wait`, { method: 'HEAD' })

    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  })

  test('is refused in a batch, and its iterator ends', async () => {
    const batching = new BatchLinkPlugin({ groups: [{ condition: () => true, context: {} }] })
    const client: LiveClient = createORPCClient(new RPCLink({ url: `${origin}/rpc`, plugins: [batching] }))

    const [first, second] = await Promise.allSettled([
      client.live.count({ to: 3 }),
      client.live.count({ to: 3 }),
    ])

    const error = { reason: { code: 'BAD_REQUEST', status: 400 } }
    expect([first, second]).toMatchObject([error, error])
  })
})

describe('the retry plugin', () => {
  test('repeats a call of createClient that is refused because the service is full', async () => {
    const cookie = await service.signIn(newEmail())
    const controllers = [new AbortController(), new AbortController()]
    for (const { signal } of controllers) await (await overRpc().live.wait(undefined, { signal })).next()
    const refused: unknown[] = []
    const client = createClient<CallContext & ClientRetryPluginContext>(origin, {
      headers: { cookie },
      plugins: [
        new ClientRetryPlugin({
          default: {
            retry: 10,
            retryDelay: 50,
            onRetry: ({ error }) => {
              refused.push(error)
              for (const controller of controllers) controller.abort()
            },
          },
        }),
      ],
    })

    expect(await client.tasks.create({ taskTitle: 'x' }, { context: { reply: new Map() } })).toMatchObject({
      title: 'x',
    })

    expect(refused[0]).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 })
  })
})
