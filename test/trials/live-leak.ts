import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import type { TopicName } from '../../contract/index.ts'
import type { FaultContext } from './live-faults.ts'
import { readStream } from './live-reader.ts'
import type { Person } from './live-requests.ts'
import type { Report } from './trial.ts'

const WAVES = 40
const STREAMS_PER_WAVE = 500
/**
 * Waves after which the resident memory must not grow any more. V8 collects old garbage only after about 25 waves, so that
 * the memory rises and falls.
 */
const WARM_UP = 20
/** Number of the last waves. The least resident memory after these waves contains little garbage. */
const LAST_WAVES = 12
/** Maximum ratio of the least resident memory after the last waves to the most resident memory during the warm-up. */
const MEMORY_GROWTH = 1.15
/** Time limit for the instance to close all dropped streams, in milliseconds. */
const CLOSE_LIMIT = 10_000
/** Increase of open file descriptors that is not a leak: connections of the pool. */
const DESCRIPTOR_GROWTH = 30

const TOPICS: readonly TopicName[][] = [['counter'], ['tasks'], ['counter', 'tasks', 'notes', 'sessions']]

/** Reads a metric of an instance. */
export async function readGauge({ METRICS_PORT = '' }: Record<string, string>, name: string) {
  const response = await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)
  const line = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(await response.text())
  assert.ok(line, `there is no metric ${name}`)
  return Number(line[1])
}

/**
 * Opens and drops streams in waves at one instance. A third of the streams is dropped without waiting for the first
 * event, so that some are dropped while the instance opens the stream.
 */
export async function dropStreams(
  report: Report,
  { services, environments }: FaultContext,
  people: readonly Person[],
) {
  const [service] = services
  const [environment] = environments
  assert.ok(service && environment)
  const open = () => readGauge(environment, 'tallystick_live_streams')
  const resident: number[] = []
  const descriptors = service.descriptors()
  let delivered = 0
  let mostOpen = 0

  const openAndDrop = async (index: number) => {
    const dropping = new AbortController()
    const { cookie = '' } = people[index % people.length] ?? {}
    const topics = TOPICS[index % TOPICS.length] ?? []
    const protocol = index % 2 ? 'REST' : 'RPC'
    const isEarly = index % 3 === 0
    if (isEarly)
      setTimeout(() => {
        dropping.abort()
      }, Math.random() * 300)
    const onEvent = () => {
      delivered++
      if (!isEarly)
        setTimeout(() => {
          dropping.abort()
        }, 500)
    }
    await readStream(
      { origin: service.origin, protocol, topics, cookie, signal: dropping.signal },
      { onEvent },
    )
  }

  for (let wave = 0; wave < WAVES; wave++) {
    const streams = Array.from({ length: STREAMS_PER_WAVE }, (_, index) => openAndDrop(index))
    await sleep(300)
    mostOpen = Math.max(mostOpen, await open())
    await Promise.all(streams)
    const start = performance.now()
    while ((await open()) > 0 && performance.now() - start < CLOSE_LIMIT) await sleep(50)
    resident.push(Math.round(service.resident() / 2 ** 20))
  }
  const [warm, end] = [Math.max(...resident.slice(0, WARM_UP)), Math.min(...resident.slice(-LAST_WAVES))]
  const [remaining, descriptorsAfter] = [await open(), service.descriptors()]
  report({
    'streams opened and dropped': WAVES * STREAMS_PER_WAVE,
    'open at the same time': mostOpen,
    'states delivered': delivered,
    'resident MiB after each wave': resident.join(' '),
    'streams after the end': remaining,
    'descriptors before and after': `${descriptors} ${descriptorsAfter}`,
  })
  assert.equal(remaining, 0, 'streams remain open after the readers have closed them')
  assert.ok(descriptorsAfter <= descriptors + DESCRIPTOR_GROWTH, 'the number of open descriptors has grown')
  assert.ok(end <= MEMORY_GROWTH * warm, 'resident memory has grown')
}
