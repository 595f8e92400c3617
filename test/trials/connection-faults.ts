import fc from 'fast-check'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'

import type { Direction, Held, Link, Proxy } from './pg-proxy.ts'

/** How long a cut waits for the bytes that it needs, in milliseconds. */
const PATIENCE = 1000
/** How long the rest of a result may take, in milliseconds. */
const RESULT = 500
/** Cuts under way at once: some wait for bytes, some are stalls. */
const AT_ONCE = 16

/** What is drawn for one cut. */
interface Draw {
  kind: Kind
  /** Which connection, and where in the bytes: each as a part of the whole, from 0 to 1. */
  which: number
  where: number
  /** How long a stall or an outage lasts, in milliseconds. */
  lasts: number
  /** How long until the next cut, in milliseconds. */
  pause: number
}

export interface Scene {
  proxy: Proxy
  /** A connection to PostgreSQL that is not cut. */
  admin: Sql
}

/** Returns how many connections were lost; `undefined` if the cut could not be made. */
type Cut = (scene: Scene, draw: Draw) => Promise<number | undefined>

/** A cut of one connection, which no other cut takes meanwhile. */
const ofOne =
  (make: (link: Link, draw: Draw) => Promise<number | undefined>): Cut =>
  async ({ proxy }, draw) => {
    const free = proxy.free()
    const link = free[Math.floor(draw.which * free.length)]
    if (!link) return undefined
    link.isTaken = true
    const lost = await make(link, draw)
    link.isTaken = Boolean(lost)
    return lost
  }

const whole = (close: 'finish' | 'reset') =>
  ofOne((link) => {
    link[close]()
    return Promise.resolve(1)
  })

/** An offset within a message. No message is one byte long. */
const within = ({ bytes, ends }: Held, where: number) => {
  const at = 1 + Math.floor(where * (bytes.length - 2))
  return ends.has(at) ? at + 1 : at
}

const torn = (direction: Direction, close: 'finish' | 'reset') =>
  ofOne(async (link, { where }) => {
    const held = await link.hold(direction, PATIENCE)
    if (!held) return undefined
    link[close]({ [direction]: held.bytes.subarray(0, within(held, where)) })
    return 1
  })

const stalled = (then: 'finish' | 'reset' | 'release') =>
  ofOne(async (link, { lasts }) => {
    link.stall()
    await sleep(lasts)
    link[then]()
    return then === 'release' ? 0 : 1
  })

/** Ends a backend, or its statement, while it sends a result. Not counted where the result was complete by then. */
const midResult =
  (by: 'pg_terminate_backend' | 'pg_cancel_backend'): Cut =>
  async ({ proxy, admin }) => {
    const partial = await proxy.holdPartialResult(PATIENCE)
    if (!partial) return undefined
    const { link, bytes } = partial
    const before = link.brokenResults()
    await admin`select ${admin.unsafe(by)}(pid) from pg_stat_activity where client_port = ${link.clientPort}`
    link.near.write(bytes)
    link.far.resume()
    link.isTaken = false
    await sleep(RESULT)
    if (link.brokenResults() === before) return undefined
    return by === 'pg_terminate_backend' ? 1 : 0
  }

const all: Cut = ({ proxy }, { lasts }) => {
  proxy.refuse(lasts)
  const free = proxy.free()
  for (const link of free) link.reset()
  return Promise.resolve(free.length)
}

/** Every way in which a connection is cut. */
export const kinds = {
  fin: whole('finish'),
  rst: whole('reset'),
  'answer broken by fin': torn('down', 'finish'),
  'answer broken by rst': torn('down', 'reset'),
  'request broken by fin': torn('up', 'finish'),
  'request broken by rst': torn('up', 'reset'),
  'stall released': stalled('release'),
  'stall ended by fin': stalled('finish'),
  'stall ended by rst': stalled('reset'),
  'backend terminated': midResult('pg_terminate_backend'),
  'statement cancelled': midResult('pg_cancel_backend'),
  'all refused': all,
} satisfies Record<string, Cut>

type Kind = keyof typeof kinds

/** How often a kind is drawn, if not as often as most. */
const weights: Partial<Record<Kind, number>> = { 'all refused': 1, 'backend terminated': 10 }
const USUAL = 6

const part = fc.integer({ min: 0, max: 999 }).map((thousandths) => thousandths / 1000)

const draws = fc.record<Draw>({
  kind: fc.oneof(
    ...(Object.keys(kinds) as Kind[]).map((kind) => ({
      arbitrary: fc.constant(kind),
      weight: weights[kind] ?? USUAL,
    })),
  ),
  which: part,
  where: part,
  lasts: fc.oneof(
    { arbitrary: fc.integer({ min: 20, max: 1500 }), weight: 60 },
    // Longer than a request may wait, and longer than the service waits for a silent connection: see cuts.ts.
    { arbitrary: fc.integer({ min: 11_000, max: 22_000 }), weight: 1 },
  ),
  pause: fc.integer({ min: 10, max: 150 }),
})

/** Some cuts, the same for the same seed. */
const drawCuts = (seed: number, numRuns: number) => fc.sample(fc.noBias(draws), { seed, numRuns })

/** Connections that were lost, and cuts that were made of each kind. */
export interface Tally {
  lost: number
  made: Partial<Record<Kind, number>>
}

export interface Plan {
  seed: number
  /** How many connections are to be lost. */
  many: number
  /** How long that may take, in milliseconds. */
  most: number
  /** Resolves when the load has got on since the cut before. */
  progress: () => Promise<void>
}

/** Makes cuts until enough connections are lost, or the time is up. */
export async function makeCuts(scene: Scene, { seed, many, most, progress }: Plan, tally: Tally) {
  const underWay = new Set<Promise<void>>()
  const start = Date.now()
  const make = async (draw: Draw) => {
    const lost = await kinds[draw.kind](scene, draw)
    if (lost === undefined) return
    tally.made[draw.kind] = (tally.made[draw.kind] ?? 0) + 1
    tally.lost += lost
  }
  for (const draw of drawCuts(seed, 3 * many)) {
    if (tally.lost >= many || Date.now() - start > most) break
    await sleep(draw.pause)
    await progress()
    if (underWay.size >= AT_ONCE) await Promise.race(underWay)
    const cut = make(draw).finally(() => underWay.delete(cut))
    underWay.add(cut)
  }
  await Promise.all(underWay)
}
