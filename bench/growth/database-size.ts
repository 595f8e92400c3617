import { median } from '../measure.ts'
import type { Operation } from '../operations.ts'
import { createDatabase } from '../postgres.ts'
import { type DatasetSize, emailsOf, seed } from '../seed.ts'
import { type Server, startTallystick } from '../servers.ts'
import { type Mailbox, signIn } from '../sign-in.ts'

/** Measurement of one operation, which is called sequentially on a database of one size. */
export interface SizeMeasurement {
  people: number
  rows: number
  operation: string
  /** Median duration of a call, in ms. */
  duration: number
  /** Mean server CPU time of a call, in ms. */
  cpu: number
  bytes: number
}

/** Maximum number of calls of each operation. */
const CALLS = 200
/**
 * Time limit for the calls of an operation, in ms. After this time, `measureCalls` stops as soon as the minimum number
 * of calls is complete.
 */
const TIME_LIMIT = 2000

interface Options {
  postgresUrl: string
  mailbox: Mailbox
  operations: Operation[]
  size: DatasetSize
  inspect?: (server: Server, databaseUrl: string, cookie: string) => Promise<void>
}

/**
 * Creates a database of the given size, measures the operations on this database, calls `inspect`, and drops the
 * database.
 */
export async function measureSize({ postgresUrl, mailbox, operations, size, inspect }: Options) {
  const database = await createDatabase(postgresUrl, 'tallystick_growth')
  try {
    await seed(database.url, size)
    const server = await startTallystick(process.execPath, {
      DATABASE_URL: database.url,
      SMTP_URL: mailbox.url,
    })
    const cookies = await Promise.all(
      emailsOf(1, Math.min(size.people, 16)).map((email) => signIn(server.origin, email, mailbox)),
    )
    const { people, rows } = size
    const results: SizeMeasurement[] = []
    for (const operation of operations) {
      await measureCalls(server, operation, cookies, 1)
      results.push({
        people,
        rows,
        operation: operation.name,
        ...(await measureCalls(server, operation, cookies, 3)),
      })
    }
    await inspect?.(server, database.url, cookies[0] ?? '')
    await server.stop()
    return results
  } finally {
    await database.drop()
  }
}

async function measureCalls(server: Server, operation: Operation, cookies: string[], minimum: number) {
  const { path = '', method, body, headers } = operation.rest ?? {}
  const times: number[] = []
  let bytes = 0
  const before = await server.usage()
  const deadline = performance.now() + TIME_LIMIT
  while (times.length < CALLS && (times.length < minimum || performance.now() < deadline)) {
    const start = performance.now()
    const response = await fetch(server.origin + path, {
      method,
      body,
      headers: { ...headers, cookie: cookies[times.length % cookies.length] ?? '' },
    })
    bytes = (await response.arrayBuffer()).byteLength
    if (!response.ok) throw new Error(`${operation.name} was answered with status ${response.status}`)
    times.push(performance.now() - start)
  }
  const after = await server.usage()
  return { duration: median(times), cpu: (after.cpu - before.cpu) / times.length / 1000, bytes }
}
