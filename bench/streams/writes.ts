import postgres from 'postgres'

import { type Generator, sendLoad } from '../load.ts'
import { median } from '../measure.ts'
import { forCallers, operations } from '../operations.ts'
import { emailsOf, seed } from '../seed.ts'
import { createDatabase } from '../postgres.ts'
import { startTallystick } from '../servers.ts'
import { type Mailbox, signIn } from '../sign-in.ts'
import { waitUntilIdle } from './deliveries.ts'
import { startReaders } from './readers.ts'

const ROUNDS = 8
/** Rounds without a result, because a new process is slow until Node.js has compiled its code. */
const WARM_UP_ROUNDS = 4
/** Duration of a slice, in seconds. */
const SLICE = 1
const CONNECTIONS = 64
const WRITERS = 16
/**
 * The number of tasks of each writer before a slice. With an almost empty table, PostgreSQL would plan the lists without
 * an index, and would keep this plan.
 */
const TASKS = 500
const COUNTER_STREAMS = 100

interface Options {
  postgresUrl: string
  node: string
  generator: Generator
  mailbox: Mailbox
}

/**
 * Compares the throughput of writes with and without streams that receive the changes. Both are measured at the same
 * process in alternating slices, because two processes with the same code differ by up to a third. The order changes in
 * each round.
 */
export async function measureWrites({ postgresUrl, node, generator, mailbox }: Options) {
  const database = await createDatabase(postgresUrl, 'tallystick_writes')
  await seed(database.url, { people: WRITERS, rows: TASKS })
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  const removeNewTasks = async () => {
    await sql`delete from tasks where id > ${TASKS * WRITERS}`
    await sql`vacuum tasks`
  }
  const settings = { DATABASE_URL: database.url, SMTP_URL: mailbox.url, TRUSTED_PROXIES: 'loopback' }
  const server = await startTallystick(node, settings)
  const { origin } = server
  const cookies = await Promise.all(emailsOf(1, WRITERS).map((email) => signIn(origin, email, mailbox)))
  const scenarios = [
    {
      name: 'POST /api/counter/increment',
      topic: 'counter',
      marker: '"count":',
      streams: Array.from({ length: COUNTER_STREAMS }, () => ''),
    },
    { name: 'POST /api/tasks', topic: 'tasks', marker: '"taskCount":', streams: cookies },
  ]
  const results = []
  for (const { name, topic, marker, streams } of scenarios) {
    process.stdout.write(`${name} with and without streams\n`)
    const request = operations.find((operation) => operation.name === name)?.rest
    if (!request) throw new Error(`There is no operation ${name}`)
    const requests = forCallers(
      request,
      cookies.map((cookie) => ({ cookie })),
    )
    const readers = startReaders()
    const measure = async () => {
      await removeNewTasks()
      const load = { origin, requests, connections: CONNECTIONS, seconds: SLICE }
      const { rate, failed } = await sendLoad(generator, load)
      if (failed > 0) throw new Error(`${failed} requests failed for ${name}`)
      await waitUntilIdle(server)
      return rate
    }
    const measureWatched = async () => {
      await readers.send({ do: 'open', origin, topic, marker, cookies: streams })
      const rate = await measure()
      await readers.send({ do: 'close' })
      await waitUntilIdle(server)
      return rate
    }
    const slices = { watched: measureWatched, plain: measure }
    const order: (keyof typeof slices)[] = ['watched', 'plain']
    const rates: { watched: number; plain: number }[] = []
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      const rate = { watched: 0, plain: 0 }
      for (const slice of order) rate[slice] = await slices[slice]()
      order.reverse()
      if (round >= 0) rates.push(rate)
    }
    readers.stop()
    results.push({
      name,
      streams: streams.length,
      watched: median(rates.map((each) => each.watched)),
      plain: median(rates.map((each) => each.plain)),
      ratio: median(rates.map((each) => each.watched / each.plain)),
    })
  }
  await sql.end()
  await server.stop()
  return results
}

export type Writes = Awaited<ReturnType<typeof measureWrites>>
