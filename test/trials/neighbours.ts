import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { sendRequest, quantile } from './http-client.ts'
import { createLargeLists, type LargeList, largeLists } from './large-lists.ts'
import { createTemporaryFolder, type Service, signIn, startService } from './service-process.ts'
import { startDurablePostgres, type Report, trial } from './trial.ts'

/** Lists under way at once. */
const LISTS = 6
/** How long lists are asked for, in milliseconds. */
const DURATION = 30_000
/** Between two calls of the neighbour, in milliseconds. */
const PAUSE = 20
/** The 99th percentile of `GET /api/me` beside the lists, at most, in milliseconds. */
const TARGETS = { server: 250, embedded: 1000 }

/** A cookie by address. */
type Cookies = Record<string, string>

await trial('neighbours', async (tell) => {
  const { url } = await startDurablePostgres()
  await createLargeLists(url)
  const failures = await measure('PostgreSQL', { DATABASE_URL: url }, TARGETS.server, tell)
  const DATA_DIR = await createTemporaryFolder()
  await createLargeLists(join(DATA_DIR, 'db'))
  failures.push(...(await measure('embedded', { DATA_DIR }, TARGETS.embedded, tell)))
  if (failures.length > 0) throw new Error(failures.join('\n'))
})

async function measure(name: string, environment: Record<string, string>, target: number, tell: Report) {
  const service = await startService(environment)
  const cookies: Cookies = {}
  for (const email of new Set([...largeLists.map(({ email }) => email), 'neighbour@example.com']))
    cookies[email] = await signIn(service.origin, email, service.dataDir)
  const resident = service.resident()
  const alone = await askBriefly(service, cookies, Date.now() + DURATION / 6)
  const end = Date.now() + DURATION
  const [beside, lists] = await Promise.all([
    askBriefly(service, cookies, end),
    askLists(service, cookies, end),
  ])
  const p99 = quantile(beside, 0.99)
  const bytes = lists.map(({ bytes }) => bytes)
  tell({
    database: name,
    calls: beside.length,
    'p99 alone': `${quantile(alone, 0.99).toFixed(1)} ms`,
    'p50 beside lists': `${quantile(beside, 0.5).toFixed(1)} ms`,
    p99: `${p99.toFixed(1)} ms`,
    longest: `${Math.max(...beside).toFixed(1)} ms`,
    lists: lists.length,
    'largest answer': `${(Math.max(...bytes) / 2 ** 20).toFixed(1)} MiB`,
    'longest list': `${(Math.max(...lists.map(({ took }) => took)) / 1000).toFixed(1)} s`,
    'resident before and at most': `${mebibytes(resident)} ${mebibytes(service.peak())} MiB`,
  })
  await service.kill('SIGTERM')
  const failures = lists
    .filter(({ status }) => status !== 200)
    .map(({ email, path, status }) => `${name}: ${path} of ${email} answered ${status}`)
  if (p99 > target) failures.push(`${name}: GET /api/me took ${p99.toFixed(0)} ms, more than ${target} ms`)
  return failures
}

function mebibytes(bytes: number) {
  return Math.round(bytes / 2 ** 20)
}

/** What one other caller is answered, one call after another. Answers how long each took, in milliseconds. */
async function askBriefly({ origin }: Service, cookies: Cookies, end: number) {
  const agent = new Agent({ keepAlive: true })
  const headers = { cookie: cookies['neighbour@example.com'] ?? '' }
  const times: number[] = []
  while (Date.now() < end) {
    const { status, duration } = await sendRequest(agent, origin, { method: 'GET', path: '/api/me', headers })
    if (status !== 200) throw new Error(`GET /api/me answered ${status}`)
    times.push(duration)
    await sleep(PAUSE)
  }
  agent.destroy()
  return times
}

/** Every hoard in turn, by so many callers at once. */
async function askLists({ origin }: Service, cookies: Cookies, end: number) {
  const agent = new Agent({ keepAlive: true })
  const answers: (LargeList & Answer)[] = []
  const lane = async (first: number) => {
    for (let turn = first; Date.now() < end; turn++) {
      const hoard = largeLists[turn % largeLists.length]
      if (!hoard) throw new Error('There is no list')
      const headers = { cookie: cookies[hoard.email] ?? '', ...hoard.headers }
      answers.push({ ...hoard, ...(await weigh(agent, origin + hoard.path, headers)) })
    }
  }
  await Promise.all(Array.from({ length: LISTS }, (_, index) => lane(index)))
  agent.destroy()
  return answers
}

interface Answer {
  status: number
  bytes: number
  /** In milliseconds. */
  took: number
}

/** Counts the bytes of an answer and keeps none, so that this process has time to measure. */
function weigh(agent: Agent, url: string, headers: Record<string, string>) {
  return new Promise<Answer>((resolve, reject) => {
    const start = performance.now()
    get(url, { agent, headers }, (answer) => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length))
      answer.on('error', reject)
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, bytes, took: performance.now() - start })
      })
    }).on('error', reject)
  })
}
