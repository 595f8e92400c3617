import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import postgres from 'postgres'

import { type DatabaseUrl, type Server, socketAddress } from './database-url.ts'

/** Timeout for one server's answer to a check, in milliseconds. */
const CHECK_TIMEOUT = 3000
/** Time to wait for other servers after the first writable server has answered, in milliseconds. */
const GRACE_PERIOD = 500
/** Time between two background checks, in milliseconds. */
const PRIMARY_CHECK_INTERVAL = 3000
/** Timeout for closing the connection of a check, in milliseconds. */
const CLOSE_TIMEOUT = 1000

/**
 * Selects the identifier of the cluster, and the name of the current WAL file. If the server is read-only, the name
 * is null. The first eight digits of the name are the timeline. The timeline in the control file is not used, because
 * it may still be the previous timeline after a promotion.
 */
const PRIMARY_QUERY = `
  select system_identifier::text as system,
    case when not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off'
    then pg_walfile_name(pg_current_wal_lsn()) end as wal_file
  from pg_control_system()`

/** A server that accepts writes. */
interface WritableServer {
  server: Server
  /** The cluster's identifier, the same for a primary and its standbys. */
  system: string
  timeline: number
}

/**
 * Selects the primary of several servers: the writable server with the highest timeline. Each promotion starts a higher timeline,
 * so a former primary that still accepts writes has a lower timeline. While connections are open, a background check closes
 * connections to a former primary. Statements on these connections then fail with an error that `isOutage` recognizes.
 *
 * `target_session_attrs=read-write` of the driver suffices when postgres.js recognizes a standby of PostgreSQL 14 or
 * later, and a former primary that still accepts writes.
 */
export function createPrimarySelector(database: DatabaseUrl) {
  const connections = new Map<Socket, Server>()
  /**
   * The highest known timeline of each cluster. A server with a lower timeline is a former primary. This map
   * identifies a former primary even if no other server answers.
   */
  const timelines = new Map<string, number>()
  let primary: Server | undefined
  let check: Promise<Server> | undefined
  let timer: NodeJS.Timeout | undefined

  const runCheck = () => (check ??= findPrimary().finally(() => (check = undefined)))

  async function findPrimary() {
    const { server, system, timeline } = await findHighestTimeline(database)
    const highest = timelines.get(system) ?? 0
    if (timeline < highest)
      throw unreachableError(
        `${nameOf(server)} is a former primary: its timeline is ${timeline}, the current one ${highest}`,
      )
    timelines.set(system, timeline)
    primary = server
    for (const [socket, other] of connections) if (other !== server) socket.destroy()
    return server
  }

  async function checkAgain() {
    await runCheck().catch(() => undefined)
    schedule()
  }

  function schedule() {
    clearTimeout(timer)
    if (connections.size > 0) timer = setTimeout(() => void checkAgain(), PRIMARY_CHECK_INTERVAL).unref()
  }

  return {
    /** Returns the current primary. Runs a check if no primary is known. */
    choose: async () => primary ?? (await runCheck()),
    /**
     * Registers a socket for a connection to `server`. If a check finds another primary, the check closes the socket.
     * If the socket closes while `server` is the known primary, the selector forgets the primary, so that the next
     * `choose` runs a check.
     */
    track: (socket: Socket, server: Server) => {
      connections.set(socket, server)
      if (connections.size === 1) schedule()
      socket.once('close', () => {
        connections.delete(socket)
        if (connections.size === 0) clearTimeout(timer)
        if (primary === server) primary = undefined
      })
    },
  }
}

/**
 * Finds the writable server with the highest timeline. If several servers have this timeline, returns the first of
 * them in `servers`, so that all processes select the same server.
 */
async function findHighestTimeline(database: DatabaseUrl): Promise<WritableServer> {
  const { servers } = database
  const finished = new AbortController()
  const writable: WritableServer[] = []
  const answers = servers.map(async (server) => {
    writable.push(await requireWritable(database, server, finished.signal))
  })
  try {
    await Promise.any(answers)
    await Promise.race([Promise.allSettled(answers), sleep(GRACE_PERIOD, undefined, { ref: false })])
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map(String) : [String(error)]
    throw unreachableError(`None of the servers accepts writes: ${reasons.join('; ')}`)
  } finally {
    finished.abort()
  }
  const rank = ({ server }: WritableServer) => servers.indexOf(server)
  return writable.reduce((best, other) => {
    const order = other.timeline - best.timeline || rank(best) - rank(other)
    return order > 0 ? other : best
  })
}

/** Runs PRIMARY_QUERY on one server. Throws if the server is read-only, or does not answer before `signal` aborts. */
async function requireWritable(
  { driver, startup }: DatabaseUrl,
  server: Server,
  signal: AbortSignal,
): Promise<WritableServer> {
  const { socket, connect, giveUp } = createCheckSocket(server)
  const options = {
    ...driver,
    host: server.host,
    port: server.port,
    max: 1,
    fetch_types: false,
    onnotice: () => undefined,
    connection: { ...startup, application_name: 'tallystick check' },
    socket: connect,
  }
  const sql = postgres(options)
  const timer = setTimeout(giveUp, CHECK_TIMEOUT)
  signal.addEventListener('abort', giveUp)
  try {
    const [row] = await sql.unsafe<{ system: string; wal_file: string | null }[]>(PRIMARY_QUERY)
    if (!row?.wal_file) throw new Error(`${nameOf(server)} is read-only`)
    return { server, system: row.system, timeline: timelineOf(row.wal_file) }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    // `end` has a timeout, because a server that hangs never closes its side of the connection. Over TLS, `end` must
    // not be called after the socket is destroyed.
    if (!socket.destroyed)
      void Promise.allSettled([sql.end({ timeout: CLOSE_TIMEOUT / 1000 })]).then(() => socket.destroy())
  }
}

/** Creates the socket for the connection of one check. */
function createCheckSocket(server: Server) {
  // postgres.js reads the server's host from properties of the socket for TLS, so the server's fields are copied to the socket.
  const socket = Object.assign(new Socket(), server)
  let failure = 'closed the connection'
  return {
    socket,
    /** Connects the socket. postgres.js calls this function again if the connection ends before its first answer. */
    connect: () => {
      if (socket.destroyed) throw unreachableError(`${nameOf(server)} ${failure}`)
      return socket.connect(socketAddress(server))
    },
    giveUp: () => {
      failure = 'did not answer in time'
      // Calls `destroy` without an error, because over TLS postgres.js has no error listener on this socket.
      socket.destroy()
    },
  }
}

const timelineOf = (walFile: string) => parseInt(walFile.slice(0, 8), 16)

const nameOf = ({ host, port }: Server) => `${host}:${port}`

/** Creates an error with the SQLSTATE of a failed connection attempt. */
export const unreachableError = (message: string) => Object.assign(new Error(message), { code: '08001' })
