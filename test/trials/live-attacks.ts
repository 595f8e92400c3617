import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'

import { createClient } from '../../contract/client.ts'
import { type Attack, streamAttacks } from './attacks.ts'
import { quantile } from './http-client.ts'
import { signIn, startService } from './service-process.ts'
import type { Report } from './trial.ts'

/** Duration of each attack, in milliseconds. */
const DURATION = 20_000
/** Pause between two changes of the counter, and between two changes of the attacker’s tasks, in milliseconds. */
const PAUSES = { counter: 100, tasks: 1000 }
/** Maximum 99th percentile of the duration from a change of the counter until another person’s stream has it, in milliseconds. */
const DELIVERY_LIMIT = 1000
/** Maximum resident memory, in bytes. */
const MEMORY_LIMIT = 400 * 2 ** 20

/** Measures the deliveries to another person during each attack. The service and its database must be for this trial only. */
export async function runAttacks(report: Report, url: string) {
  for (const [name, attack] of Object.entries(streamAttacks)) await runAttack(report, url, name, attack)
}

async function runAttack(report: Report, url: string, name: string, attack: Attack) {
  const service = await startService({ DATABASE_URL: url, WORKERS: '1' })
  const [attacker, neighbour] = [
    await signIn(service.origin, 'attacker@example.com', service.dataDir),
    await signIn(service.origin, 'neighbour@example.com', service.dataDir),
  ]
  const own = createClient(service.origin, { headers: { cookie: attacker } })
  await addLargeTasks(url)
  const alone = await measureDeliveries(service.origin, neighbour, DURATION / 6)

  const end = attack(service, attacker)
  const writing = new AbortController()
  const written = writeTasks(own, writing.signal)
  await sleep(1000)
  const beside = await measureDeliveries(service.origin, neighbour, DURATION)
  writing.abort()
  const writes = await written
  end()

  const [p99, peak] = [quantile(beside, 0.99), service.peak()]
  report({
    attack: name,
    deliveries: beside.length,
    'p99 alone ms': quantile(alone, 0.99).toFixed(1),
    'p50 beside ms': quantile(beside, 0.5).toFixed(1),
    'p99 ms': p99.toFixed(1),
    'longest ms': Math.max(...beside).toFixed(1),
    'writes of the attacker': writes.length,
    'longest write ms': Math.max(...writes).toFixed(1),
    'resident MiB, at most': Math.round(peak / 2 ** 20),
  })
  const { code } = await service.kill('SIGTERM')
  assert.equal(code, 0, `the service ended with ${code}`)
  assert.ok(p99 <= DELIVERY_LIMIT, `deliveries took ${p99.toFixed(0)} ms, more than ${DELIVERY_LIMIT} ms`)
  assert.ok(peak <= MEMORY_LIMIT, `the service used ${peak} bytes of memory`)
}

/** 105 tasks of 10,000 control characters, each of which has six bytes in JSON. */
async function addLargeTasks(url: string) {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  await sql`
    insert into tasks (user_id, title, description)
    select id, 'x', repeat(chr(1), 10000) from users, generate_series(1, 105)
    where email = 'attacker@example.com' and not exists (select from tasks where user_id = users.id)`
  await sql.end()
}

/** Changes a task of the attacker until the signal. Returns the durations. */
async function writeTasks(client: ReturnType<typeof createClient>, signal: AbortSignal) {
  const [task] = (await client.tasks.list({ limit: 1 })).tasks
  assert.ok(task)
  const durations: number[] = []
  for (let turn = 0; !signal.aborted; turn++) {
    const start = performance.now()
    await client.tasks.update({ id: task.id, title: `x${turn}` })
    durations.push(performance.now() - start)
    await sleep(PAUSES.tasks)
  }
  return durations
}

/** Changes the counter, and measures the time until the person’s own stream has each state, in milliseconds. */
async function measureDeliveries(origin: string, cookie: string, duration: number) {
  const client = createClient(origin, { headers: { cookie } })
  const times: number[] = []
  const updates = await client.live.watch({ topics: ['counter'] })
  await updates.next()
  for (const end = performance.now() + duration; performance.now() < end;) {
    const start = performance.now()
    const { count } = await client.counter.increment()
    for await (const { topic, state } of { [Symbol.asyncIterator]: () => ({ next: () => updates.next() }) })
      if (topic === 'counter' && state.count >= count) break
    times.push(performance.now() - start)
    await sleep(PAUSES.counter)
  }
  await updates.return()
  return times
}
