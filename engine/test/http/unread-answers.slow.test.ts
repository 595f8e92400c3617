import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'

import { createApp } from '../../http/server/app.ts'
import { MeasuredResponse } from '../../http/server/connection.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { newEmail, startService } from '../fixtures/service.ts'
import { shelves } from '../library/db.ts'

const MEBIBYTE = 1024 * 1024

const service = await startService({ TRUSTED_PROXIES: '127.0.0.1', ANSWER_TIMEOUT: '600' })
const responses: MeasuredResponse[] = []
const server = createApp(service.services)
  .prependListener('request', (_, response: ServerResponse) => {
    if (response instanceof MeasuredResponse) responses.push(response as MeasuredResponse)
  })
  .listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const sockets: Socket[] = []
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  server.close().closeAllConnections()
})

/** Signs in a person with a list of shelves of this size, in bytes of JSON. Returns the cookie. */
async function signInWithShelves(size: number) {
  const cookie = await service.signIn(newEmail())
  const { id: userId } = await service.client({ cookie }).account.get()
  const name = '\u0001'.repeat(10_000)
  const count = Math.ceil(size / (6 * name.length))
  await service.services.db.insert(shelves).values(Array.from({ length: count }, () => ({ userId, name })))
  return cookie
}

/** Opens a connection that sends requests (HTTP pipelining), and reads no response. */
function sendWithoutReading(request: string, headers: Record<string, string>, count: number) {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  sockets.push(socket)
  socket.pause().write(`${request} HTTP/1.1\r\n${lines.join('')}\r\n`.repeat(count))
}

const unreadBytes = () =>
  responses.reduce((sum, { unreadLength, destroyed }) => sum + (destroyed ? 0 : unreadLength), 0)

/** Waits until all responses have ended or have been closed. */
const waitForResponses = (count: number) =>
  expect
    .poll(
      () => responses.filter(({ writableEnded, destroyed }) => writableEnded || destroyed).length,
      PATIENCE,
    )
    .toBe(count)

describe('unread answers', () => {
  test('of one person occupy at most 8 MiB and the newest answer, also with different headers', async () => {
    const cookie = await signInWithShelves(0.9 * MEBIBYTE)
    responses.length = 0

    for (let index = 0; index < 4; index++)
      sendWithoutReading(
        'GET /api/shelves',
        {
          cookie: `${cookie}; other=${index}`,
          authorization: `Basic ${index}`,
          'x-forwarded-for': `192.0.2.${index}`,
        },
        8,
      )

    await waitForResponses(32)
    await expect.poll(unreadBytes, PATIENCE).toBeLessThanOrEqual(9 * MEBIBYTE)
    expect(unreadBytes()).toBeGreaterThan(4 * MEBIBYTE)
  })

  test('of one network occupy at most 32 MiB, and those of other networks stay', async () => {
    const cookies = await Promise.all(Array.from({ length: 16 }, () => signInWithShelves(0.9 * MEBIBYTE)))
    responses.length = 0
    const [victim = '', ...others] = cookies
    sendWithoutReading('GET /api/shelves', { cookie: victim, 'x-forwarded-for': '203.0.113.1' }, 8)
    await waitForResponses(8)
    const ofVictim = responses.at(-1)

    for (const cookie of others)
      sendWithoutReading('GET /api/shelves', { cookie, 'x-forwarded-for': '198.51.100.1' }, 8)

    await waitForResponses(128)
    await expect.poll(unreadBytes, PATIENCE).toBeLessThanOrEqual((32 + 1 + 8) * MEBIBYTE)
    expect(unreadBytes()).toBeGreaterThan(12 * MEBIBYTE)
    expect(ofVictim?.destroyed).toBe(false)
  })
})
