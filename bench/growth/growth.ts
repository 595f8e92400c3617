import { operations } from '../operations.ts'
import { startMailbox } from '../sign-in.ts'
import { measureBundle } from './bundle-size.ts'
import { measureSize } from './database-size.ts'
import { measureMemory } from './memory.ts'
import { checkPlans } from './query-plans.ts'

const ROWS = [10, 1000, 100_000]
const PEOPLE = [1, 1000, 100_000]
const CONNECTIONS = [0, 100, 1000]

export type Growth = Awaited<ReturnType<typeof measureGrowth>>

/**
 * Measures how the number of rows, people and connections affects the service. Also measures the size of the browser
 * client.
 */
export async function measureGrowth(postgresUrl: string) {
  const calls = operations.filter(
    ({ callers, name, rest }) => rest && (callers !== 'anyone' || name === 'GET /api/counter'),
  )
  const mailbox = await startMailbox()
  const measure = { postgresUrl, mailbox, operations: calls }
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
  return { rows, people, memory, plans, bundle: await measureBundle() }
}
