import { Socket } from 'node:net'

import postgres from 'postgres'

/** In seconds. */
export const CONNECT_TIMEOUT = 5

/** Backoff after a failed connect, in milliseconds. Statements that need a connection meanwhile fail at once. */
const PAUSE = 100

/** Interval of the check for silent connections, in milliseconds. */
const SWEEP = 1000

interface Server {
  host: string
  port: number
}

/**
 * Options for postgres.js that replace how it connects: chooses the writable one of several servers, closes connections
 * that received nothing for `silence` milliseconds (TCP alone takes a quarter of an hour), and pauses after a failed connect.
 * Close idle connections before `silence` has passed: PostgreSQL sends nothing over them.
 */
export function overSockets(url: string, silence: number) {
  const { host, port, path } = postgres(url).options
  const servers = host.map((name, index) => ({ host: name, port: port[index] ?? 5432 }))
  const [only = { host: '', port: 0 }] = servers
  const names = servers.map(({ host, port }) => `${host}:${port}`).join(', ')
  let choosing: Promise<Server> | undefined
  const choose = () => (choosing ??= findWritable(url, servers).finally(() => (choosing = undefined)))
  let failed = { at: 0, error: new Error() }

  const connect = async () => {
    if (Date.now() - failed.at < PAUSE) throw failed.error
    const server = servers.length > 1 ? await choose() : only
    const socket = new Socket()
    // postgres.js listens later; an error that nobody listens to ends the process.
    socket.on('error', () => undefined)
    socket.once('close', () => {
      const error = socket.errored ?? unreachable(`Nobody answers at ${names}`)
      if (socket.bytesRead === 0) failed = { at: Date.now(), error }
    })
    giveUpSilent(socket, silence)
    // postgres.js takes the host from the socket, for TLS and for errors. `path` is a Unix socket.
    return Object.assign(socket, server).connect(path ? { path } : server)
  }
  return { host: only.host, port: only.port, backoff: () => PAUSE / 1000, socket: connect }
}

/** The first of several servers to say that it takes changes: a standby does not. */
async function findWritable(url: string, servers: readonly Server[]): Promise<Server> {
  try {
    return await Promise.any(servers.map((server) => requireWritable(url, server)))
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map(String) : [String(error)]
    throw unreachable(`None of the servers takes changes: ${reasons.join('; ')}`)
  }
}

async function requireWritable(url: string, server: Server) {
  const sql = postgres(url, { ...server, max: 1, fetch_types: false, connect_timeout: CONNECT_TIMEOUT })
  const end = () => void sql.end({ timeout: 0 })
  const late = setTimeout(end, CONNECT_TIMEOUT * 1000)
  try {
    const [row] = await sql<{ transaction_read_only: string }[]>`show transaction_read_only`
    if (row?.transaction_read_only !== 'off') throw new Error(`${server.host}:${server.port} only reads`)
    return server
  } finally {
    clearTimeout(late)
    end()
  }
}

/** An error by PostgreSQL's own code for what cannot be connected to. */
const unreachable = (message: string) => Object.assign(new Error(message), { code: '08001' })

/** Closes the socket when it has received nothing for `silence` milliseconds. */
function giveUpSilent(socket: Socket, silence: number) {
  let [read, since] = [0, Date.now()]
  const timer = setInterval(() => {
    const now = Date.now()
    if (socket.destroyed) clearInterval(timer)
    else if (socket.bytesRead !== read) [read, since] = [socket.bytesRead, now]
    else if (now - since > silence) socket.destroy()
  }, SWEEP).unref()
}
