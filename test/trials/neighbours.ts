import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { type Attack, attacks } from './attacks.ts'
import { quantile, sendRequest } from './http-client.ts'
import { createLargeLists, type LargeList, largeLists } from './large-lists.ts'
import { measureSearchAttack } from './search-attack.ts'
import { createTemporaryFolder, type Service, signIn, startService } from './service-process.ts'
import { type Report, startDurablePostgres, trial } from './trial.ts'

/** Number of concurrent requests for lists. */
const LIST_CONCURRENCY = 6
/** Duration of the requests for lists, in milliseconds. */
const DURATION = 30_000
/** Pause between two short requests (`GET /api/me`) of another caller, in milliseconds. */
const PAUSE = 20
/**
 * Maximum 99th percentile of the duration of `GET /api/me` during the requests for lists, in milliseconds. `server`
 * applies to a PostgreSQL server, `embedded` to the embedded database.
 */
const TARGETS = { server: 250, embedded: 1000 }

/** Maximum resident memory during an attack, in bytes. */
const MEMORY_LIMIT = 400 * 2 ** 20

/** Session cookies. The keys are the e-mail addresses of the accounts. */
type Cookies = Record<string, string>

await trial('neighbours', async (report) => {
  const { url } = await startDurablePostgres()
  const [DATA_DIR, forSearches] = [await createTemporaryFolder(), await createTemporaryFolder()]
  const failures: string[] = []
  if (process.argv[2] !== 'searches') {
    await createLargeLists(url)
    failures.push(...(await measure('PostgreSQL', { DATABASE_URL: url }, TARGETS.server, report)))
    for (const [name, attack] of Object.entries(attacks))
      failures.push(...(await measureAttack(name, attack, url, report)))
    await createLargeLists(join(DATA_DIR, 'db'))
    failures.push(...(await measure('embedded', { DATA_DIR }, TARGETS.embedded, report)))
  }
  failures.push(
    ...(await measureSearchAttack('PostgreSQL', url, { DATABASE_URL: url }, report)),
    ...(await measureSearchAttack('embedded', join(forSearches, 'db'), { DATA_DIR: forSearches }, report)),
  )
  if (failures.length > 0) throw new Error(failures.join('\n'))
})

async function measure(name: string, environment: Record<string, string>, target: number, report: Report) {
  const service = await startService(environment)
  const cookies: Cookies = {}
  for (const email of new Set([...largeLists.map(({ email }) => email), 'neighbour@example.com']))
    cookies[email] = await signIn(service.origin, email, service.dataDir)
  const resident = service.resident()
  const alone = await measureShortRequests(service, cookies, Date.now() + DURATION / 6)
  const end = Date.now() + DURATION
  const [beside, lists] = await Promise.all([
    measureShortRequests(service, cookies, end),
    requestLists(service, cookies, end),
  ])
  const p99 = quantile(beside, 0.99)
  const bytes = lists.map(({ bytes }) => bytes)
  report({
    database: name,
    requests: beside.length,
    'p99 alone': `${quantile(alone, 0.99).toFixed(1)} ms`,
    'p50 beside lists': `${quantile(beside, 0.5).toFixed(1)} ms`,
    p99: `${p99.toFixed(1)} ms`,
    longest: `${Math.max(...beside).toFixed(1)} ms`,
    lists: lists.length,
    'largest response': `${(Math.max(...bytes) / 2 ** 20).toFixed(1)} MiB`,
    'longest list': `${(Math.max(...lists.map(({ duration }) => duration)) / 1000).toFixed(1)} s`,
    'resident before, and maximum': `${mebibytes(resident)} ${mebibytes(service.peak())} MiB`,
  })
  await service.kill('SIGTERM')
  const failures = lists
    .filter(({ status }) => status !== 200)
    .map(({ email, path, status }) => `${name}: ${path} of ${email} answered ${status}`)
  if (p99 > target) failures.push(`${name}: GET /api/me took ${p99.toFixed(0)} ms, more than ${target} ms`)
  return failures
}

async function measureAttack(name: string, attack: Attack, url: string, report: Report) {
  const service = await startService({ DATABASE_URL: url })
  const cookies: Cookies = {}
  for (const email of ['latin@example.com', 'neighbour@example.com'])
    cookies[email] = await signIn(service.origin, email, service.dataDir)
  const alone = await measureShortRequests(service, cookies, Date.now() + DURATION / 6)
  const end = attack(service, cookies['latin@example.com'] ?? '')
  const beside = await measureShortRequests(service, cookies, Date.now() + DURATION / 2)
  end()
  const [p99, peak] = [quantile(beside, 0.99), service.peak()]
  report({
    attack: name,
    requests: beside.length,
    'p99 alone': `${quantile(alone, 0.99).toFixed(1)} ms`,
    'p50 beside the attack': `${quantile(beside, 0.5).toFixed(1)} ms`,
    p99: `${p99.toFixed(1)} ms`,
    longest: `${Math.max(...beside).toFixed(1)} ms`,
    'maximum resident': `${mebibytes(peak)} MiB`,
  })
  await service.kill('SIGTERM')
  const failures: string[] = []
  if (p99 > TARGETS.server) failures.push(`${name}: GET /api/me took ${p99.toFixed(0)} ms`)
  if (peak > MEMORY_LIMIT) failures.push(`${name}: the service used ${mebibytes(peak)} MiB`)
  return failures
}

function mebibytes(bytes: number) {
  return Math.round(bytes / 2 ** 20)
}

/** Sends sequential `GET /api/me` requests of a caller without large lists. Returns the durations in milliseconds. */
async function measureShortRequests({ origin }: Service, cookies: Cookies, end: number) {
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

/** Requests all large lists in rotation, with LIST_CONCURRENCY concurrent requests, until `end`. */
async function requestLists({ origin }: Service, cookies: Cookies, end: number) {
  const agent = new Agent({ keepAlive: true })
  const responses: (LargeList & ListResponse)[] = []
  const requestNext = async (first: number) => {
    for (let turn = first; Date.now() < end; turn++) {
      const list = largeLists[turn % largeLists.length]
      if (!list) throw new Error('There are no lists')
      const headers = { cookie: cookies[list.email] ?? '', ...list.headers }
      responses.push({ ...list, ...(await countBytes(agent, origin + list.path, headers)) })
    }
  }
  await Promise.all(Array.from({ length: LIST_CONCURRENCY }, (_, index) => requestNext(index)))
  agent.destroy()
  return responses
}

interface ListResponse {
  status: number
  bytes: number
  /** In milliseconds. */
  duration: number
}

/** Counts the bytes of a response without storing them, so that this process has CPU time for the measurement. */
function countBytes(agent: Agent, url: string, headers: Record<string, string>) {
  return new Promise<ListResponse>((resolve, reject) => {
    const start = performance.now()
    get(url, { agent, headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, bytes, duration: performance.now() - start })
      })
    }).on('error', reject)
  })
}
