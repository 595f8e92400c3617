import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import postgres from 'postgres'

// All in milliseconds.
/** Limit for the answer of one server. */
const ANSWER_TIMEOUT = 3000
/** How long slower servers may still answer after the first writable server. */
const GRACE_PERIOD = 500
/** Pause between two checks in the background. */
const CHECK_INTERVAL = 3000
/** Limit for closing the connection of a check. */
const CLOSE_TIMEOUT = 1000

/** The first eight digits of a WAL file's name are the timeline. The control file may still have the former one. */
const PRIMARY_QUERY = `
  select system_identifier::text as system,
    case when not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off'
    then pg_walfile_name(pg_current_wal_lsn()) end as wal_file
  from pg_control_system()`

export interface Server {
  host: string
  port: number
}

/** A server that accepts writes. */
interface Writable {
  server: Server
  /** The cluster's identifier, the same for a primary and its standbys. */
  system: string
  timeline: number
}

/**
 * Chooses the primary among several servers: the writable server with the highest timeline. Each promotion starts a
 * higher timeline, so a former primary that still accepts writes is recognised. While connections are open, a check in
 * the background closes those to a former primary; their statements fail as an outage.
 */
export function createPrimarySelector(url: string, servers: readonly Server[]) {
  const connections = new Map<Socket, Server>()
  /** The highest timeline of each cluster so far: a server behind it is a former primary, even where no other answers. */
  const timelines = new Map<string, number>()
  let primary: Server | undefined
  let check: Promise<Server> | undefined
  let timer: NodeJS.Timeout | undefined

  const runCheck = () => (check ??= findPrimary().finally(() => (check = undefined)))

  async function findPrimary() {
    const { server, system, timeline } = await findHighest(url, servers)
    const highest = timelines.get(system) ?? 0
    if (timeline < highest)
      throw unreachableError(`${nameOf(server)} is on timeline ${timeline}, but ${highest} has begun elsewhere`)
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
    if (connections.size > 0) timer = setTimeout(() => void checkAgain(), CHECK_INTERVAL).unref()
  }

  return {
    /** The primary of the last check, unless a connection to it has ended since; else of a new check. */
    choose: async () => primary ?? (await runCheck()),
    /** Has the connection closed when its server is no longer the primary. */
    watch: (socket: Socket, server: Server) => {
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

/** The writable server with the highest timeline; of equals the one named first, so that all processes choose alike. */
async function findHighest(url: string, servers: readonly Server[]): Promise<Writable> {
  const isOver = new AbortController()
  const writable: Writable[] = []
  const answers = servers.map(async (server) => {
    writable.push(await requireWritable(url, server, isOver.signal))
  })
  try {
    await Promise.any(answers)
    await Promise.race([Promise.allSettled(answers), sleep(GRACE_PERIOD, undefined, { ref: false })])
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map(String) : [String(error)]
    throw unreachableError(`None of the servers accepts writes: ${reasons.join('; ')}`)
  } finally {
    isOver.abort()
  }
  const place = ({ server }: Writable) => servers.indexOf(server)
  return writable.reduce((best, each) => {
    const ahead = each.timeline - best.timeline || place(best) - place(each)
    return ahead > 0 ? each : best
  })
}

async function requireWritable(url: string, server: Server, signal: AbortSignal): Promise<Writable> {
  // TLS takes the server's name from the socket.
  const socket = Object.assign(new Socket(), server)
  let failure = 'closed the connection'
  const giveUp = () => {
    failure = 'did not answer in time'
    // Without an error: over TLS the driver does not listen for errors of this socket.
    socket.destroy()
  }
  const options = {
    ...server,
    max: 1,
    fetch_types: false,
    onnotice: () => undefined,
    connection: { application_name: 'tallystick check' },
    socket: () => {
      // The driver connects again after a connection that ended before its first answer.
      if (socket.destroyed) throw unreachableError(`${nameOf(server)} ${failure}`)
      return socket.connect(server)
    },
  }
  const sql = postgres(url, options)
  const limit = setTimeout(giveUp, ANSWER_TIMEOUT)
  signal.addEventListener('abort', giveUp)
  try {
    const [row] = await sql.unsafe<{ system: string; wal_file: string | null }[]>(PRIMARY_QUERY)
    if (!row?.wal_file) throw new Error(`${nameOf(server)} only reads`)
    return { server, system: row.system, timeline: parseInt(row.wal_file.slice(0, 8), 16) }
  } finally {
    clearTimeout(limit)
    signal.removeEventListener('abort', giveUp)
    // A frozen server never closes its side. Over TLS the driver must not end a connection whose socket is destroyed.
    if (!socket.destroyed)
      void Promise.allSettled([sql.end({ timeout: CLOSE_TIMEOUT / 1000 })]).then(() => socket.destroy())
  }
}

const nameOf = ({ host, port }: Server) => `${host}:${port}`

/** An error with PostgreSQL's own code for a server that cannot be connected to. */
export const unreachableError = (message: string) => Object.assign(new Error(message), { code: '08001' })
