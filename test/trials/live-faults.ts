import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'

import type { Postgres } from '../../engine/dev/testing/postgres.ts'
import type { Proxy } from './pg-proxy.ts'
import type { startPooler } from '../../engine/test/fixtures/pgbouncer.ts'
import { type Service, startService } from './service-process.ts'

// All durations are in milliseconds.
/** Downtime of PostgreSQL and PgBouncer. */
const DOWNTIME = 1500
/** Longer than the interval of the pings on the LISTEN connection, and the timeout of a ping. */
const STALL = 11_000

export interface FaultContext {
  database: Postgres
  pooler: Awaited<ReturnType<typeof startPooler>>
  /** Proxy in front of PostgreSQL, for the LISTEN connections. */
  directProxy: Proxy
  /** Proxy in front of PgBouncer. */
  pooledProxy: Proxy
  services: Service[]
  environments: Record<string, string>[]
  /** A direct connection to PostgreSQL. */
  admin: Sql
}

/** A fault. The promise resolves when the cause of the fault has ended. */
type Fault = (context: FaultContext) => Promise<void>

const restartInstance =
  (index: number): Fault =>
  async ({ services, environments }) => {
    await services[index]?.kill('SIGKILL')
    const service = await startService(environments[index])
    services[index] = service
  }

const restartDatabase =
  (signal: 'SIGQUIT' | 'SIGKILL'): Fault =>
  async ({ database }) => {
    await database.halt(signal)
    await sleep(DOWNTIME)
    await database.start()
  }

const resetAll = (proxy: Proxy) => {
  for (const connection of proxy.free()) connection.closeWithReset()
}

/** Breaks all connections of a proxy, and refuses new connections for a while. */
const cutConnections =
  (proxy: 'directProxy' | 'pooledProxy'): Fault =>
  async (context) => {
    context[proxy].refuse(DOWNTIME)
    resetAll(context[proxy])
    await sleep(DOWNTIME)
  }

/** Forwards nothing on the LISTEN connections, and then breaks these connections. */
const stallListening: Fault = async ({ directProxy }) => {
  const stalled = directProxy.free()
  for (const connection of stalled) connection.stall()
  await sleep(STALL)
  for (const connection of stalled) connection.closeWithReset()
}

const terminateBackends: Fault = async ({ admin }) => {
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'`
}

/** The faults in order. The last fault is not in the list, because the writers stop with the last fault. */
export const faults: Record<string, Fault> = {
  'instance killed': restartInstance(0),
  'LISTEN connections cut': cutConnections('directProxy'),
  'PostgreSQL stopped immediately': restartDatabase('SIGQUIT'),
  'PgBouncer restarted': ({ pooler }) => pooler.restart(DOWNTIME),
  'connections to PgBouncer cut': cutConnections('pooledProxy'),
  'LISTEN connections stalled': stallListening,
  'PostgreSQL killed': restartDatabase('SIGKILL'),
  'backends terminated': terminateBackends,
}

export const lastFault = restartInstance(1)
