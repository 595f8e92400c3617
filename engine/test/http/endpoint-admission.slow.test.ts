import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import { endpoint } from 'tallystick'
import { afterEach, describe, expect, test } from 'vitest'

import { MAX_INCOMPLETE } from '../../http/server/body-limits.ts'
import { rateLimit, startEndpoints } from '../fixtures/endpoints-app.ts'

const SLOTS = 3
const shared = { method: 'POST', rateLimit } as const
const readAll = async (request: Request) => new Response(await request.text())
const started: (() => void)[] = []

const service = await startEndpoints(
  {
    stream: endpoint({ ...shared, path: '/stream', body: 'stream' }, async ({ request }) => {
      started.shift()?.()
      return readAll(request)
    }),
    text: endpoint({ ...shared, path: '/text', body: 'text' }, ({ body }) => new Response(body)),
    large: endpoint({ ...shared, path: '/large', body: 'stream', maxBytes: 2 ** 40 }, ({ request }) =>
      readAll(request),
    ),
    short: endpoint(
      { ...shared, path: '/short', body: 'text', timeout: 1 },
      ({ body }) => new Response(body),
    ),
    shortStream: endpoint({ ...shared, path: '/short-stream', body: 'stream', timeout: 1 }, ({ request }) =>
      readAll(request),
    ),
    long: endpoint({ ...shared, path: '/long', body: 'bytes', timeout: 600 }, () => new Response('done')),
  },
  { MAX_REQUESTS: String(SLOTS), TRUSTED_PROXIES: '127.0.0.1' },
)
const { origin } = service

const open: ClientRequest[] = []
afterEach(() => {
  for (const request of open.splice(0)) request.destroy()
})

/** Sends the first byte of a body. */
function begin(path: string, address = '198.51.100.1') {
  const headers = { 'x-forwarded-for': address, 'content-type': 'text/plain' }
  const sent = sendRequest(origin + path, { method: 'POST', agent: false, headers })
  open.push(sent)
  sent.on('error', () => undefined)
  sent.write('a')
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  answered.catch(() => undefined)
  return { sent, status: async () => (await answered)[0].statusCode }
}

/** Begins a stream, and waits until its handler runs. */
async function beginStream() {
  const running = new Promise<void>((resolve) => started.push(resolve))
  const begun = begin('/stream')
  await running
  return begun
}

const statusOf = async (path: string) => (await fetch(origin + path)).status

describe('a stream', () => {
  test('occupies a slot from its start until its answer', async () => {
    const streams = []
    for (let count = 0; count < SLOTS; count++) streams.push(await beginStream())

    expect(await statusOf('/api/visits')).toBe(503)
    expect(await statusOf('/api/health/live')).toBe(200)
    streams[0]?.sent.end()
    expect(await streams[0]?.status()).toBe(200)
    await expect.poll(() => statusOf('/api/visits')).toBe(200)
  })

  test('frees its slot if the client leaves', async () => {
    const streams = []
    for (let count = 0; count < SLOTS; count++) streams.push(await beginStream())

    for (const { sent } of streams) sent.destroy()

    await expect.poll(() => statusOf('/api/visits')).toBe(200)
  })

  test('with a large maximum does not displace incomplete bodies of others', async () => {
    const [text, large] = [begin('/text', '198.51.100.4'), begin('/large', '198.51.100.5')]

    large.sent.end()
    expect(await large.status()).toBe(200)
    text.sent.end()
    expect(await text.status()).toBe(200)
  })

  test('is 408 if its body takes longer than its timeout', async () => {
    expect(await begin('/short-stream').status()).toBe(408)
  })
})

describe('another body', () => {
  test('occupies no slot before it is complete', async () => {
    for (let count = 0; count < SLOTS + 1; count++) begin('/text')

    expect(await statusOf('/api/visits')).toBe(200)
  })

  test('is 408 after the timeout of its endpoint', async () => {
    const [short, text] = [begin('/short'), begin('/text')]

    expect(await short.status()).toBe(408)
    text.sent.end()
    expect(await text.status()).toBe(200)
  })

  test('is 408 if its network has too many incomplete bodies', async () => {
    const [first] = Array.from({ length: MAX_INCOMPLETE / 4 + 1 }, () => begin('/text'))

    expect(await first?.status()).toBe(408)
  })
})

test(
  'a body elsewhere has 30 seconds, although an endpoint has ten minutes',
  { timeout: 90_000 },
  async () => {
    const [elsewhere, long] = [begin('/text', '198.51.100.2'), begin('/long', '198.51.100.3')]

    expect(await elsewhere.status()).toBe(408)
    long.sent.end()
    expect(await long.status()).toBe(200)
  },
)
