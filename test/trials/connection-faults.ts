import fc from 'fast-check'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'

import type { Direction, HeldBytes, ProxiedConnection, Proxy } from './pg-proxy.ts'

/** Maximum time that a cut waits for bytes of a connection, in milliseconds. */
const HOLD_TIMEOUT = 1000
/** Time to wait for the rest of a result, in milliseconds. */
const RESULT_TIMEOUT = 500
/** Maximum number of concurrent cuts. Cuts are concurrent, because some cuts wait for bytes or stall a connection. */
const CONCURRENCY = 16

/** Random parameters of one cut. A cut is a fault of the connections between the service and PostgreSQL. */
interface CutParameters {
  kind: CutKind
  /** Relative position of the connection in the list of connections, from 0 to 1. */
  connectionPosition: number
  /** Relative position of the cut in the bytes that the proxy holds back, from 0 to 1. */
  bytePosition: number
  /** Duration of a stall or of refused connections, in milliseconds. */
  duration: number
  /** Pause before the cut, in milliseconds. */
  pause: number
}

export interface CutContext {
  proxy: Proxy
  /** A direct connection to PostgreSQL, without the proxy. */
  admin: Sql
}

/** Makes a cut. Returns the number of lost connections; `undefined` if the cut was not possible. */
type Cut = (context: CutContext, parameters: CutParameters) => Promise<number | undefined>

/** Creates a cut of one connection. The cut reserves the connection, so that no concurrent cut uses this connection. */
const cutOne =
  (make: (connection: ProxiedConnection, parameters: CutParameters) => Promise<number | undefined>): Cut =>
  async ({ proxy }, parameters) => {
    const free = proxy.free()
    const connection = free[Math.floor(parameters.connectionPosition * free.length)]
    if (!connection) return undefined
    connection.isReserved = true
    const lost = await make(connection, parameters)
    connection.isReserved = Boolean(lost)
    return lost
  }

const closeConnection = (close: 'closeWithFin' | 'closeWithReset') =>
  cutOne((connection) => {
    connection[close]()
    return Promise.resolve(1)
  })

/** Returns an offset inside a message, not at a boundary of two messages. Every message has at least two bytes. */
const offsetWithinMessage = ({ bytes, ends }: HeldBytes, bytePosition: number) => {
  const at = 1 + Math.floor(bytePosition * (bytes.length - 2))
  return ends.has(at) ? at + 1 : at
}

const closeWithinMessage = (direction: Direction, close: 'closeWithFin' | 'closeWithReset') =>
  cutOne(async (connection, { bytePosition }) => {
    const held = await connection.hold(direction, HOLD_TIMEOUT)
    if (!held) return undefined
    connection[close]({ [direction]: held.bytes.subarray(0, offsetWithinMessage(held, bytePosition)) })
    return 1
  })

const stallConnection = (then: 'closeWithFin' | 'closeWithReset' | 'release') =>
  cutOne(async (connection, { duration }) => {
    connection.stall()
    await sleep(duration)
    connection[then]()
    return then === 'release' ? 0 : 1
  })

/**
 * Terminates a backend, or cancels the statement of a backend, while the backend sends a result. The cut returns
 * `undefined` if no backend sends a result, or if the backend still completes the result.
 */
const interruptResult =
  (by: 'pg_terminate_backend' | 'pg_cancel_backend'): Cut =>
  async ({ proxy, admin }) => {
    const partial = await proxy.holdPartialResult(HOLD_TIMEOUT)
    if (!partial) return undefined
    const { connection, bytes } = partial
    const before = connection.brokenResults()
    await admin`select ${admin.unsafe(by)}(pid) from pg_stat_activity where client_port = ${connection.clientPort}`
    connection.serviceSocket.write(bytes)
    connection.databaseSocket.resume()
    connection.isReserved = false
    await sleep(RESULT_TIMEOUT)
    if (connection.brokenResults() === before) return undefined
    return by === 'pg_terminate_backend' ? 1 : 0
  }

const refuseAll: Cut = ({ proxy }, { duration }) => {
  proxy.refuse(duration)
  const free = proxy.free()
  for (const connection of free) connection.closeWithReset()
  return Promise.resolve(free.length)
}

export const cuts = {
  fin: closeConnection('closeWithFin'),
  rst: closeConnection('closeWithReset'),
  'response broken by fin': closeWithinMessage('toService', 'closeWithFin'),
  'response broken by rst': closeWithinMessage('toService', 'closeWithReset'),
  'request broken by fin': closeWithinMessage('toDatabase', 'closeWithFin'),
  'request broken by rst': closeWithinMessage('toDatabase', 'closeWithReset'),
  'stall released': stallConnection('release'),
  'stall ended by fin': stallConnection('closeWithFin'),
  'stall ended by rst': stallConnection('closeWithReset'),
  'backend terminated': interruptResult('pg_terminate_backend'),
  'statement cancelled': interruptResult('pg_cancel_backend'),
  'all refused': refuseAll,
} satisfies Record<string, Cut>

type CutKind = keyof typeof cuts

/** Weights (relative frequencies) of some kinds of cuts. All other kinds have the weight DEFAULT_WEIGHT. */
const weights: Partial<Record<CutKind, number>> = { 'all refused': 1, 'backend terminated': 10 }
const DEFAULT_WEIGHT = 6

const fraction = fc.integer({ min: 0, max: 999 }).map((thousandths) => thousandths / 1000)

const draws = fc.record<CutParameters>({
  kind: fc.oneof(
    ...(Object.keys(cuts) as CutKind[]).map((kind) => ({
      arbitrary: fc.constant(kind),
      weight: weights[kind] ?? DEFAULT_WEIGHT,
    })),
  ),
  connectionPosition: fraction,
  bytePosition: fraction,
  duration: fc.oneof(
    { arbitrary: fc.integer({ min: 20, max: 1500 }), weight: 60 },
    // Longer than two timeouts: ANSWER_TIMEOUT in cuts.ts, and the service's timeout for a database connection without
    // traffic.
    { arbitrary: fc.integer({ min: 11_000, max: 22_000 }), weight: 1 },
  ),
  pause: fc.integer({ min: 10, max: 150 }),
})

/** Returns the parameters of random cuts. The same seed results in the same parameters. */
const drawCuts = (seed: number, numRuns: number) => fc.sample(fc.noBias(draws), { seed, numRuns })

/** Number of lost connections, and number of cuts of each kind. */
export interface Tally {
  lost: number
  made: Partial<Record<CutKind, number>>
}

export interface Plan {
  seed: number
  /** Number of connections to lose. */
  count: number
  /** In milliseconds. */
  timeLimit: number
  /** Resolves when the load has made progress since the previous cut. */
  progress: () => Promise<void>
}

/** Cuts connections until `count` connections are lost, the time limit is reached, or `3 * count` cuts were tried. */
export async function cutConnections(
  context: CutContext,
  { seed, count, timeLimit, progress }: Plan,
  tally: Tally,
) {
  const underWay = new Set<Promise<void>>()
  const start = Date.now()
  const apply = async (parameters: CutParameters) => {
    const lost = await cuts[parameters.kind](context, parameters)
    if (lost === undefined) return
    tally.made[parameters.kind] = (tally.made[parameters.kind] ?? 0) + 1
    tally.lost += lost
  }
  for (const parameters of drawCuts(seed, 3 * count)) {
    if (tally.lost >= count || Date.now() - start > timeLimit) break
    await sleep(parameters.pause)
    await progress()
    if (underWay.size >= CONCURRENCY) await Promise.race(underWay)
    const cut = apply(parameters).finally(() => underWay.delete(cut))
    underWay.add(cut)
  }
  await Promise.all(underWay)
}
