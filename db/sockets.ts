import { Socket } from 'node:net'
import { Duplex } from 'node:stream'

import postgres from 'postgres'

/** In seconds. */
export const CONNECT_TIMEOUT = 5

/** How long none is tried after a server could not be reached, in milliseconds: whoever waits is told at once. */
const PAUSE = 100

/** How often it is looked for connections that have fallen silent, in milliseconds. */
const SWEEP = 1000

interface Server {
  host: string
  port: number
}

/**
 * How postgres.js reaches a server, as options for it. By itself it tries for ever where none of several servers can be
 * had, and waits as long as TCP does, a quarter of an hour, for one that has gone without a word. Here a connection over
 * which nothing has come for `silence` milliseconds is given up, so that an idle one must be closed before.
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
    try {
      if (Date.now() - failed.at < PAUSE) throw failed.error
      const server = servers.length > 1 ? await choose() : only
      const socket = new QuietSocket()
      let isStuck = false
      socket.once('close', () => {
        const { bytesRead, failure = unreachable(`Nobody answers at ${names}`) } = socket
        if (bytesRead === 0 && !isStuck) failed = { at: Date.now(), error: failure }
      })
      onceAsked(() => {
        isStuck = socket.bytesWritten === 0 && !socket.destroyed
        if (isStuck) socket.destroy()
      })
      giveUpSilent(socket, silence)
      // What TLS and errors know the server by. One on the same machine may be reached by a file.
      return Object.assign(socket, server).connect(path ? { path } : server)
    } catch (error) {
      return broken(error)
    }
  }
  return { host: only.host, port: only.port, backoff: () => PAUSE / 1000, socket: connect }
}

/** Closes without an error: what is asked between a socket's error and its close, postgres.js never answers. */
class QuietSocket extends Socket {
  failure: Error | undefined

  override destroy(error?: Error) {
    this.failure ??= error
    return super.destroy()
  }
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

/**
 * Once postgres.js has greeted the server. Where it has not, something that it had to send as a connection closed is left
 * over, and it waits for more to send with it: closed again and again, it comes to send that, is refused, and begins anew.
 */
const onceAsked = (go: () => void) => setImmediate(() => setImmediate(go))

/** In place of a socket that cannot be had: without one postgres.js would never use a connection again. */
function broken(error: unknown) {
  const socket = new Duplex({
    read: () => undefined,
    write(_, __, done) {
      done()
    },
  })
  onceAsked(() => socket.destroy(error instanceof Error ? error : undefined))
  return socket
}

function giveUpSilent(socket: Socket, silence: number) {
  let [read, since] = [0, Date.now()]
  const timer = setInterval(() => {
    const now = Date.now()
    if (socket.destroyed) clearInterval(timer)
    else if (socket.bytesRead !== read) [read, since] = [socket.bytesRead, now]
    else if (now - since > silence) socket.destroy()
  }, SWEEP).unref()
}
