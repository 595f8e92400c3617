import { Socket } from 'node:net'

import { type DatabaseUrl, socketAddress } from './database-url.ts'
import { createPrimarySelector, unreachableError } from './primary.ts'

/** Timeout for connecting, in seconds. */
export const CONNECT_TIMEOUT = 5

/**
 * Backoff after a failed connection attempt, in milliseconds. During the backoff, statements that need a new
 * connection fail immediately.
 */
const RECONNECT_DELAY = 100

/** Interval at which each socket is checked for received data, in milliseconds. */
const SILENCE_CHECK_INTERVAL = 1000

/**
 * Returns the options of postgres.js for the servers of a URL. The options replace the sockets of postgres.js. A socket
 * has these states:
 *
 * - Backoff: for RECONNECT_DELAY after a failed connection attempt, new sockets fail with the same error, without
 *   another attempt.
 * - Connecting: with several servers, the socket connects to the primary (see primary.ts).
 * - Open: a socket that receives no data for `silence` milliseconds is closed. PostgreSQL sends no data over idle
 *   connections, so the driver must close idle connections earlier.
 *
 * Advantage: the service detects a dead server within seconds (TCP needs about 15 minutes). Disadvantage: a statement
 * fails if PostgreSQL sends no data for `silence` milliseconds.
 *
 * The driver's own sockets suffice when postgres.js closes silent connections, and limits how often it connects.
 */
export function connectionOptions(database: DatabaseUrl, silence: number) {
  const { servers, driver } = database
  const [first] = servers
  const names = servers.map(({ host, port }) => `${host}:${port}`).join(', ')
  const selector = servers.length > 1 ? createPrimarySelector(database) : undefined
  let lastFailure = { at: 0, error: new Error() }

  const connect = async () => {
    if (Date.now() - lastFailure.at < RECONNECT_DELAY) throw lastFailure.error
    const server = selector ? await selector.choose() : first
    const socket = new Socket()
    selector?.track(socket, server)
    // postgres.js adds its listeners later. Until then, an error of a socket without an `error` listener would end the process.
    socket.on('error', () => undefined)
    socket.once('close', () => {
      const error = socket.errored ?? unreachableError(`No server answers at ${names}`)
      // A socket that has received data was connected, and needs no backoff.
      if (socket.bytesRead === 0) lastFailure = { at: Date.now(), error }
    })
    closeWhenSilent(socket, silence)
    // postgres.js reads the server's host from properties of the socket (for TLS and error messages), so the server's
    // fields are copied to the socket.
    return Object.assign(socket, server).connect(socketAddress(server))
  }
  return {
    ...driver,
    host: first.host,
    port: first.port,
    backoff: () => RECONNECT_DELAY / 1000,
    socket: connect,
  }
}

/** Closes the socket after `silence` milliseconds without received data. */
function closeWhenSilent(socket: Socket, silence: number) {
  let [bytesRead, changedAt] = [0, Date.now()]
  const timer = setInterval(() => {
    const now = Date.now()
    if (socket.destroyed) clearInterval(timer)
    else if (socket.bytesRead !== bytesRead) [bytesRead, changedAt] = [socket.bytesRead, now]
    else if (now - changedAt > silence) socket.destroy()
  }, SILENCE_CHECK_INTERVAL).unref()
}
