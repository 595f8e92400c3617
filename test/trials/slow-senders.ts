import { Agent } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { sendRequest, quantile } from './http-client.ts'
import { createAccount } from './test-accounts.ts'
import { startService } from './service-process.ts'
import { startDurablePostgres, trial } from './trial.ts'
import { exchange } from './raw-http.ts'

/** Between a byte and the next, in milliseconds. */
const DRIP = 250
/** Alone and beside slow ones in turn, so that whatever else the machine does meets both. */
const ROUNDS = 3
/** How long ordinary calls are measured alone, in milliseconds, and how many a second. */
const ALONE = 20_000
const RATE = 50
/** In how many milliseconds the slow ones come. */
const COMING = 2000
/** Ordinary calls are fast beside the slow ones if their 99th percentile is at most so many times what it was, or this. */
const FAST = { ratio: 3, milliseconds: 25 }
/** More than any limit of the service, in milliseconds. */
const PATIENCE = 60_000
const HOST = 'host: 127.0.0.1\r\n'
/** Half-sent bodies at once from one address: more than MAX_REQUESTS, and many times what one address may have. */
const HALVES = { many: 1000, by: 34_000 }

function* drip(start: string, byte: string) {
  yield start
  for (;;) {
    yield DRIP
    yield byte
  }
}

interface End {
  /** In milliseconds. */
  took: number
  status?: number | undefined
}

const send = (start: string) => async (port: number) => {
  const { responses, closed, duration } = await exchange(port, drip(start, 'x'), { timeout: PATIENCE })
  return { took: closed ? duration : Infinity, status: responses[0]?.status }
}

/** Asks for more than any buffer holds, and reads nothing: only from sending is it known that the other side is gone. */
async function leaveUnread(port: number): Promise<End> {
  const start = performance.now()
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined)
  const gone = new Promise<number>((resolve) => {
    socket.on('close', () => {
      resolve(performance.now() - start)
    })
  })
  socket.write(`GET /docs/swagger-ui-bundle.js HTTP/1.1\r\n${HOST}\r\n`.repeat(10))
  socket.pause()
  const timer = setInterval(() => socket.write('\r\n'), DRIP)
  const took = await Promise.race([gone, sleep(PATIENCE, Infinity, { ref: false })])
  clearInterval(timer)
  socket.destroy()
  return { took, status: undefined }
}

const holdBody = send(
  `POST /api/reservations HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 500\r\n\r\n`,
)

/** The number of each kind, which answer the service must end them with, and after how many milliseconds at most. */
const kinds = {
  heads: { many: 80, by: 14_000, status: 408, hold: send(`GET /api/status HTTP/1.1\r\n${HOST}x: `) },
  // Fewer than one address may have incomplete.
  bodies: { many: 60, by: 34_000, status: 408, hold: holdBody },
  readers: { many: 40, by: 19_000, status: undefined, hold: leaveUnread },
}

type Kind = keyof typeof kinds

const entriesOf = (all: typeof kinds) => Object.entries(all) as [Kind, (typeof kinds)[Kind]][]

/** All of them at once, each until it is cut off. */
async function hold(port: number) {
  const ends = entriesOf(kinds).map(async ([kind, { many, hold }]) => {
    const all = Array.from({ length: many }, async (_, index) => {
      await sleep((COMING * index) / many)
      return hold(port)
    })
    return [kind, await Promise.all<End>(all)] as const
  })
  return Object.fromEntries(await Promise.all(ends)) as Record<Kind, End[]>
}

/** Half-sent bodies from one address, all within two seconds. Returns how they ended. */
const holdHalves = (port: number) =>
  Promise.all(
    Array.from({ length: HALVES.many }, async (_, index) => {
      await sleep((COMING * index) / HALVES.many)
      return holdBody(port)
    }),
  )

await trial('slow senders', async (tell) => {
  const { url } = await startDurablePostgres()
  const service = await startService({ DATABASE_URL: url })
  const port = Number(new URL(service.origin).port)
  const { cookie } = await createAccount(service, 'ada@example.com')
  const ordinary = (until: () => boolean) => keepAsking(service.origin, cookie, until)
  const forSome = (milliseconds: number) => {
    const end = performance.now() + milliseconds
    return ordinary(() => performance.now() > end)
  }

  await forSome(ALONE / 4)
  const rounds: { alone: number; beside: number; ends: Record<Kind, End[]> }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await forSome(ALONE)
    let ends: Record<Kind, End[]> | undefined
    const held = hold(port).then((all) => (ends = all))
    const beside = await ordinary(() => ends !== undefined)
    rounds.push({ alone, beside, ends: await held })
  }

  let halves: End[] | undefined
  const heldHalves = holdHalves(port).then((ends) => (halves = ends))
  const besideHalves = await ordinary(() => halves !== undefined)
  const endsOfHalves = await heldHalves

  const [alone, beside] = [rounds.map(({ alone }) => alone), rounds.map(({ beside }) => beside)].map(
    (times) => quantile(times, 0.5),
  ) as [number, number]
  const ratio = beside / alone
  const endsOf = (kind: Kind) => rounds.flatMap(({ ends }) => ends[kind])
  const last = (kind: Kind) => `${(Math.max(...endsOf(kind).map(({ took }) => took)) / 1000).toFixed(1)} s`
  tell({
    'p99 alone': `${alone.toFixed(1)} ms`,
    beside: `${beside.toFixed(1)} ms`,
    ratio: ratio.toFixed(2),
    'heads cut off within': last('heads'),
    bodies: last('bodies'),
    readers: last('readers'),
    'beside 1,000 half-sent bodies': `${besideHalves.toFixed(1)} ms`,
    'cut off at once': endsOfHalves.filter(({ took }) => took < COMING * 2).length,
  })
  if (endsOfHalves.some(({ took, status }) => took > HALVES.by || status !== 408))
    throw new Error('Not all half-sent bodies were answered 408 in time')
  for (const [kind, { by, status }] of entriesOf(kinds)) {
    if (endsOf(kind).some(({ took }) => took > by)) throw new Error(`Not all ${kind} were cut off in time`)
    const statuses = [...new Set(endsOf(kind).map((end) => end.status))]
    if (statuses.some((other) => other !== status))
      throw new Error(`${kind} were answered ${statuses.join()}`)
  }
  if (ratio > FAST.ratio && beside > FAST.milliseconds) throw new Error('Ordinary calls were slow')
})

/** Asks at the one rate, whatever becomes of those before. Answers the 99th percentile, in milliseconds. */
async function keepAsking(origin: string, cookie: string, until: () => boolean) {
  const agent = new Agent({ keepAlive: true })
  const asked: Promise<number>[] = []
  const works = [
    { method: 'GET', path: '/api/tasks' },
    { method: 'POST', path: '/api/counter/increment' },
    { method: 'POST', path: '/api/reservations', body: { name: 'Ada', guests: 2 } },
    { method: 'GET', path: '/api/status' },
  ]
  const ask = async (turn: number) => {
    const work = works[turn % works.length] ?? { method: 'GET', path: '/' }
    const { status, body, duration } = await sendRequest(agent, origin, { ...work, headers: { cookie } })
    if (status !== 200) throw new Error(`${work.method} ${work.path} answered ${status}: ${body}`)
    return duration
  }
  const start = performance.now()
  for (let turn = 0; !until(); turn++) {
    asked.push(ask(turn))
    await sleep(Math.max(0, (turn + 1) * (1000 / RATE) - (performance.now() - start)))
  }
  const times = await Promise.all(asked)
  agent.destroy()
  return quantile(times, 0.99)
}
