import { setTimeout as sleep } from 'node:timers/promises'

import type { Contender } from './contenders.ts'
import { type Generator, sendLoad } from './load.ts'
import { forCallers, type Operation } from './operations.ts'
import type { Server } from './servers.ts'

export interface Slice {
  /** Responses per second. */
  rate: number
  /** Response times in ms. */
  p50: number
  p99: number
  /** Mean CPU time per request that the server and the processes of its database used, in µs. */
  cpu: number
  /** CPU time of the server divided by the elapsed time: 1 means that the server used one full core. */
  busy: number
  responses: number
}

/** Returns the requests of an operation in the protocol of a contender, one for each caller. */
export async function requestsOf({ name, protocol, credentials }: Contender, operation: Operation) {
  const request = operation[protocol]
  if (!request) throw new Error(`${name} does not support ${operation.name}`)
  return forCallers(request, (await credentials())[operation.callers])
}

/** Loads one contender for some seconds, while the other contenders are idle. */
export async function measureSlice(
  generator: Generator,
  contender: Contender,
  operation: Operation,
  connections: number,
  seconds: number,
): Promise<Slice> {
  const { name, server, backends } = contender
  const requests = await requestsOf(contender, operation)
  const [before, backendsBefore] = [await server.usage(), await backends()]
  const load = { origin: server.origin, requests, connections, seconds }
  const { responses, rate, p50, p99, failed } = await sendLoad(generator, load)
  const [after, backendsAfter] = [await server.usage(), await backends()]
  if (failed > 0) throw new Error(`${name}: ${failed} of ${responses} requests failed for ${operation.name}`)
  await waitUntilIdle(server)
  const ofServer = after.cpu - before.cpu
  const cpu = ofServer + backendsAfter - backendsBefore
  return { rate, p50, p99, cpu: cpu / responses, busy: ofServer / (seconds * 1e6), responses }
}

/**
 * Waits until the server uses less than 10 % of one CPU core, because requests may still be in progress at the end of a
 * slice.
 */
async function waitUntilIdle(server: Server) {
  for (let before = await server.usage(); ;) {
    await sleep(25)
    const after = await server.usage()
    if (after.cpu - before.cpu < 2500) return
    before = after
  }
}

export function median(values: number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? NaN) + (sorted[sorted.length >> 1] ?? NaN)) / 2
}
