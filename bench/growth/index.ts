import { operations } from '../operations.ts'
import { measureBundle } from './bundle-size.ts'
import { measureSize } from './database-size.ts'
import { measureMemory } from './memory.ts'
import { checkPlans } from './query-plans.ts'
import { measureStartUp } from './start-up.ts'

export type Growth = Awaited<ReturnType<typeof measureGrowth>>

const ROWS = [10, 1000, 100_000]
const PEOPLE = [1, 1000, 100_000]
const CONNECTIONS = [0, 100, 1000]

/**
 * Measures how the number of rows, people and connections affects the service. Also measures the start-up time and the
 * size of the browser client.
 */
export async function measureGrowth(postgresUrl: string) {
  const calls = operations.filter(({ callers, path }) => callers !== 'anyone' || path === '/api/counter')
  const log = (text: string) => process.stdout.write(`${text}\n`)
  const rows = []
  for (const count of ROWS) {
    log(`${count} rows a person`)
    rows.push(...(await measureSize(postgresUrl, { people: 2, rows: count }, calls)))
  }
  const people = []
  let memory: Awaited<ReturnType<typeof measureMemory>> = []
  let plans: Awaited<ReturnType<typeof checkPlans>> = []
  for (const count of PEOPLE) {
    log(`${count} people`)
    const isLargest = count === PEOPLE.at(-1)
    people.push(
      ...(await measureSize(postgresUrl, { people: count, rows: 10 }, calls, async (server, url, cookie) => {
        if (!isLargest) return
        memory = await measureMemory(server, CONNECTIONS)
        plans = await checkPlans(server, url, cookie, 'person-2@example.com')
      })),
    )
  }
  log('start-up')
  return { rows, people, memory, plans, startUp: await measureStartUp(3), bundle: await measureBundle() }
}
