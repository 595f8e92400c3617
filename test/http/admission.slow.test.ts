import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'

import { createFetch } from '../fixtures/http.ts'
import { withTableLocked, newEmail, startService } from '../fixtures/service.ts'

const service = await startService({ MAX_REQUESTS: '4', MAX_INCOMPLETE: '16', TRUSTED_PROXIES: '127.0.0.1' })
const port = Number(new URL(service.origin).port)
const call = createFetch(service)
const cookie = await service.signIn(newEmail())

const BODY = JSON.stringify({ name: 'Ada', guests: 2 })
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await sleep(50)
})

/** Sends the first half of a request with a body. The request contains the address in the header X-Forwarded-For. */
async function sendHalf(address: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  sockets.push(socket)
  let said = ''
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await once(socket, 'connect')
  const head =
    `POST /api/reservations HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: ${address}\r\n` +
    `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n`
  socket.write(head + BODY.slice(0, 5))
  const status = () => Number(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? 0)
  const finish = async () => {
    socket.write(BODY.slice(5))
    await expect.poll(status).not.toBe(0)
    return status()
  }
  return { status, finish, said: () => said, closed: () => socket.closed }
}

/** Sends the first halves of several requests, one after another. */
async function sendHalves(addresses: string[]) {
  const halves: Awaited<ReturnType<typeof sendHalf>>[] = []
  for (const address of addresses) halves.push(await sendHalf(address))
  await sleep(100)
  return halves
}

const times = <Value>(many: number, make: (index: number) => Value) =>
  Array.from({ length: many }, (_, index) => make(index))

describe('incomplete requests', () => {
  test('do not delay complete requests of the same address, with or without a body', async () => {
    const halves = await sendHalves(times(100, () => '198.51.100.1'))

    const from = { 'x-forwarded-for': '198.51.100.1' }
    for (const [method, path, body] of [
      ['GET', '/api/counter'],
      ['GET', '/api/health/ready'],
      ['POST', '/api/reservations', BODY],
    ] as const)
      expect(await call(method, path, body, from)).toMatchObject({ status: 200 })
    expect(halves.map(({ status }) => status())).toEqual([
      ...times(96, () => '').map(() => 408),
      ...times(4, () => '').map(() => 0),
    ])
  })

  test('receive an error, and their connections close', async () => {
    const [first] = await sendHalves(times(5, () => '198.51.100.2'))

    await expect.poll(() => first?.closed(), { timeout: 5000 }).toBe(true)
    expect(first?.said()).toContain('"code":"REQUEST_TIMEOUT"')
    expect(first?.said().toLowerCase()).toContain('connection: close')
  })

  test('of one address do not end requests of another address', async () => {
    const slow = await sendHalf('203.0.113.7')
    await sendHalves(times(50, () => '198.51.100.3'))

    expect(await slow.finish()).toBe(200)
  })

  test('of several addresses do not end requests of an address with fewer', async () => {
    const slow = await sendHalf('203.0.113.10')
    await sendHalves(times(50, (index) => `198.51.100.${20 + (index % 8)}`))

    expect(await slow.finish()).toBe(200)
  })

  test('of one IPv6 /64 network count together', async () => {
    const halves = await sendHalves(times(6, (index) => `2001:db8:1:2:${index}::1`))
    const other = await sendHalf('2001:db8:1:3::1')

    expect(halves.map(({ status }) => status())).toEqual([408, 408, 0, 0, 0, 0])
    expect(await other.finish()).toBe(200)
  })

  test('of many addresses end the oldest request, and a request that completes soon is answered', async () => {
    const halves = await sendHalves(times(20, (index) => `192.0.2.${index}`))

    expect(halves.map(({ status }) => status()).filter((status) => status === 408)).toHaveLength(4)
    expect(halves.slice(0, 4).map(({ status }) => status())).toEqual([408, 408, 408, 408])
    expect(await (await sendHalf('203.0.113.8')).finish()).toBe(200)
  })

  test('no longer count after completion or a disconnect', async () => {
    for (const half of await sendHalves(times(4, () => '198.51.100.4'))) expect(await half.finish()).toBe(200)
    for (const _ of await sendHalves(times(4, () => '198.51.100.4'))) sockets.pop()?.destroy()
    await sleep(100)

    const halves = await sendHalves(times(4, () => '198.51.100.4'))

    expect(halves.map(({ status }) => status())).toEqual([0, 0, 0, 0])
  })
})

describe('beyond MAX_REQUESTS, a request', () => {
  test('receives 503 after its last byte, with or without a body', async () => {
    await withTableLocked(service.databaseUrl, 'tasks', async () => {
      const early = await sendHalf('203.0.113.9')
      for (let index = 0; index < 4; index++) void call('GET', '/api/tasks', undefined, { cookie })
      await sleep(300)

      const answers = [await call('GET', '/api/counter'), await call('POST', '/api/reservations', BODY)]
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
  })
})

describe('pipelined requests', () => {
  test('no longer count after their connection closes', async () => {
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`
    await withTableLocked(service.databaseUrl, 'tasks', async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      socket.write(get('/api/tasks') + get('/api/counter').repeat(3))
      await sleep(300)
      expect((await call('GET', '/api/counter')).status).toBe(503)
      socket.destroy()
    })
    await sleep(200)

    await withTableLocked(service.databaseUrl, 'tasks', async () => {
      void Promise.allSettled(times(3, () => call('GET', '/api/tasks', undefined, { cookie })))
      await sleep(300)
      expect((await call('GET', '/api/counter')).status).toBe(200)
    })
  })
})
