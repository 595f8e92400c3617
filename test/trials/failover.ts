import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Entry } from './load-request.ts'
import { assertKept, settle } from './load-verification.ts'
import { signInAll, startLoad } from './load-generator.ts'
import * as patroni from './patroni.ts'
import { startService } from './service-process.ts'
import { type Tell, trial, UNLIMITED } from './trial.ts'

/** How long the load runs before a failure, after writes are acknowledged again, and after the repair; in milliseconds. */
const PEACE = 5000

interface Scenario {
  strike: (leader: patroni.Node) => unknown
  repair?: (node: patroni.Node, cluster: patroni.Cluster) => void
  /** The former primary goes on accepting writes until the repair. */
  isSplit?: true
}

const startAgain: Scenario['repair'] = (node, { startAgent }) => {
  startAgent(node)
}

const scenarios: Record<string, Scenario> = {
  switchover: { strike: patroni.switchOver },
  'primary killed': {
    strike: (leader) => {
      patroni.signal([patroni.postmasterOf(leader)], 'SIGKILL')
    },
  },
  'node killed': {
    strike: (leader) => {
      patroni.signal(patroni.processesOf(leader), 'SIGKILL')
    },
    repair: startAgain,
  },
  'node frozen': {
    strike: (leader) => {
      patroni.signal(patroni.processesOf(leader), 'SIGSTOP')
    },
    repair: (node) => {
      patroni.signal(patroni.processesOf(node), 'SIGCONT')
    },
  },
  'agent killed': {
    strike: ({ agent }) => agent?.kill('SIGKILL'),
    repair: startAgain,
    isSplit: true,
  },
}

const isAcknowledgedWrite = ({ work, outcome }: Entry) =>
  outcome === 'answered' && work !== 'count' && work !== 'own'

/** The longest time without an acknowledged write, in milliseconds. */
function longestGap(entries: readonly Entry[]) {
  const times = entries.filter(isAcknowledgedWrite).map(({ at }) => at)
  const gaps = times
    .toSorted((one, other) => one - other)
    .map((at, index, all) => at - (all[index - 1] ?? at))
  return Math.max(...gaps)
}

/**
 * A former primary still accepts writes, and the service has left it. Backends stay that wait for the lost standby: they
 * do not see that their connection is closed.
 */
async function assertLeft(former: patroni.Node) {
  await patroni.query(former, 'begin; create table proof (); rollback')
  const rows = await patroni.query(
    former,
    `select from pg_stat_activity where application_name = 'tallystick' and wait_event is distinct from 'SyncRep'`,
  )
  assert.equal(rows.length, 0, 'the service has connections to the former primary')
}

async function endure(tell: Tell, cluster: patroni.Cluster, scenario: string) {
  const { strike, repair, isSplit } = scenarios[scenario] ?? assert.fail()
  const { nodes } = cluster
  const database = scenario.replace(' ', '_')
  const former = await patroni.becomesWhole(nodes)
  await patroni.query(former, `create database ${database} owner tallystick`)
  const service = await startService({ ...UNLIMITED, DATABASE_URL: patroni.addressOf(nodes, database) })
  const load = startLoad([service.origin], await signInAll([service]))
  await sleep(PEACE)

  await strike(former)
  const others = nodes.filter((node) => node !== former)
  await patroni.until('another node leads', async () => Boolean(await patroni.findLeader(others)))
  const led = Date.now()
  await patroni.until('writes are acknowledged again', () =>
    Promise.resolve(load.entries.some((entry) => isAcknowledgedWrite(entry) && entry.at > led + 1000)),
  )
  await sleep(PEACE)
  if (isSplit) await assertLeft(former)
  repair?.(former, cluster)
  const leader = await patroni.becomesWhole(nodes)
  await sleep(PEACE)
  await load.stop()

  const figures = await settle(load.entries, patroni.addressOf([leader], database))
  tell({ scenario, withoutWrite: longestGap(load.entries), ...figures })
  assertKept(figures)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
}

await trial('failover', async (tell) => {
  const cluster = await patroni.startCluster()
  try {
    await patroni.createRole(await patroni.becomesWhole(cluster.nodes))
    const chosen = process.argv.slice(2)
    for (const scenario of chosen.length > 0 ? chosen : Object.keys(scenarios))
      await endure(tell, cluster, scenario)
  } catch (error) {
    process.stderr.write(cluster.log())
    throw error
  }
})
