import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import postgres from 'postgres'
import { z } from 'zod'

import { freePort } from '../../engine/dev/testing/postgres.ts'
import { findPrograms, findUnprivilegedUser } from './patroni-programs.ts'
import { createTemporaryFolder } from './service-process.ts'

const PASSWORD = 'of-the-trial'
const NAMES = ['a', 'b', 'c']
/** Time limit for the cluster to reach an expected state, in milliseconds. */
const SETTLE_LIMIT = 120_000

const Member = z.object({
  name: z.string(),
  role: z.string(),
  state: z.string(),
  timeline: z.int().optional(),
})
const ClusterState = z.object({ members: z.array(Member) })

export type Node = Awaited<ReturnType<typeof describeNode>>
export type Cluster = Awaited<ReturnType<typeof startCluster>>

/**
 * Starts three PostgreSQL nodes under Patroni with deploy/patroni.yml, and one etcd. All of these processes stop when
 * this process exits.
 */
export async function startCluster() {
  const { bin, ...programs } = findPrograms()
  const user = findUnprivilegedUser()
  const folder = await createTemporaryFolder()
  chownSync(folder, user.uid, user.gid)
  const run = (program: string, args: string[], env: Record<string, string> = {}) => {
    const output = openSync(join(folder, 'log'), 'a')
    return spawn(program, args, { ...user, env, cwd: folder, stdio: ['ignore', output, output] })
  }
  const etcd = await startEtcd(programs.etcd, folder, run)
  const nodes = await Promise.all(NAMES.map((name) => describeNode(name, folder, bin, etcd.address)))
  const startAgent = (node: Node) => {
    node.agent = run(programs.patroni, [join(process.cwd(), 'deploy/patroni.yml')], node.env)
  }
  // Prepended, because the nodes must stop before another exit listener removes their folder.
  process.prependOnceListener('exit', () => {
    for (const node of nodes) stop(node)
    etcd.child.kill('SIGKILL')
  })
  nodes.forEach(startAgent)
  return { nodes, startAgent, log: () => readFileSync(join(folder, 'log'), 'utf8') }
}

type Run = (program: string, args: string[], env?: Record<string, string>) => ChildProcess

async function startEtcd(program: string, folder: string, run: Run) {
  const address = `127.0.0.1:${await freePort()}`
  const peer = `http://127.0.0.1:${await freePort()}`
  const options = {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': `http://${address}`,
    'advertise-client-urls': `http://${address}`,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
  }
  const child = run(
    program,
    Object.entries(options).map(([name, value]) => `--${name}=${value}`),
  )
  await waitFor('etcd is healthy', async () => (await fetch(`http://${address}/health`)).ok)
  return { child, address }
}

async function describeNode(name: string, folder: string, bin: string, etcd: string) {
  const address = `127.0.0.1:${await freePort()}`
  const api = `127.0.0.1:${await freePort()}`
  const dataDir = join(folder, name)
  return {
    name,
    api: `http://${api}`,
    dataDir,
    agent: undefined as ChildProcess | undefined,
    address,
    env: {
      PATH: process.env.PATH ?? '',
      PATRONI_NAME: name,
      PATRONI_ETCD3_HOSTS: etcd,
      PATRONI_RESTAPI_LISTEN: api,
      PATRONI_RESTAPI_CONNECT_ADDRESS: api,
      PATRONI_POSTGRESQL_LISTEN: address,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: address,
      PATRONI_POSTGRESQL_DATA_DIR: dataDir,
      PATRONI_POSTGRESQL_BIN_DIR: bin,
      PATRONI_POSTGRESQL_PGPASS: `${dataDir}.pgpass`,
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: PASSWORD,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: PASSWORD,
    },
  }
}

/** Finds the PostgreSQL processes of a node by their working directory, which is the data directory of the node. */
const postgresPidsOf = ({ dataDir }: Node) =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => workingDirectoryOf(pid) === dataDir)

/** Returns the process ids of the Patroni agent and of PostgreSQL. */
export const processesOf = (node: Node) => [
  ...(node.agent?.pid ? [node.agent.pid] : []),
  ...postgresPidsOf(node),
]

function workingDirectoryOf(pid: number) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

export const postmasterOf = ({ dataDir }: Node) =>
  parseInt(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8'))

export function signal(pids: readonly number[], name: NodeJS.Signals) {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch {
      // Ignores the error: the process has already ended.
    }
}

/** Stops a running or suspended node. Sends SIGQUIT before SIGKILL, so that PostgreSQL frees its shared memory. */
function stop(node: Node) {
  node.agent?.kill('SIGKILL')
  signal(postgresPidsOf(node), 'SIGCONT')
  const sleepCell = new Int32Array(new SharedArrayBuffer(4))
  for (const name of ['SIGQUIT', 'SIGKILL'] as const)
    for (let wait = 0; wait < 50 && postgresPidsOf(node).length > 0; wait++) {
      if (wait === 0) signal(postgresPidsOf(node), name)
      Atomics.wait(sleepCell, 0, 0, 100)
    }
}

/** Returns a connection URL that lists the addresses of all given nodes, for the role `tallystick`. */
export const databaseUrlOf = (nodes: readonly Node[], database: string) =>
  `postgres://tallystick:${PASSWORD}@${nodes.map(({ address }) => address).join(',')}/${database}`

export const createRole = (leader: Node) =>
  query(leader, `create role tallystick login password '${PASSWORD}'`)

/** Makes Patroni choose a standby as the new leader. */
export async function switchOver({ api, name }: Node) {
  const body = JSON.stringify({ leader: name })
  const response = await fetch(`${api}/switchover`, { method: 'POST', body })
  if (!response.ok) throw new Error(await response.text())
}

/** Waits until a condition is true. If `condition` rejects, the condition counts as false. */
export async function waitFor(description: string, condition: () => Promise<boolean>) {
  const started = Date.now()
  while (!(await condition().catch(() => false))) {
    if (Date.now() - started > SETTLE_LIMIT)
      throw new Error(`No success after ${SETTLE_LIMIT} ms: ${description}`)
    await sleep(100)
  }
}

const requestAgent = (node: Node, path: string) =>
  fetch(node.api + path, { signal: AbortSignal.timeout(1000) })

/** Finds the leader: the node with the agent that holds the leader lock. */
export async function findLeader(nodes: readonly Node[]) {
  const responses = await Promise.allSettled(nodes.map((node) => requestAgent(node, '/primary')))
  return nodes.find((_, index) => {
    const response = responses[index]
    return response?.status === 'fulfilled' && response.value.ok
  })
}

/**
 * Waits until one node is the leader and all other nodes are its standbys, one of them synchronous. Returns the leader.
 */
export async function waitForCluster(nodes: readonly Node[]) {
  let leader: Node | undefined
  await waitFor('all nodes replicate from one leader', async () => {
    leader = await findLeader(nodes)
    if (!leader) return false
    const { members } = ClusterState.parse(await (await requestAgent(leader, '/cluster')).json())
    const hasAllMembers =
      members.some(({ role }) => role === 'sync_standby') && members.length === nodes.length
    return (
      hasAllMembers &&
      new Set(members.map(({ timeline }) => timeline)).size === 1 &&
      (await isReplicated(leader, nodes))
    )
  })
  if (!leader) throw new Error('The cluster has no leader')
  return leader
}

async function isReplicated(leader: Node, nodes: readonly Node[]) {
  const states = await query(leader, `select sync_state from pg_stat_replication where state = 'streaming'`)
  return states.length === nodes.length - 1 && states.some(({ sync_state }) => sync_state === 'sync')
}

/** Executes a statement on one node as superuser. */
export async function query(node: Node, text: string) {
  const url = `postgres://postgres:${PASSWORD}@${node.address}/postgres`
  const sql = postgres(url, { max: 1, connect_timeout: 1, onnotice: () => undefined })
  try {
    return await sql.unsafe<Record<string, unknown>[]>(text)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
