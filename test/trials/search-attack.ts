import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'

import { open } from '../../db/index.ts'
import { findOrCreate } from '../../engine/db/accounts/users.ts'
import { quantile, sendRequest } from './http-client.ts'
import { signIn, startService } from './service-process.ts'
import type { Report } from './trial.ts'

/** Numbers of tasks of the account that attacks. Each task has 10,000 `a`. */
const SIZES = [1500, 6000]

/** Loops of searches at the same time. The texts are the most expensive ones for ILIKE and for `strpos`. */
const TEXTS = [`${'a'.repeat(99)}b`, `b${'a'.repeat(99)}`, `${'a'.repeat(99)}b`]

/** Duration of an attack, in milliseconds, and the pause between two requests of the other person. */
const DURATION = 15_000
const PAUSE = 20

/** Maximum 99th percentile of the search of another person, and of session lookups, in milliseconds. */
const TARGETS = { search: 500, lookup: 250 }

const ATTACKER = 'attacker@example.com'
const OTHER = 'searcher@example.com'

async function addTasks(url: string, count: number) {
  const { db, close } = await open(url)
  const { id } = await findOrCreate(db, { email: ATTACKER, name: '' })
  const other = await findOrCreate(db, { email: OTHER, name: '' })
  await db.execute(sql`delete from tasks where user_id in (${id}, ${other.id})`)
  await db.execute(
    sql`insert into tasks (user_id, title, description)
      select ${id}, 'x', repeat('a', 10000) from generate_series(1, ${count}::int)`,
  )
  await db.execute(
    sql`insert into tasks (user_id, title, description)
      select ${other.id}, 'Milk ' || number, repeat('Buy bread. ', 20) from generate_series(1, 200) as numbers (number)`,
  )
  await close()
}

/** Another person searches and calls `GET /api/me`, alone and while one account loops the most expensive searches. */
export async function measureSearchAttack(
  name: string,
  url: string,
  environment: Record<string, string>,
  report: Report,
) {
  const failures: string[] = []
  for (const count of SIZES) {
    await addTasks(url, count)
    failures.push(...(await measure(`${name}, ${count} tasks`, environment, report)))
  }
  return failures
}

async function measure(name: string, environment: Record<string, string>, report: Report) {
  const service = await startService(environment)
  const [attacker, other] = [
    await signIn(service.origin, ATTACKER, service.dataDir),
    await signIn(service.origin, OTHER, service.dataDir),
  ]
  const agent = new Agent({ keepAlive: true })
  const send = (path: string, cookie: string) =>
    sendRequest(agent, service.origin, { method: 'GET', path, headers: { cookie } })
  /** Repeats requests until `end`. Returns the durations by status. */
  const repeat = async (path: string, cookie: string, end: number, pause: number) => {
    const answers: { status: number; duration: number }[] = []
    while (Date.now() < end) {
      answers.push(await send(path, cookie))
      if (pause > 0) await sleep(pause)
    }
    return answers
  }
  const measureOther = (end: number) =>
    Promise.all([repeat('/api/tasks?q=MILK%201', other, end, PAUSE), repeat('/api/me', other, end, PAUSE)])
  const alone = await measureOther(Date.now() + DURATION / 5)
  const end = Date.now() + DURATION
  const [[searches, lookups], ...attacks] = await Promise.all([
    measureOther(end),
    ...TEXTS.map((text) => repeat(`/api/tasks?q=${text}`, attacker, end, 0)),
  ])
  agent.destroy()
  const durations = (answers: { duration: number }[]) => answers.map(({ duration }) => duration)
  const ms = (answers: { duration: number }[], q: number) => quantile(durations(answers), q)
  const failed = [...searches, ...lookups].filter(({ status }) => status !== 200)
  const attacked = attacks.flat()
  report({
    searches: name,
    'search alone, p50': `${ms(alone[0], 0.5).toFixed(1)} ms`,
    'beside the attack, p50': `${ms(searches, 0.5).toFixed(1)} ms`,
    'search p99': `${ms(searches, 0.99).toFixed(1)} ms`,
    'longest search': `${Math.max(...durations(searches)).toFixed(1)} ms`,
    'GET /api/me alone, p99': `${ms(alone[1], 0.99).toFixed(1)} ms`,
    'p99 beside': `${ms(lookups, 0.99).toFixed(1)} ms`,
    'longest lookup': `${Math.max(...durations(lookups)).toFixed(1)} ms`,
    requests: searches.length + lookups.length,
    failed: failed.length,
    'attacking searches': attacked.length,
    'statuses of the attack': [...new Set(attacked.map(({ status }) => status))].join(' '),
    'attack p50': `${ms(attacked, 0.5).toFixed(0)} ms`,
  })
  await service.kill('SIGTERM')
  const failures = failed.slice(0, 1).map(({ status }) => `${name}: another person received ${status}`)
  if (ms(searches, 0.99) > TARGETS.search) failures.push(`${name}: a search of another person was slow`)
  if (ms(lookups, 0.99) > TARGETS.lookup) failures.push(`${name}: GET /api/me was slow`)
  return failures
}
