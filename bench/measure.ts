import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import { type LoadOptions, LoadResult } from './load-generator.ts'
import { headersOf, type Operation, requestOf } from './operations.ts'
import type { Cookies } from './seed.ts'
import type { Contender, Server } from './servers.ts'

export interface Slice {
  rate: number
  p50: number
  p99: number
  /** Mean CPU time that the server used per request, in µs. */
  cpu: number
  /** CPU time of the server divided by the elapsed time: 1 means that the server used one full core. */
  busy: number
  /** All responses, including responses during the ramp-up. */
  responses: number
}

/**
 * Starts the load generator as a child process. Uses the `advanced` serialization for messages, because the default,
 * JSON, cannot represent `Infinity`.
 */
export const startGenerator = () => fork('bench/load-generator.ts', { serialization: 'advanced' })

/** Duration of the load before the measurement starts, in ms. */
const RAMP_UP = 100

export function createSliceMeter(generator: ChildProcess, cookies: Cookies) {
  /** Measures one contender for `length` ms, while the other contenders are idle. */
  return async (
    contender: Contender,
    operation: Operation,
    connections: number,
    length: number,
  ): Promise<Slice> => {
    const { server, rpc, name } = contender
    const request = requestOf(operation, rpc)
    const options: LoadOptions = {
      url: server.origin + request.path,
      method: request.method,
      body: request.body,
      headers: headersOf(operation, request),
      cookies: cookies[operation.callers],
      connections,
    }
    generator.send(options)
    await sleep(RAMP_UP)
    const from = await server.usage()
    await sleep(length)
    const to = await server.usage()
    const reply = once(generator, 'message')
    generator.send({ from: from.at, to: to.at })
    const { requests, p50, p99, responses, failed } = LoadResult.parse((await reply)[0])
    if (failed > 0)
      throw new Error(`${name}: ${failed} of ${responses} requests failed for ${operation.name}`)
    await waitUntilIdle(server)
    const window = to.at - from.at
    const cpu = to.cpu - from.cpu
    return {
      rate: (requests / window) * 1000,
      p50,
      p99,
      cpu: cpu / requests,
      busy: cpu / window / 1000,
      responses,
    }
  }
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
