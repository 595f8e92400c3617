import { type Operation, operations } from '../operations.ts'
import { startMailbox } from '../sign-in.ts'
import { measureBundle } from './bundle-size.ts'
import { measureSize } from './database-size.ts'
import { measureMemory } from './memory.ts'
import { checkPlans } from './query-plans.ts'
import { measureWorkers } from './workers.ts'

const ROWS = [10, 1000, 100_000]
const PEOPLE = [1, 1000, 100_000]
const CONNECTIONS = [0, 100, 1000]
const WORKERS = [1, 2, 4]

/** Pages of 100 rows. Only one task in 1,000 is completed, and a quarter of the notes of the other person are shared. */
const PAGES: Operation[] = [
  '/api/tasks?limit=100',
  '/api/tasks?limit=100&status=completed',
  '/api/notes?limit=100',
].map((path) => ({ name: `GET ${path}`, callers: 'readers', rest: { method: 'GET', path } }))

export type Growth = Awaited<ReturnType<typeof measureGrowth>>

/**
 * Measures how the number of rows, people and connections affects the service. Also measures the size of the browser
 * client.
 */
export async function measureGrowth(postgresUrl: string) {
  const calls = operations.filter(
    ({ callers, name, rest }) => rest && (callers !== 'anyone' || name === 'GET /api/counter'),
  )
  const limited = PAGES.filter(({ name }) => calls.every((call) => call.name !== name))
  const mailbox = await startMailbox()
  const measure = { postgresUrl, mailbox, operations: [...calls, ...limited] }
  const log = (text: string) => process.stdout.write(`${text}\n`)
  const rows = []
  for (const count of ROWS) {
    log(`${count} rows a person`)
    rows.push(...(await measureSize({ ...measure, size: { people: 2, rows: count } })))
  }
  const people = []
  let memory: Awaited<ReturnType<typeof measureMemory>> = []
  let plans: Awaited<ReturnType<typeof checkPlans>> = []
  for (const count of PEOPLE) {
    log(`${count} people`)
    const inspect: Parameters<typeof measureSize>[0]['inspect'] = async (server, url, cookie) => {
      memory = await measureMemory(server, CONNECTIONS)
      plans = await checkPlans(server, url, cookie, 'person-2@example.com')
    }
    const isLargest = count === PEOPLE.at(-1)
    const size = { people: count, rows: 10 }
    people.push(...(await measureSize({ ...measure, size, ...(isLargest && { inspect }) })))
  }
  log('workers')
  const workers = await measureWorkers({ ...measure, operations: calls }, WORKERS)
  return { rows, people, memory, plans, workers, bundle: await measureBundle() }
}
