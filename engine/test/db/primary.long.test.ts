import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { isOutage } from '../../db/errors.ts'
import { type Postgres, startPostgres, startStandby } from '../../dev/testing/postgres.ts'
import { open } from '../fixtures/database.ts'
import { createTallystick, startService } from '../fixtures/service.ts'

/** How long a test waits for a condition before it fails. */
const WAIT = { timeout: 20_000 }

const service = await startService()

const FLAGS = ['-c', 'fsync=off']

/** Returns a DATABASE_URL with several servers. The role in the URL is not a superuser. */
function addressOf(...ports: number[]) {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return `postgres://ordinary:secret@${hosts}/tallystick`
}

const portOf = ({ url }: Postgres) => Number(new URL(url).port)

/** Starts a primary and its standby. `former` and `promoted` are superuser connections to primary and standby. */
async function startPair() {
  const primary = await startPostgres(FLAGS)
  const admin = postgres(primary.url, { max: 1 })
  await admin`create role ordinary login password 'secret'`
  await admin`create database tallystick owner ordinary`
  await admin.end()
  const standby = await startStandby(primary, FLAGS)
  const administer = ({ url }: Postgres) =>
    postgres(url.replace(/[^/]*$/, 'tallystick'), { max: 1, onnotice: () => undefined })
  const [former, promoted] = [administer(primary), administer(standby)]
  const stop = async () => {
    await Promise.all([former.end({ timeout: 1 }), promoted.end({ timeout: 1 })])
    await Promise.all([primary.stop(), standby.stop()])
  }
  return { primary, standby, former, promoted, promote: () => promoted`select pg_promote()`, stop }
}

type Pair = Awaited<ReturnType<typeof startPair>>

function pairOf(pair: Pair | undefined) {
  if (!pair) throw new Error('The pair has not started')
  return pair
}

const countConnections = async (admin: postgres.Sql) =>
  (await admin`select from pg_stat_activity where application_name = 'tallystick'`).length

async function listen(handle: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createServer((socket) => {
    accepted++
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
    handle(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return {
    sockets,
    accepted: () => accepted,
    port: typeof address === 'object' && address ? address.port : 0,
  }
}

/** Starts a server that accepts connections and never responds, like a suspended process. */
const startFrozen = () => listen((socket) => socket.resume())

/** Starts a proxy that relays connections to another port, and delays the responses. */
const startSlow = (port: number) =>
  listen((near) => {
    const far = connect(port, '127.0.0.1').on('error', () => near.destroy())
    far
      .on('data', (bytes) => void sleep(10).then(() => near.write(bytes)))
      .once('close', () => near.destroy())
    near.on('data', (bytes) => far.write(bytes)).once('close', () => far.destroy())
  })

describe('a DATABASE_URL of several servers', { timeout: 300_000 }, () => {
  const pairs: Pair[] = []
  beforeAll(async () => {
    pairs.push(...(await Promise.all([startPair(), startPair()])))
  }, 120_000)
  afterAll(() => Promise.all(pairs.map(({ stop }) => stop())))

  test('connects to the highest timeline at the start, although a former primary responds first', async () => {
    const { primary, standby, promote, former, promoted } = pairOf(pairs[0])
    await promote()
    const slow = await startSlow(portOf(standby))

    // Repeated, because on a slow machine the response of the promoted standby may come after the grace period.
    await vi.waitFor(async () => {
      const { db, close } = await open(addressOf(portOf(primary), slow.port))
      await db.execute(sql`select 1`)
      const counts = [await countConnections(former), await countConnections(promoted)]
      await close()

      expect(counts).toEqual([0, expect.any(Number)])
      expect(counts[1]).toBeGreaterThan(0)
    }, WAIT)
  })

  test.concurrent(
    'moves all connections to a promoted standby while the former primary still accepts writes',
    async () => {
      const { primary, standby, former, promoted, promote } = pairOf(pairs[1])
      const frozen = await startFrozen()
      const url = addressOf(portOf(primary), frozen.port, portOf(standby))
      const tallystick = await createTallystick({ DATABASE_URL: url })
      const { visits } = tallystick.stranger
      expect(await visits.add()).toEqual({ count: 1 })
      await vi.waitFor(async () => {
        expect(await promoted`select count from visits`).toMatchObject([{ count: '1' }])
      }, WAIT)
      const { db, close } = await open(url)
      const underWay = db.execute(sql`select pg_sleep(60)`).catch((error: unknown) => error)

      await promote()
      await vi.waitFor(async () => {
        expect(await countConnections(former)).toBe(0)
      }, WAIT)

      expect(isOutage(await underWay)).toBe(true)
      // An attempt without an answer may have counted a visit, so the number can be larger than 2.
      const { count } = await vi.waitFor(() => visits.add(), WAIT)
      expect(count).toBeGreaterThan(1)
      expect(await promoted`select count from visits`).toMatchObject([{ count: String(count) }])
      expect(await former`update visits set count = 100 returning count`).toMatchObject([{ count: '100' }])
      expect(await visits.get()).toEqual({ count })

      await close()
      await standby.halt('SIGQUIT')
      await expect(visits.get()).rejects.toMatchObject({ status: 503 })
      await expect(visits.get()).rejects.toMatchObject({ status: 503 })
      await tallystick.close()
      await vi.waitFor(() => {
        expect(frozen.sockets.size).toBe(0)
      }, WAIT)
    },
  )

  test.concurrent('is checked periodically while connections are open', async () => {
    const frozen = await startFrozen()
    const address = service.databaseUrl.replace(/(?=\/[^/]*$)/, `,127.0.0.1:${frozen.port}`)
    const { db, close } = await open(address)
    await db.execute(sql`select 1`)
    const atFirst = frozen.accepted()
    await vi.waitFor(() => {
      expect(frozen.accepted()).toBeGreaterThan(atFirst + 1)
    }, WAIT)

    await close()
    await vi.waitFor(() => {
      expect(frozen.sockets.size).toBe(0)
    }, WAIT)
    const atClose = frozen.accepted()
    // Longer than the interval of the checks. A slow machine can only delay a check, so that the test passes.
    await sleep(4000)

    expect(frozen.accepted()).toBe(atClose)
  })
})
