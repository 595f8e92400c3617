import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import { endpoint } from 'tallystick'
import { afterEach, describe, expect, test } from 'vitest'

import { MAX_TRANSFERS } from '../../http/endpoints/transfer-limits.ts'
import { rateLimit, startEndpoints } from '../fixtures/endpoints-app.ts'
import { newEmail } from '../fixtures/service.ts'

/** More bytes than the buffers of a connection. */
const SIZE = 32 * 2 ** 20
const ENDLESS = () =>
  new ReadableStream({
    pull: (controller) => {
      controller.enqueue(Buffer.alloc(65_536))
    },
  })
const download = { method: 'GET', rateLimit } as const
/** Ends the calls of webhooks. */
let answerAll: () => void = () => undefined
let started = 0

const service = await startEndpoints(
  {
    file: endpoint({ ...download, path: '/file', access: {} }, () => new Response(ENDLESS())),
    open: endpoint({ ...download, path: '/open' }, () => new Response(ENDLESS())),
    upload: endpoint(
      {
        method: 'PUT',
        rateLimit,
        path: '/upload',
        body: 'stream',
        maxBytes: SIZE,
        access: { sensitive: true },
      },
      async ({ request }) => new Response(await request.text()),
    ),
    webhook: endpoint({ method: 'POST', rateLimit, path: '/webhook', body: 'bytes' }, async () => {
      started++
      await ended
      return new Response('done')
    }),
  },
  { TRUSTED_PROXIES: '127.0.0.1' },
)
const ended = new Promise<void>((resolve) => {
  answerAll = resolve
})

const sent: ClientRequest[] = []
afterEach(() => {
  for (const request of sent.splice(0)) request.destroy()
})

/** Sends a request without reading the body of its answer, or the first byte of an upload. */
function begin(method: string, path: string, headers: Record<string, string>) {
  const request = sendRequest(service.origin + path, { method, agent: false, headers })
  sent.push(request)
  request.on('error', () => undefined)
  if (method === 'PUT') request.write('a')
  else request.end()
  return request
}

async function statusOf(request: ClientRequest) {
  const [{ statusCode, headers }] = (await once(request, 'response')) as [IncomingMessage]
  return { status: statusCode, retryAfter: headers['retry-after'] }
}

const signIn = async () => ({
  cookie: await service.signIn(newEmail()),
  'sec-fetch-site': 'same-origin',
  'x-forwarded-for': '198.51.100.1',
})
const fromNetwork = (address: string) => ({ 'x-forwarded-for': address })
const beginFile = (headers: Record<string, string>) => statusOf(begin('GET', '/file', headers))
const beginOpen = (headers: Record<string, string>) => statusOf(begin('GET', '/open', headers))
const refused = { status: 429, retryAfter: '5' }

describe('the slow downloads', () => {
  test('of an account are limited, and refuse nobody else', async () => {
    const [ada, bob] = [await signIn(), await signIn()]
    for (let count = 0; count < MAX_TRANSFERS; count++) expect((await beginFile(ada)).status).toBe(200)

    expect(await beginFile(ada)).toEqual(refused)
    expect((await beginFile(bob)).status).toBe(200)
    sent[0]?.destroy()
    await expect.poll(async () => (await beginFile(ada)).status).toBe(200)
  })

  test('of a network without an account are limited, and refuse neither others nor accounts', async () => {
    const stranger = fromNetwork('198.51.100.1')
    for (let count = 0; count < MAX_TRANSFERS; count++) expect((await beginOpen(stranger)).status).toBe(200)

    expect(await beginOpen(stranger)).toEqual(refused)
    expect((await beginOpen(fromNetwork('198.51.100.2'))).status).toBe(200)
    expect((await beginFile(await signIn())).status).toBe(200)
  })
})

test('the slow uploads of an account are limited', async () => {
  const ada = await signIn()
  for (let count = 0; count < MAX_TRANSFERS; count++) begin('PUT', '/upload', ada)
  const isRefused = async () => {
    const probe = begin('GET', '/file', ada)
    const { status } = await statusOf(probe)
    probe.destroy()
    return status
  }

  await expect.poll(isRefused).toBe(429)
  expect(await statusOf(begin('PUT', '/upload', ada))).toEqual(refused)
})

test('webhooks of one network are not counted', async () => {
  const all = Array.from({ length: MAX_TRANSFERS + 10 }, () =>
    statusOf(begin('POST', '/webhook', fromNetwork('198.51.100.3'))),
  )
  await expect.poll(() => started).toBe(MAX_TRANSFERS + 10)

  answerAll()

  for (const { status } of await Promise.all(all)) expect(status).toBe(200)
})
