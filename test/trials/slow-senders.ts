import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { measureRequests } from './constant-rate.ts'
import { quantile } from './http-client.ts'
import { exchange } from '../../engine/test/fixtures/raw-http.ts'
import { startService } from './service-process.ts'
import { measureStreams } from './slow-streams.ts'
import { createAccount } from './test-accounts.ts'
import { startDurablePostgres, trial } from './trial.ts'

/** Interval between two bytes of a slow client, in milliseconds. */
const BYTE_INTERVAL = 250
/**
 * Number of rounds. Each round measures ordinary requests without and with slow clients, so that other load of the
 * machine affects both measurements.
 */
const ROUNDS = 3
/** Duration of a measurement without slow clients, in milliseconds. */
const BASELINE_DURATION = 20_000
/** Period over which the slow clients connect, in milliseconds. */
const ARRIVAL_PERIOD = 2000
/**
 * Limits for the 99th percentile of ordinary requests while slow clients are connected. `ratio` is relative to the
 * percentile without slow clients, and `milliseconds` is absolute. The trial fails if the percentile exceeds both
 * limits.
 */
const LATENCY_LIMIT = { ratio: 3, milliseconds: 25 }
/** Longer than any time limit of the service, in milliseconds. */
const TIMEOUT = 60_000
const HOST = 'host: 127.0.0.1\r\n'
/**
 * Concurrent incomplete bodies from one address. `count` is above MAX_INCOMPLETE of engine/http/server/body-limits.ts, and above
 * the limit of one address (a quarter of MAX_INCOMPLETE).
 */
const INCOMPLETE_BODIES = { count: 1000, timeLimit: 34_000 }

function* slowly(start: string, byte: string) {
  yield start
  for (;;) {
    yield BYTE_INTERVAL
    yield byte
  }
}

interface End {
  /** In milliseconds. */
  duration: number
  status?: number | undefined
}

const send = (start: string) => async (port: number) => {
  const { responses, closed, duration } = await exchange(port, slowly(start, 'x'), { timeout: TIMEOUT })
  return { duration: closed ? duration : Infinity, status: responses[0]?.status }
}

/**
 * Requests more data than the socket buffers can store, and does not read the responses. Sends line breaks
 * periodically, because a client that does not read detects a closed connection only by sending bytes.
 */
async function doNotRead(port: number): Promise<End> {
  const start = performance.now()
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined)
  const closed = new Promise<number>((resolve) => {
    socket.on('close', () => {
      resolve(performance.now() - start)
    })
  })
  socket.write(`GET /api/openapi.json HTTP/1.1\r\n${HOST}\r\n`.repeat(100))
  socket.pause()
  const timer = setInterval(() => socket.write('\r\n'), BYTE_INTERVAL)
  const duration = await Promise.race([closed, sleep(TIMEOUT, Infinity, { ref: false })])
  clearInterval(timer)
  socket.destroy()
  return { duration, status: undefined }
}

const sendIncompleteBody = send(
  `POST /api/reservations HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 500\r\n\r\n`,
)

/** Kinds of slow clients: number, time limit in milliseconds, and status with which the service must end them. */
const slowClientKinds = {
  headers: { count: 80, timeLimit: 14_000, status: 408, run: send(`GET /api/status HTTP/1.1\r\n${HOST}x: `) },
  // `count` is below the limit of one address (a quarter of MAX_INCOMPLETE).
  bodies: { count: 60, timeLimit: 34_000, status: 408, run: sendIncompleteBody },
  readers: { count: 40, timeLimit: 19_000, status: undefined, run: doNotRead },
}

type Kind = keyof typeof slowClientKinds

const entriesOf = (kinds: typeof slowClientKinds) =>
  Object.entries(kinds) as [Kind, (typeof slowClientKinds)[Kind]][]

/** Runs all slow clients concurrently until the service has ended all of their connections, or until TIMEOUT. */
async function runSlowClients(port: number) {
  const ends = entriesOf(slowClientKinds).map(async ([kind, { count, run }]) => {
    const all = Array.from({ length: count }, async (_, index) => {
      await sleep((ARRIVAL_PERIOD * index) / count)
      return run(port)
    })
    return [kind, await Promise.all<End>(all)] as const
  })
  return Object.fromEntries(await Promise.all(ends)) as Record<Kind, End[]>
}

/**
 * Sends incomplete bodies from one address. Starts the requests at regular intervals within ARRIVAL_PERIOD. For each
 * request, returns its duration, and the status with which the service ended it.
 */
const sendIncompleteBodies = (port: number) =>
  Promise.all(
    Array.from({ length: INCOMPLETE_BODIES.count }, async (_, index) => {
      await sleep((ARRIVAL_PERIOD * index) / INCOMPLETE_BODIES.count)
      return sendIncompleteBody(port)
    }),
  )

await trial('slow senders', async (report) => {
  const { url } = await startDurablePostgres()
  const service = await startService({ DATABASE_URL: url })
  const port = Number(new URL(service.origin).port)
  const { cookie } = await createAccount(service, 'ada@example.com')
  const headers = { cookie }
  const requests = [
    { method: 'GET', path: '/api/tasks', headers },
    { method: 'POST', path: '/api/counter/increment', headers },
    { method: 'POST', path: '/api/reservations', headers, body: { name: 'Ada', guests: 2 } },
    { method: 'GET', path: '/api/status', headers },
  ]
  const measure = (until: () => boolean) => measureRequests(service.origin, requests, until)
  const measureFor = (milliseconds: number) => {
    const end = performance.now() + milliseconds
    return measure(() => performance.now() > end)
  }

  await measureFor(BASELINE_DURATION / 4)
  const rounds: { alone: number; beside: number; ends: Record<Kind, End[]> }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await measureFor(BASELINE_DURATION)
    let ends: Record<Kind, End[]> | undefined
    const slowClients = runSlowClients(port).then((all) => (ends = all))
    const beside = await measure(() => ends !== undefined)
    rounds.push({ alone, beside, ends: await slowClients })
  }

  let endedBodies: End[] | undefined
  const incompleteBodies = sendIncompleteBodies(port).then((ends) => (endedBodies = ends))
  const besideBodies = await measure(() => endedBodies !== undefined)
  const bodyEnds = await incompleteBodies
  await service.kill('SIGTERM')
  const streams = await measureStreams(send)

  const [alone, beside] = [rounds.map(({ alone }) => alone), rounds.map(({ beside }) => beside)].map(
    (times) => quantile(times, 0.5),
  ) as [number, number]
  const ratio = beside / alone
  const endsOf = (kind: Kind) => rounds.flatMap(({ ends }) => ends[kind])
  const last = (kind: Kind) =>
    `${(Math.max(...endsOf(kind).map(({ duration }) => duration)) / 1000).toFixed(1)} s`
  report({
    'p99 alone': `${alone.toFixed(1)} ms`,
    beside: `${beside.toFixed(1)} ms`,
    ratio: ratio.toFixed(2),
    'headers ended within': last('headers'),
    bodies: last('bodies'),
    readers: last('readers'),
    'beside 1,000 incomplete bodies': `${besideBodies.toFixed(1)} ms`,
    'ended at once': bodyEnds.filter(({ duration }) => duration < ARRIVAL_PERIOD * 2).length,
    'streams: p99 alone': `${streams.alone.toFixed(1)} ms`,
    'beside streams': `${streams.beside.toFixed(1)} ms`,
    'streams ended within': `${(streams.ended / 1000).toFixed(1)} s`,
  })
  if (bodyEnds.some(({ duration, status }) => duration > INCOMPLETE_BODIES.timeLimit || status !== 408))
    throw new Error('Not all incomplete bodies were answered 408 in time')
  for (const [kind, { timeLimit, status }] of entriesOf(slowClientKinds)) {
    if (endsOf(kind).some(({ duration }) => duration > timeLimit))
      throw new Error(`Not all ${kind} were ended in time`)
    const statuses = [...new Set(endsOf(kind).map((end) => end.status))]
    if (statuses.some((other) => other !== status))
      throw new Error(`${kind} were answered ${statuses.join()}`)
  }
  if (isSlow({ alone, beside }) || isSlow(streams)) throw new Error('Ordinary requests were slow')
})

function isSlow({ alone, beside }: { alone: number; beside: number }) {
  return beside / alone > LATENCY_LIMIT.ratio && beside > LATENCY_LIMIT.milliseconds
}
