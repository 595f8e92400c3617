import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import postgres from 'postgres'

import { createClient, createRestClient } from '../../contract/client.ts'
import { cookieOf } from '../../engine/dev/testing/index.ts'
import { freePort, startPostgres } from '../../engine/dev/testing/postgres.ts'
import { startPooler } from '../../engine/test/fixtures/pgbouncer.ts'
import { readCode } from './service-process.ts'

// Runs the built service through PgBouncer in transaction mode: `npm run trial pooler`.

const CONNECTIONS = 64
const INCREMENTS = 100
const LOCK_TIMEOUT = 5000

const server = await startPostgres(['-c', 'max_connections=20'])
const admin = postgres(server.url, { max: 1, onnotice: () => undefined })
for (const limit of [
  'statement_timeout = 10000',
  'lock_timeout = 5000',
  'idle_in_transaction_session_timeout = 10000',
])
  await admin.unsafe(`alter role postgres set ${limit}`)
const pooler = await startPooler(server.url)
const folder = await mkdtemp(join(tmpdir(), 'tallystick-trial-'))
const { origin, child } = await startService()

let requests = 0
const outcomes: boolean[] = []

/** Prints the result of a check. Adds the result to `outcomes`, which determines the exit code. */
function report(check: string, passed: boolean, figures: string) {
  process.stdout.write(`${passed ? 'passed' : 'FAILED'}  ${check}: ${figures}\n`)
  outcomes.push(passed)
}

async function startService() {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const env = {
    PATH: process.env.PATH,
    PORT: String(port),
    BASE_URL: origin,
    DATA_DIR: folder,
    DATABASE_URL: pooler.url,
    DATABASE_DIRECT_URL: server.url,
    LOG_LEVEL: 'silent',
    RATE_LIMITS: 'off',
  }
  const child = spawn(process.execPath, ['dist/start/main.js'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const isListening = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => undefined),
  ])
  if (!isListening) throw new Error(`the service ended with ${child.exitCode}; is it built?`)
  return { origin, child }
}

const post = async (path: string, body: object = {}) => {
  const headers = { 'content-type': 'application/json' }
  requests++
  return fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function signIn(email: string) {
  await post('/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
  const otp = await readCode(email, folder)
  const { headers } = await post('/api/auth/sign-in/email-otp', { email, otp })
  return { cookie: cookieOf(headers) }
}

/** Calls the operations with the RPC client and the REST client, for several people concurrently. */
async function callEverything() {
  const countingFetch: typeof fetch = (...parameters) => {
    requests++
    return fetch(...parameters)
  }
  const faults: string[] = []
  const callOperations = async (index: number) => {
    const [ada, bob] = [`ada${index}@example.com`, `bob${index}@example.com`]
    const [adaHeaders, bobHeaders] = [await signIn(ada), await signIn(bob)]
    for (const create of [createClient, createRestClient]) {
      const client = create(origin, { headers: adaHeaders, fetch: countingFetch })
      const other = create(origin, { headers: bobHeaders, fetch: countingFetch })
      await client.status.get()
      const { email } = await client.account.get()
      if (email !== ada) faults.push(`${ada} got the account ${email}`)
      const { id } = await client.tasks.create({ taskTitle: 'Write' })
      for (const _ of ['once', 'twice']) await client.tasks.update({ id, status: 'completed' })
      const { status } = await client.tasks.get({ id })
      if (status !== 'completed') faults.push(`a completed task has the status ${status}`)
      const note = await client.notes.create({ title: 'Plan', body: '' })
      for (const _ of ['once', 'twice']) await client.notes.share({ id: note.id, email: bob, role: 'editor' })
      await other.notes.update({ id: note.id, title: 'Edited', body: 'by another' })
      await client.notes.delete({ id: note.id })
      await client.legacyNotes.create({ newNote: 'A first form' })
      await client.legacyNotes.reset()
      for (const _ of ['once', 'twice']) await client.tasks.delete({ id })
      const left = (await client.tasks.list({})).taskCount + (await client.notes.list()).notes.length
      if (left !== 0) faults.push(`${left} rows remain`)
      if ((await client.sessions.list()).sessionCount !== 1) faults.push('there is not exactly one session')
      await client.reservations.create({ name: 'Ada', guests: 2 })
    }
  }
  const results = await Promise.allSettled(Array.from({ length: 16 }, (_, index) => callOperations(index)))
  for (const result of results) if (result.status === 'rejected') faults.push(String(result.reason))
  const figure = `${requests} requests through ${pooler.version}, ${faults.length} faults ${faults.slice(0, 3).join('; ')}`
  report('every operation', faults.length === 0, figure.trim())
}

const increment = async () => {
  const response = await post('/api/counter/increment')
  const { count } = (await response.json()) as { count?: number }
  return { status: response.status, count }
}

async function incrementConcurrently() {
  await post('/api/counter/reset')
  const start = Date.now()
  const seen = new Set<number | undefined>()
  const refused: number[] = []
  const sendIncrements = async () => {
    for (let index = 0; index < INCREMENTS; index++) {
      const { status, count } = await increment()
      if (status === 200) seen.add(count)
      else refused.push(status)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, sendIncrements))
  const total = CONNECTIONS * INCREMENTS
  const [row] = await admin<{ count: string }[]>`select count from counter`
  const exact = seen.size === total && Number(row?.count) === total
  const figure = `${total} increments at ${CONNECTIONS} connections in ${Date.now() - start} ms, ${refused.length} refused, ${seen.size} distinct, the counter at ${row?.count ?? 'none'}`
  report('contention', exact && refused.length === 0, figure)
}

/**
 * Sends an increment while another transaction locks the row of the counter. Verifies that the lock timeout
 * of the database role (`alter role` above) also applies through the pooler.
 */
async function hitLockTimeout() {
  let duration = 0
  let status = 0
  await admin
    .begin(async (sql) => {
      await sql`set local lock_timeout = 0`
      await sql`select count from counter for update`
      const start = Date.now()
      status = (await increment()).status
      duration = Date.now() - start
    })
    .catch(() => undefined)
  const passed = status === 503 && duration < LOCK_TIMEOUT + 2000
  report(
    'a held lock',
    passed,
    `${status} after ${duration} ms; ${(await increment()).status} after its release`,
  )
}

async function restartUnderLoad() {
  const [before] = await admin<{ count: string }[]>`select count from counter`
  const statuses = new Map<number, number>()
  let [stopped, slowest, recovery] = [false, 0, 0]
  const sendIncrements = async () => {
    while (!stopped) {
      const start = Date.now()
      const { status } = await increment()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status !== 200) slowest = Math.max(slowest, Date.now() - start)
      if (status === 200 && restarted > 0) recovery ||= Date.now() - restarted
      // The pause is shorter than the value of Retry-After, so that the trial takes less time.
      if (status !== 200) await sleep(50)
    }
  }
  let restarted = 0
  const load = Promise.all(Array.from({ length: CONNECTIONS }, sendIncrements))
  await sleep(1000)
  await pooler.restart(1000)
  restarted = Date.now()
  await sleep(4000)
  stopped = true
  await load
  const [after] = await admin<{ count: string }[]>`select count from counter`
  const done = Number(after?.count) - Number(before?.count)
  const [acknowledged, refused] = [statuses.get(200) ?? 0, statuses.get(503) ?? 0]
  // A refused increment may be committed, because PgBouncer may have stopped between the commit and the response.
  const counted = done >= acknowledged && done <= acknowledged + refused
  const only = [...statuses.keys()].every((status) => status === 200 || status === 503)
  const passed = only && counted && refused > 0 && slowest < 5000 && recovery > 0 && recovery < 3000
  const figure = `${acknowledged} times 200, ${refused} times 503, the slowest of these ${slowest} ms; 200 again ${recovery} ms after; ${done} increments counted`
  report('restart of the pooler under load', passed, figure)
}

try {
  await callEverything()
  await incrementConcurrently()
  await hitLockTimeout()
  await restartUnderLoad()
} finally {
  child.kill('SIGTERM')
  await once(child, 'exit')
  await pooler.stop()
  await admin.end()
  await server.stop()
  await rm(folder, { recursive: true })
}
process.exit(outcomes.every(Boolean) ? 0 : 1)
