import { works } from '../requests.ts'
import { measureBundle } from './bundle-size.ts'
import { measureMemory } from './memory.ts'
import { checkPlans } from './query-plans.ts'
import { measureSize } from './database-size.ts'
import { measureStartUp } from './start-up.ts'

export type Growth = Awaited<ReturnType<typeof measureGrowth>>

const ROWS = [10, 1000, 100_000]
const PEOPLE = [1, 1000, 100_000]
const CONNECTIONS = [0, 100, 1000]

/** How the service bears more of everything. */
export async function measureGrowth(postgresUrl: string) {
  const calls = works.filter(({ by, path }) => by !== 'anyone' || path === '/api/counter')
  const tell = (what: string) => process.stdout.write(`${what}\n`)
  const rows = []
  for (const each of ROWS) {
    tell(`${each} rows a person`)
    rows.push(...(await measureSize(postgresUrl, { people: 2, rows: each }, calls)))
  }
  const people = []
  let memory: Awaited<ReturnType<typeof measureMemory>> = []
  let plans: Awaited<ReturnType<typeof checkPlans>> = []
  for (const many of PEOPLE) {
    tell(`${many} people`)
    const last = many === PEOPLE.at(-1)
    people.push(
      ...(await measureSize(postgresUrl, { people: many, rows: 10 }, calls, async (server, url, cookie) => {
        if (!last) return
        memory = await measureMemory(server, CONNECTIONS)
        plans = await checkPlans(server, url, cookie, 'person-2@example.com')
      })),
    )
  }
  tell('start-up')
  return { rows, people, memory, plans, startUp: await measureStartUp(3), bundle: await measureBundle() }
}
