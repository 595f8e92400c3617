import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'

import type { TopicName } from '../../contract/index.ts'
import { createRestClient } from '../../contract/client.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'
import { quantile } from './http-client.ts'
import { createInstanceSettings } from './instance-settings.ts'
import { runAttacks } from './live-attacks.ts'
import { type FaultContext, faults, lastFault } from './live-faults.ts'
import { dropStreams, readGauge } from './live-leak.ts'
import { Marks, marksOf, StateChecker, textOf } from './live-marks.ts'
import { LiveReader } from './live-reader.ts'
import { measureRevocation } from './live-revocation.ts'
import { type Person, signInFromAnywhere } from './live-requests.ts'
import { startWriters } from './live-writers.ts'
import { startProxy } from './pg-proxy.ts'
import { startPooler } from '../../engine/test/fixtures/pgbouncer.ts'
import { type Service, startService } from './service-process.ts'
import { type Report, startDurablePostgres, trial } from './trial.ts'

const STREAMS = 500
const PEOPLE = 10
const TOPICS: readonly TopicName[][] = [
  ['counter'],
  ['tasks'],
  ['notes'],
  ['sessions', 'notes'],
  ['counter', 'tasks', 'notes', 'sessions'],
]

// All durations are in milliseconds.
/** Load without faults, at the start and after each fault. */
const PAUSE = 4000
/** Time limit from the end of the last fault until every stream shows the last committed state. */
const CONVERGENCE_LIMIT = 35_000
/** Time limit from the revocation of a session until its streams end. */
const REVOCATION_LIMIT = 1000
/** Time limit until the instances have closed all streams that the readers dropped. */
const CLOSE_LIMIT = 5000
/**
 * Maximum ratio of the resident memory at the end to the resident memory after the start. Under load, V8 fills 48 MiB with
 * new objects, and keeps old objects until their number has doubled. The second part finds leaks.
 */
const MEMORY_GROWTH = 2
const PRINTED_FAULTS = 10
/** People, agents, commands of the operator, and people who delete their accounts. */
const KINDS_OF_WRITERS = 4

const settings = {
  ANSWER_TIMEOUT: '10',
  TRUSTED_PROXIES: '127.0.0.1',
  MAX_PERSON_STREAMS: '20000',
}
const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20)

/** Starts PostgreSQL, PgBouncer, two proxies, and two instances with a LISTEN connection that bypasses PgBouncer. */
async function startAll(): Promise<FaultContext> {
  const database = await startDurablePostgres()
  const admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  for (const timeout of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
    await admin.unsafe(`alter role postgres set ${timeout} = 10000`)
  const pooler = await startPooler(database.url)
  const [directProxy, pooledProxy] = [await startProxy(database.url), await startProxy(pooler.url)]
  const environments = await createInstanceSettings(2, {
    ...settings,
    DATABASE_URL: pooledProxy.url,
    DATABASE_DIRECT_URL: directProxy.url,
  })
  for (const environment of environments)
    Object.assign(environment, { METRICS_PORT: String(await freePort()) })
  const services: Service[] = []
  for (const environment of environments) services.push(await startService(environment))
  return { database, admin, pooler, directProxy, pooledProxy, environments, services }
}

async function signInPeople([service]: readonly Service[]) {
  assert.ok(service)
  const people: Person[] = []
  for (let index = 0; index < PEOPLE; index++) {
    const email = `person${index}@example.com`
    people.push({ name: `person${index}`, email, cookie: await signInFromAnywhere(service, email) })
  }
  return people
}

function startReaders(origins: readonly string[], people: readonly Person[], marks: Marks) {
  return Array.from({ length: STREAMS }, (_, index) => {
    const { name, cookie } = people[index % PEOPLE] ?? { name: '', cookie: '' }
    const topics = TOPICS[Math.floor(index / PEOPLE) % TOPICS.length] ?? []
    return new LiveReader({
      person: name,
      origins,
      marks,
      topics,
      cookie,
      protocol: index % 3 ? 'REST' : 'RPC',
    })
  })
}

/** Reads the committed state of each topic of a person, as marks in the order of keys. */
async function readStates(origin: string, { cookie }: Person) {
  const client = createRestClient(origin, { headers: { cookie } })
  return {
    counter: marksOf({ topic: 'counter', state: await client.counter.get() }),
    tasks: marksOf({ topic: 'tasks', state: await client.tasks.list() }),
    notes: marksOf({ topic: 'notes', state: await client.notes.list() }),
    sessions: marksOf({ topic: 'sessions', state: await client.sessions.list() }),
  }
}

type States = Record<string, Record<TopicName, ReturnType<typeof marksOf>>>

const isCurrent = ({ topics, person, states }: LiveReader, expected: States) =>
  topics.every((topic) => isDeepStrictEqual(states.get(topic), expected[person]?.[topic]))

/** Waits until all readers show the last committed states. Returns the durations from `start` until then. */
async function waitForStates(readers: readonly LiveReader[], expected: States, start: number) {
  const durations = new Map<LiveReader, number>()
  while (durations.size < readers.length && performance.now() - start < CONVERGENCE_LIMIT) {
    for (const reader of readers)
      if (!durations.has(reader) && isCurrent(reader, expected))
        durations.set(reader, performance.now() - start)
    await sleep(50)
  }
  return [...durations.values()]
}

/** Changes the counter and each person's task without a notification, like a process that ends after the commit. */
async function writeUnannounced({ admin }: FaultContext, people: readonly Person[], marks: Marks) {
  marks.issue('counter')
  await admin`update counter set count = count + 1`
  for (const { name } of people) {
    const mark = marks.issue(`tasks ${name}`)
    await admin`update tasks set title = ${textOf(mark)} where title like ${`tasks ${name}#%`}`
  }
}

async function runFaults(report: Report, context: FaultContext) {
  const { services, environments } = context
  const people = await signInPeople(services)
  const marks = new Marks()
  const instances = services.map(({ origin, dataDir }) => ({ origin, dataDir }))
  const origins = instances.map(({ origin }) => origin)
  const readers = startReaders(origins, people, marks)
  const writers = startWriters({ ...context, instances, people, marks })
  // The last person, because the writers request sign-in codes for the first people.
  const watcher = people.at(-1)
  assert.ok(watcher)
  await sleep(2 * PAUSE)
  const residentBefore = services.map((service) => service.resident())

  const revocations: number[] = []
  for (const [name, fault] of Object.entries(faults)) {
    const start = performance.now()
    await fault(context)
    const lasted = performance.now() - start
    await sleep(PAUSE)
    const open = readers.filter(({ isOpen }) => isOpen).length
    const durations = await measureRevocation(environments, instances, watcher, marks)
    revocations.push(...durations)
    report({
      fault: name,
      'lasted ms': Math.round(lasted),
      open,
      'streams of a revoked session ended after ms': Math.round(Math.max(...durations)),
    })
  }

  LiveReader.isChurning = false
  const stopped = writers.stop()
  await lastFault(context)
  const end = performance.now()
  await stopped
  await writeUnannounced(context, people, marks)
  const expected: States = {}
  for (const person of people) expected[person.name] = await readStates(origins[0] ?? '', person)
  const convergence = await waitForStates(readers, expected, end)
  const resident = services.map((service) => service.resident())

  // The committed states are checked like the states of a stream: an acknowledged write must not be lost.
  const committed = people.map(({ name }) => {
    const checker = new StateChecker(marks, name)
    for (const topic of ['counter', 'tasks', 'notes', 'sessions'] as const)
      checker.check(topic, expected[name]?.[topic] ?? [], end)
    return checker
  })
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  const statuses = new Map<number, number>()
  for (const reader of readers)
    for (const [status, times] of reader.statuses) statuses.set(status, (statuses.get(status) ?? 0) + times)
  const { acknowledged, refused, longest, errors } = writers.figures
  const wrong = [...readers.map(({ checker }) => checker), ...committed].flatMap(({ faults }) => faults)
  const hangs = sum(readers.map(({ hangs }) => hangs))
  await Promise.all(readers.map((reader) => reader.stop()))
  await sleep(CLOSE_LIMIT)
  const remaining = await Promise.all(environments.map((each) => readGauge(each, 'tallystick_live_streams')))
  report({
    streams: STREAMS,
    faults: Object.keys(faults).length + 1,
    'writes acknowledged': [...acknowledged].map(([kind, times]) => `${kind}: ${times}`).join('; '),
    'writes refused': refused,
    'longest write ms': Math.round(longest),
    'states delivered': sum(readers.map(({ deliveries }) => deliveries)),
    'connections by status': [...statuses].map(([status, times]) => `${status}: ${times}`).join('; '),
    'wrong states': wrong.length,
    'requests without a response': hangs,
    'current after the last fault': `${convergence.length} of ${STREAMS}`,
    'within ms (median, maximum)': `${Math.round(quantile(convergence, 0.5))} ${Math.round(Math.max(...convergence))}`,
    'revoked streams ended within ms': Math.round(Math.max(...revocations)),
    'resident MiB before and after': `${residentBefore.map(mebibytes).join(' ')} | ${resident.map(mebibytes).join(' ')}`,
    'streams after the end': remaining.join(' '),
  })
  assert.deepEqual([...new Set(wrong)].slice(0, PRINTED_FAULTS), [], 'streams showed wrong states')
  assert.deepEqual([...new Set(errors)].slice(0, PRINTED_FAULTS), [], 'writes failed without a fault')
  assert.equal(acknowledged.size, KINDS_OF_WRITERS, 'a kind of writer wrote nothing')
  assert.equal(hangs, 0, 'requests had no response')
  assert.equal(convergence.length, STREAMS, 'streams do not show the last committed state')
  assert.ok(Math.max(...revocations) <= REVOCATION_LIMIT, 'streams of a revoked session did not end in time')
  assert.deepEqual(remaining, [0, 0], 'streams remain open after the readers have closed them')
  for (const [index, before] of residentBefore.entries())
    assert.ok((resident[index] ?? 0) <= MEMORY_GROWTH * before, 'resident memory has grown')
  return people
}

const [part] = process.argv.slice(2)
const parts = ['faults', 'leak', 'attacks']
assert.ok(part === undefined || parts.includes(part), `The parts are: ${parts.join(', ')}`)

await trial('live', async (report) => {
  if (part === undefined || part === 'attacks') await runAttacks(report, (await startDurablePostgres()).url)
  if (part === 'attacks') return
  const context = await startAll()
  const people = part === 'leak' ? await signInPeople(context.services) : await runFaults(report, context)
  if (part !== 'faults') await dropStreams(report, context, people)
  await context.admin.end()
  await context.pooler.stop()
})
