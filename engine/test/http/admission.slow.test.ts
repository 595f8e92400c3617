import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, afterEach, describe, expect, test } from 'vitest'

import { MAX_INCOMPLETE } from '../../http/server/body-limits.ts'
import { createApp } from '../../http/server/app.ts'
import { createFetch } from '../fixtures/http.ts'
import { withTableLocked, newEmail, startService } from '../fixtures/service.ts'

/** How long a test waits for a condition before it fails. */
const WAIT = { timeout: 20_000 }

const service = await startService({ MAX_REQUESTS: '4', TRUSTED_PROXIES: '127.0.0.1' })
const server = createApp(service.services).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
afterAll(() => {
  server.close().closeAllConnections()
})
const call = createFetch({ origin: `http://127.0.0.1:${port}` })
const cookie = await service.signIn(newEmail())

/** Maximum number of incomplete requests of one address, or of one IPv6 /64. */
const OF_ADDRESS = MAX_INCOMPLETE / 4

const BODY = JSON.stringify({ by: 'Ada' })
const sockets: Socket[] = []
/** The connections of `sockets` at the server. */
const serverSockets: Socket[] = []

/** Closes connections, and waits until the server has noticed. */
async function disconnect(near: Socket[], far: Socket[]) {
  for (const socket of near) socket.destroy()
  for (const socket of far) if (!socket.closed) await once(socket, 'close')
}

afterEach(() => disconnect(sockets.splice(0), serverSockets.splice(0)))

/** Resolves when the headers of this number of further requests have arrived. Returns the last request. */
const arrival = (count = 1) =>
  new Promise<IncomingMessage>((resolve) => {
    const onRequest = (request: IncomingMessage) => {
      if (--count > 0) return
      server.off('request', onRequest)
      resolve(request)
    }
    server.on('request', onRequest)
  })

/**
 * Sends the first half of a request with a body, and waits until the half has arrived. The request contains the address
 * in the header X-Forwarded-For.
 */
async function sendHalf(address: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  sockets.push(socket)
  let said = ''
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await once(socket, 'connect')
  const head =
    `POST /api/visits/add HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: ${address}\r\n` +
    `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n`
  const arrived = arrival()
  socket.write(head + BODY.slice(0, 5))
  serverSockets.push((await arrived).socket)
  const status = () => Number(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? 0)
  const finish = async () => {
    socket.write(BODY.slice(5))
    await expect.poll(status, WAIT).not.toBe(0)
    return status()
  }
  return { status, finish, said: () => said, closed: () => socket.closed }
}

type Half = Awaited<ReturnType<typeof sendHalf>>

/** Sends the first halves of several requests, one after another. */
async function sendHalves(addresses: string[]) {
  const halves: Half[] = []
  for (const address of addresses) halves.push(await sendHalf(address))
  return halves
}

const times = <Value>(many: number, make: (index: number) => Value) =>
  Array.from({ length: many }, (_, index) => make(index))

const statusesOf = (halves: Half[]) => halves.map(({ status }) => status())

/** Waits until this number of requests has been ended, which shows that the service has counted the later requests. */
const waitForEnded = (halves: Half[], count: number) =>
  expect.poll(() => statusesOf(halves).filter((status) => status === 408).length, WAIT).toBe(count)

describe('incomplete requests', () => {
  test('do not delay complete requests of the same address, with or without a body', async () => {
    const halves = await sendHalves(times(OF_ADDRESS + 36, () => '198.51.100.1'))
    await waitForEnded(halves, 36)

    const from = { 'x-forwarded-for': '198.51.100.1' }
    for (const [method, path, body] of [
      ['GET', '/api/visits'],
      ['GET', '/api/health/ready'],
      ['POST', '/api/visits/add', BODY],
    ] as const)
      expect(await call(method, path, body, from)).toMatchObject({ status: 200 })
    expect(statusesOf(halves)).toEqual([...times(36, () => 408), ...times(OF_ADDRESS, () => 0)])
  })

  test('receive an error, and their connections close', async () => {
    const [first] = await sendHalves(times(OF_ADDRESS + 1, () => '198.51.100.2'))

    await expect.poll(() => first?.closed(), WAIT).toBe(true)
    expect(first?.said()).toContain('"code":"REQUEST_TIMEOUT"')
    expect(first?.said().toLowerCase()).toContain('connection: close')
  })

  test('of one address do not end requests of another address', async () => {
    const slow = await sendHalf('203.0.113.7')
    await waitForEnded(await sendHalves(times(OF_ADDRESS + 40, () => '198.51.100.3')), 40)

    expect(await slow.finish()).toBe(200)
  })

  test('of several addresses do not end requests of an address with fewer', async () => {
    const slow = await sendHalf('203.0.113.10')
    const halves = await sendHalves(times(MAX_INCOMPLETE + 40, (index) => `198.51.100.${20 + (index % 8)}`))
    await waitForEnded(halves, 41)

    expect(await slow.finish()).toBe(200)
  })

  test('of one IPv6 /64 network count together', async () => {
    const halves = await sendHalves(times(OF_ADDRESS + 2, (index) => `2001:db8:1:2:${index}::1`))
    const other = await sendHalf('2001:db8:1:3::1')
    await waitForEnded(halves, 2)

    expect(statusesOf(halves)).toEqual([408, 408, ...times(OF_ADDRESS, () => 0)])
    expect(await other.finish()).toBe(200)
  })

  test('of many /64 networks in one /48 do not end requests of another address', async () => {
    const slow = await sendHalf('203.0.113.11')
    const halves = await sendHalves(times(MAX_INCOMPLETE + 40, (index) => `2001:db8:9:${index}::1`))
    await waitForEnded(halves, 41)

    expect(await slow.finish()).toBe(200)
  })

  test('of many addresses end the oldest request, and a request that completes soon is answered', async () => {
    const halves = await sendHalves(
      times(MAX_INCOMPLETE + 4, (index) => `192.0.${2 + (index >> 8)}.${index & 255}`),
    )
    await waitForEnded(halves, 4)

    expect(statusesOf(halves.slice(0, 4))).toEqual([408, 408, 408, 408])
    expect(await (await sendHalf('203.0.113.8')).finish()).toBe(200)
    await waitForEnded(halves, 5)
  })

  test('no longer count after completion or a disconnect', async () => {
    const send = () => sendHalves(times(OF_ADDRESS, () => '198.51.100.4'))
    for (const half of await send()) expect(await half.finish()).toBe(200)
    await send()
    await disconnect(sockets.splice(-OF_ADDRESS), serverSockets.splice(-OF_ADDRESS))

    const halves = await send()

    const statuses: number[] = []
    for (const half of halves) statuses.push(await half.finish())
    expect(statuses).toEqual(times(OF_ADDRESS, () => 200))
  })
})

describe('beyond MAX_REQUESTS, a request', () => {
  test('receives 503 after its last byte, with or without a body', async () => {
    const held: Promise<unknown>[] = []
    await withTableLocked(service.databaseUrl, 'shelves', async () => {
      const early = await sendHalf('203.0.113.9')
      const arrived = arrival(4)
      for (let index = 0; index < 4; index++) held.push(call('GET', '/api/shelves', undefined, { cookie }))
      await arrived

      const answers = [await call('GET', '/api/visits'), await call('POST', '/api/visits/add', BODY)]
      for (const { status, headers, body } of answers) {
        expect({ status, body }).toMatchObject({
          status: 503,
          body: { message: 'The service is at its limit of concurrent requests' },
        })
        expect(headers.get('retry-after')).toBe('1')
        expect(headers.get('x-request-id')).not.toBeNull()
      }
      expect(await early.finish()).toBe(503)
      expect((await call('GET', '/api/health/live')).status).toBe(200)
    })
    await Promise.all(held)
  })
})

describe('pipelined requests', () => {
  test('no longer count after their connection closes', async () => {
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`
    await withTableLocked(service.databaseUrl, 'shelves', async () => {
      const arrived = arrival(4)
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      socket.write(get('/api/shelves') + get('/api/visits').repeat(3))
      const { socket: far } = await arrived
      expect((await call('GET', '/api/visits')).status).toBe(503)
      await disconnect([socket], [far])
    })

    const held: Promise<unknown>[] = []
    await withTableLocked(service.databaseUrl, 'shelves', async () => {
      const arrived = arrival(3)
      held.push(...times(3, () => call('GET', '/api/shelves', undefined, { cookie })))
      await arrived
      expect((await call('GET', '/api/visits')).status).toBe(200)
    })
    await Promise.all(held)
  })

  test('are limited to 32 without a response, and then the connection is closed', async () => {
    const get = `GET /api/shelves HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`
    await withTableLocked(service.databaseUrl, 'shelves', async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      const closed = once(socket, 'close')

      socket.write(get.repeat(33))

      await closed
      expect((await call('GET', '/api/visits')).status).toBe(200)
    })
  })
})
