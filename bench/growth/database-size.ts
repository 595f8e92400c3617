import { median } from '../measure.ts'
import { makeDatabase } from '../postgres.ts'
import { cookiesOf, seed, type World } from '../seed.ts'
import { type Server, startOurs } from '../servers.ts'
import { headersOf, requestOf, type Work } from '../requests.ts'

/** A call against a database of some size, one at a time. */
export interface Size {
  people: number
  rows: number
  work: string
  /** Milliseconds, of half of the calls at most. */
  took: number
  /** Server CPU of a call, in ms. */
  cpu: number
  bytes: number
}

/** Calls of each kind, at most; fewer where they take long. */
const CALLS = 200
const PATIENCE = 2000

/** Makes a database of a size, serves it, and measures the calls; then it may be looked into. */
export async function measureSize(
  postgresUrl: string,
  world: World,
  works: Work[],
  look?: (server: Server, databaseUrl: string, cookie: string) => Promise<void>,
): Promise<Size[]> {
  const database = await makeDatabase(postgresUrl, 'tallystick_growth')
  try {
    await seed(database.url, world)
    const server = await startOurs({ DATABASE_URL: database.url })
    const cookies = await cookiesOf(database.url, 1, Math.min(world.people, 16))
    const { people, rows } = world
    const sizes: Size[] = []
    for (const work of works) {
      await callAll(server, work, cookies, 1)
      sizes.push({ people, rows, work: work.name, ...(await callAll(server, work, cookies, 3)) })
    }
    await look?.(server, database.url, cookies[0] ?? '')
    await server.stop()
    return sizes
  } finally {
    await database.drop()
  }
}

async function callAll(server: Server, work: Work, cookies: string[], least: number) {
  const request = requestOf(work, false)
  const times: number[] = []
  let bytes = 0
  const before = await server.usage()
  const deadline = performance.now() + PATIENCE
  while (times.length < CALLS && (times.length < least || performance.now() < deadline)) {
    const from = performance.now()
    const response = await fetch(server.origin + request.path, {
      method: request.method,
      body: request.body,
      headers: { ...headersOf(work, request), cookie: cookies[times.length % cookies.length] ?? '' },
    })
    bytes = (await response.arrayBuffer()).byteLength
    if (!response.ok) throw new Error(`${work.name} was answered with ${response.status}`)
    times.push(performance.now() - from)
  }
  const after = await server.usage()
  return { took: median(times), cpu: (after.cpu - before.cpu) / times.length / 1000, bytes }
}
