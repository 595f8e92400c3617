import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Cookies } from './seed.ts'
import { type Shot, Shots } from './load-generator.ts'
import type { Contender, Server } from './servers.ts'
import { headersOf, requestOf, type Work } from './requests.ts'

export interface Slice {
  rate: number
  p50: number
  p99: number
  /** Server CPU of a request, in µs. */
  cpu: number
  /** How much of its core the server used. */
  busy: number
  /** Responses over the whole of it. */
  answered: number
}

/** The load generator, a process of its own. JSON, which is what is sent otherwise, knows no `Infinity`. */
export const startGenerator = () => fork('bench/load-generator.ts', { serialization: 'advanced' })

/** What runs up to speed before a slice counts, in ms. */
const RAMP = 100

export function createMeter(generator: ChildProcess, cookies: Cookies) {
  /** Fires at one contender for some ms; the others idle. */
  return async (contender: Contender, work: Work, connections: number, length: number): Promise<Slice> => {
    const { server, rpc, name } = contender
    const request = requestOf(work, rpc)
    const shot: Shot = {
      url: server.origin + request.path,
      method: request.method,
      body: request.body,
      headers: headersOf(work, request),
      cookies: cookies[work.by],
      connections,
    }
    generator.send(shot)
    await sleep(RAMP)
    const from = await server.usage()
    await sleep(length)
    const to = await server.usage()
    const told = once(generator, 'message')
    generator.send({ from: from.at, to: to.at })
    const { requests, p50, p99, answered, failed } = Shots.parse((await told)[0])
    if (failed > 0) throw new Error(`${name}: ${failed} of ${answered} times ${work.name} failed`)
    await idle(server)
    const window = to.at - from.at
    const cpu = to.cpu - from.cpu
    return {
      rate: (requests / window) * 1000,
      p50,
      p99,
      cpu: cpu / requests,
      busy: cpu / window / 1000,
      answered,
    }
  }
}

/** What was cut off is still worked on for a while. */
async function idle(server: Server) {
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
