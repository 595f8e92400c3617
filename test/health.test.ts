import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { createTallystick } from '../src/testing.ts'
import { createApp } from '../src/app.ts'
import { createFetch, startService } from './service.ts'

/** A way to the database that can be cut, or fall silent. */
class Wire {
  state: 'open' | 'cut' | 'silent' = 'open'
  readonly #sockets = new Set<Socket>()
  readonly #server: Server

  constructor(host: string, port: number) {
    this.#server = createServer((near) => {
      if (this.state === 'cut') return void near.destroy()
      const far = connect(port, host)
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket))
      }
      near.on('data', (bytes) => this.state === 'open' && far.write(bytes)).on('close', () => far.destroy())
      far.on('data', (bytes) => this.state === 'open' && near.write(bytes)).on('close', () => near.destroy())
    })
  }

  async listen() {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  cut() {
    this.state = 'cut'
    this.hangUp()
  }

  hangUp() {
    for (const socket of this.#sockets) socket.destroy()
  }

  close() {
    this.hangUp()
    this.#server.close()
  }
}

const { databaseUrl, parts } = await startService()
const url = new URL(databaseUrl)
const wire = new Wire(url.hostname, Number(url.port))
url.port = String(await wire.listen())
url.hostname = '127.0.0.1'
const tallystick = await createTallystick({ DATABASE_URL: url.href, ANSWER_TIMEOUT: '1', MAX_REQUESTS: '20' })
const server = createApp(tallystick.parts).listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
const call = createFetch({ origin })

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await tallystick.close()
  wire.close()
})

beforeEach(async () => {
  wire.state = 'open'
  await vi.waitFor(async () => {
    expect((await call('GET', '/api/counter')).status).toBe(200)
  }, 10_000)
})

const live = () => call('GET', '/api/health/live')
const ready = () => call('GET', '/api/health/ready')

describe('/api/health', () => {
  test('answers while all is well', async () => {
    expect([await live(), await ready()]).toMatchObject([
      { status: 200, body: { status: 'ok' } },
      { status: 200, body: { status: 'ok' } },
    ])
  })

  test('knows GET alone, and nothing else', async () => {
    expect(await call('POST', '/api/health/live')).toMatchObject({ status: 405 })
    expect(await call('GET', '/api/health/other')).toMatchObject({ status: 404 })
  })

  test('is not ready once the process is told to stop, and still alive', async () => {
    tallystick.parts.state.stopping = true
    const answers = [await live(), await ready(), await call('GET', '/api/counter')]
    tallystick.parts.state.stopping = false

    expect(answers.map(({ status }) => status)).toEqual([200, 503, 200])
  })
})

describe('without its database, the service', () => {
  test('answers 503 at once where connections are refused, and works again when they are not', async () => {
    wire.cut()
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
    wire.state = 'open'
    await vi.waitFor(async () => {
      expect((await ready()).status).toBe(200)
      expect((await call('POST', '/api/counter/increment')).status).toBe(200)
    }, 10_000)
  })

  test('answers 503 in bounded time where it falls silent', async () => {
    wire.state = 'silent'
    const began = Date.now()
    const { status, headers } = await call('GET', '/api/counter')

    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBe('1')
    expect(headers.get('connection')).toBe('close')
    expect(Date.now() - began).toBeLessThan(5000)
    wire.hangUp()
  })

  test('takes on no more than it may, and says so', async () => {
    wire.state = 'silent'
    const answers = Array.from({ length: 30 }, () => call('GET', '/api/counter'))
    await sleep(200)
    const alive = await live()
    const [turnedAway] = (await Promise.all(answers)).filter(
      ({ body }) => (body as { message: string }).message === 'Too much is under way',
    )

    expect(turnedAway).toMatchObject({ status: 503 })
    expect(alive.status).toBe(200)
    wire.hangUp()
  })

  test('survives that its connections are ended under it', async () => {
    const statuses: number[] = []
    for (let round = 0; round < 5; round++) {
      await parts.db.execute(
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
