import { type Generator, sendLoad } from '../load.ts'
import { median } from '../measure.ts'
import { operations } from '../operations.ts'
import { emailsOf, seed } from '../seed.ts'
import { createDatabase } from '../postgres.ts'
import { startTallystick } from '../servers.ts'
import { type Mailbox, signIn } from '../sign-in.ts'
import { startReaders } from './readers.ts'

const ROUNDS = 8
/** Duration of a slice, in seconds. */
const SLICE = 1
const CONNECTIONS = 64
const WRITERS = 16
const COUNTER_STREAMS = 100

interface Options {
  postgresUrl: string
  node: string
  generator: Generator
  mailbox: Mailbox
}

/** Starts a service with a database of its own, and signs in the people who write. */
async function startWithDatabase({ postgresUrl, node, mailbox }: Options, name: string) {
  const { url } = await createDatabase(postgresUrl, name)
  await seed(url, { people: WRITERS, rows: 1 })
  const settings = { DATABASE_URL: url, SMTP_URL: mailbox.url, MAX_ADDRESS_STREAMS: '1000' }
  const server = await startTallystick(node, settings)
  const cookies = await Promise.all(
    emailsOf(1, WRITERS).map((email) => signIn(server.origin, email, mailbox)),
  )
  return { server, cookies }
}

/**
 * Compares the throughput of writes of two services on two databases: one with streams that receive the changes, one
 * without streams. The slices of the services alternate.
 */
export async function measureWrites(options: Options) {
  const watched = await startWithDatabase(options, 'tallystick_watched')
  const plain = await startWithDatabase(options, 'tallystick_plain')
  const scenarios = [
    {
      name: 'POST /api/counter/increment',
      topic: 'counter',
      cookies: Array.from({ length: COUNTER_STREAMS }, () => ''),
    },
    { name: 'POST /api/tasks', topic: 'tasks', cookies: watched.cookies },
  ]
  const results = []
  for (const scenario of scenarios) {
    process.stdout.write(`${scenario.name} with and without streams\n`)
    const request = operations.find(({ name }) => name === scenario.name)?.rest
    if (!request) throw new Error(`There is no operation ${scenario.name}`)
    const { method, path, body, headers } = request
    const readers = startReaders()
    const { topic } = scenario
    await readers.send({
      do: 'open',
      origin: watched.server.origin,
      topic,
      marker: '"',
      cookies: scenario.cookies,
    })
    const rates: { watched: number; plain: number }[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const measure = async ({ server: { origin }, cookies }: typeof plain) => {
        const load = { origin, method, path, body, connections: CONNECTIONS, seconds: SLICE }
        const { rate, failed } = await sendLoad(options.generator, {
          ...load,
          headers: cookies.map((cookie) => ({ ...headers, cookie })),
        })
        if (failed > 0) throw new Error(`${failed} requests failed for ${scenario.name}`)
        return rate
      }
      const each = { watched: await measure(watched), plain: await measure(plain) }
      // The first round is a warm-up.
      if (round > 0) rates.push(each)
    }
    await readers.send({ do: 'close' })
    readers.stop()
    results.push({
      name: scenario.name,
      streams: scenario.cookies.length,
      watched: median(rates.map((each) => each.watched)),
      plain: median(rates.map((each) => each.plain)),
      ratio: median(rates.map((each) => each.watched / each.plain)),
    })
  }
  await watched.server.stop()
  await plain.server.stop()
  return results
}

export type Writes = Awaited<ReturnType<typeof measureWrites>>
