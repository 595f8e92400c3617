import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import { signInAll, startLoad } from './load-generator.ts'
import type { RequestRecord } from './load-request.ts'
import { assertNothingLost, verifyLoad } from './load-verification.ts'
import * as patroni from './patroni.ts'
import { startService } from './service-process.ts'
import { type Report, trial, UNLIMITED_RATES } from './trial.ts'

/** Duration of each phase of load in milliseconds: before the failure, after the recovery, and after the repair. */
const LOAD_DURATION = 5000

interface Scenario {
  fail: (leader: patroni.Node) => unknown
  repair?: (node: patroni.Node, cluster: patroni.Cluster) => void
  /** Whether the former primary still accepts writes between the failure and the repair. */
  acceptsWrites?: true
}

const restartAgent: Scenario['repair'] = (node, { startAgent }) => {
  startAgent(node)
}

const scenarios: Record<string, Scenario> = {
  switchover: { fail: patroni.switchOver },
  'primary killed': {
    fail: (leader) => {
      patroni.signal([patroni.postmasterOf(leader)], 'SIGKILL')
    },
  },
  'node killed': {
    fail: (leader) => {
      patroni.signal(patroni.processesOf(leader), 'SIGKILL')
    },
    repair: restartAgent,
  },
  'node frozen': {
    fail: (leader) => {
      patroni.signal(patroni.processesOf(leader), 'SIGSTOP')
    },
    repair: (node) => {
      patroni.signal(patroni.processesOf(node), 'SIGCONT')
    },
  },
  'agent killed': {
    fail: ({ agent }) => agent?.kill('SIGKILL'),
    repair: restartAgent,
    acceptsWrites: true,
  },
}

const isAcknowledgedWrite = ({ kind, outcome }: RequestRecord) =>
  outcome === 'answered' && kind !== 'readCounter' && kind !== 'readTask'

/** Returns the longest time without an acknowledged write, in milliseconds. */
function longestGap(entries: readonly RequestRecord[]) {
  const times = entries.filter(isAcknowledgedWrite).map(({ endedAt }) => endedAt)
  const gaps = times
    .toSorted((one, other) => one - other)
    .map((at, index, all) => at - (all[index - 1] ?? at))
  return Math.max(...gaps)
}

/**
 * Verifies that the former primary still accepts writes, and that the service has no connections to this server.
 * Ignores backends that wait for the lost synchronous standby (SyncRep), because such a backend does not detect that
 * its client has closed the connection.
 */
async function assertDisconnected(former: patroni.Node) {
  await patroni.query(former, 'begin; create table proof (); rollback')
  const rows = await patroni.query(
    former,
    `select from pg_stat_activity where application_name = 'tallystick' and wait_event is distinct from 'SyncRep'`,
  )
  assert.equal(rows.length, 0, 'the service has connections to the former primary')
}

async function runScenario(report: Report, cluster: patroni.Cluster, scenario: string) {
  const { fail, repair, acceptsWrites } = scenarios[scenario] ?? assert.fail()
  const { nodes } = cluster
  const database = scenario.replace(' ', '_')
  const former = await patroni.waitForCluster(nodes)
  await patroni.query(former, `create database ${database} owner tallystick`)
  const service = await startService({
    ...UNLIMITED_RATES,
    DATABASE_URL: patroni.databaseUrlOf(nodes, database),
  })
  const load = startLoad([service.origin], await signInAll([service]))
  await sleep(LOAD_DURATION)

  await fail(former)
  const others = nodes.filter((node) => node !== former)
  await patroni.waitFor('another node is the leader', async () => Boolean(await patroni.findLeader(others)))
  const leaderFoundAt = Date.now()
  await patroni.waitFor('writes are acknowledged again', () =>
    Promise.resolve(
      load.entries.some((entry) => isAcknowledgedWrite(entry) && entry.endedAt > leaderFoundAt + 1000),
    ),
  )
  await sleep(LOAD_DURATION)
  if (acceptsWrites) await assertDisconnected(former)
  repair?.(former, cluster)
  const leader = await patroni.waitForCluster(nodes)
  await sleep(LOAD_DURATION)
  await load.stop()

  const figures = await verifyLoad(load.entries, patroni.databaseUrlOf([leader], database))
  report({ scenario, longestGap: longestGap(load.entries), ...figures })
  assertNothingLost(figures)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
}

await trial('failover', async (report) => {
  const cluster = await patroni.startCluster()
  try {
    await patroni.createRole(await patroni.waitForCluster(cluster.nodes))
    const selected = process.argv.slice(2)
    for (const scenario of selected.length > 0 ? selected : Object.keys(scenarios))
      await runScenario(report, cluster, scenario)
  } catch (error) {
    process.stderr.write(cluster.log())
    throw error
  }
})
