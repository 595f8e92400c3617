import { cpus } from 'node:os'

import { cookieCredentials } from '../contenders.ts'
import { defaultGenerator, sendLoad } from '../load.ts'
import { forCallers, type Operation } from '../operations.ts'
import { createDatabase } from '../postgres.ts'
import { seed } from '../seed.ts'
import { startTallystick } from '../servers.ts'
import type { Mailbox } from '../sign-in.ts'

const CONNECTIONS = 64
/** Duration of a load, in seconds. */
const DURATION = 5

interface Options {
  postgresUrl: string
  mailbox: Mailbox
  operations: Operation[]
}

/**
 * Measures the throughput with different numbers of processes (`WORKERS`), in responses per second. The processes may use
 * all cores, like PostgreSQL and the load generator.
 */
export async function measureWorkers({ postgresUrl, mailbox, operations }: Options, counts: number[]) {
  const database = await createDatabase(postgresUrl, 'tallystick_growth')
  await seed(database.url, { people: 32, rows: 20, owners: 16 })
  const results: { workers: number; operation: string; rate: number; p99: number }[] = []
  for (const workers of counts) {
    const settings = { DATABASE_URL: database.url, SMTP_URL: mailbox.url, WORKERS: String(workers) }
    const server = await startTallystick(process.execPath, settings, `0-${cpus().length - 1}`)
    const credentials = await cookieCredentials(server, mailbox)
    for (const { name, callers, rest } of operations) {
      if (!rest) continue
      const requests = forCallers(rest, credentials[callers])
      const load = (seconds: number) =>
        sendLoad(defaultGenerator(), { origin: server.origin, requests, connections: CONNECTIONS, seconds })
      await load(1)
      const { rate, p99, failed } = await load(DURATION)
      if (failed > 0) throw new Error(`${failed} requests failed for ${name}`)
      results.push({ workers, operation: name, rate, p99 })
    }
    await server.stop('SIGTERM')
  }
  await database.drop()
  return results
}
