import { setTimeout as sleep } from 'node:timers/promises'

import type { Server } from '../servers.ts'
import { startReaders } from './readers.ts'

// All durations are in milliseconds.
const WARM_UP = 3000
const DURATION = 15_000
const WARM_UP_STREAMS = 1000
/** Time after the last change until all deliveries have arrived. */
const SETTLING = 1000

interface Scenario {
  name: string
  server: Server
  topic: 'counter' | 'tasks'
  /** One cookie for each stream. */
  cookies: string[]
  /** Changes per second. */
  rate: number
  /** Makes a change with the current time, in milliseconds since the Unix epoch. */
  change: (time: number, turn: number) => Promise<unknown>
  /** Streams that receive each change. */
  receivers: number
}

/** Opens streams, makes changes, and measures the deliveries and their costs. */
export async function measureDeliveries(scenario: Scenario) {
  const { name, server, topic, cookies, receivers } = scenario
  process.stdout.write(`${name}\n`)
  const readers = startReaders()
  const marker = topic === 'counter' ? '"count":' : '"title":"'
  const open = { do: 'open', origin: server.origin, topic, marker } as const
  // Opens and closes some streams before the measurement of memory, so that the memory of the program is not included.
  await readers.send({ ...open, cookies: cookies.slice(0, WARM_UP_STREAMS) })
  await readers.send({ do: 'close' })
  await waitUntilIdle(server)
  const before = await server.usage('collect')
  const opened = await readers.send({ ...open, cookies })
  await makeChanges(scenario, WARM_UP)
  await readers.send({ do: 'reset' })
  const from = await server.usage()
  const changes = await makeChanges(scenario, DURATION)
  const to = await server.usage()
  const { deliveries, p50, p99, max } = await readers.send({ do: 'report' })
  const after = await server.usage('collect')
  await readers.send({ do: 'close' })
  readers.stop()
  await waitUntilIdle(server)
  return {
    name,
    streams: opened.open,
    rate: scenario.rate,
    /** Deliveries as a share of the changes. A slow reader skips states. */
    share: deliveries / (changes * receivers),
    p50,
    p99,
    max,
    /** CPU time in µs per delivery. */
    cpu: (to.cpu - from.cpu) / deliveries,
    /** Share of one core. */
    busy: (to.cpu - from.cpu) / 1000 / (to.at - from.at),
    /** Resident memory in KiB per stream, after garbage collections. */
    memory: (after.memory - before.memory) / opened.open / 1024,
    /** Memory of objects in KiB per stream. The rest of the resident memory is free for further objects. */
    heap: (after.heap - before.heap) / opened.open / 1024,
  }
}

export type Deliveries = Awaited<ReturnType<typeof measureDeliveries>>

/** Makes changes at regular times. Returns the number of changes. */
async function makeChanges({ rate, change }: Scenario, duration: number) {
  const start = performance.now()
  const pending: Promise<unknown>[] = []
  const count = (rate * duration) / 1000
  for (let turn = 0; turn < count; turn++) {
    await sleep(Math.max(0, start + (turn * 1000) / rate - performance.now()))
    pending.push(change(Date.now(), turn))
  }
  await Promise.all(pending)
  await sleep(SETTLING)
  return count
}

/** Waits until the server uses less than 10 % of a core. */
export async function waitUntilIdle(server: Server) {
  for (let busy = 1; busy > 0.1;) {
    const from = await server.usage()
    await sleep(200)
    const to = await server.usage()
    busy = (to.cpu - from.cpu) / 1000 / (to.at - from.at)
  }
}
