import { Socket } from 'node:net'

import postgres from 'postgres'

import { createPrimarySelector, unreachableError } from './primary.ts'

/** In seconds. */
export const CONNECT_TIMEOUT = 5

/** Backoff after a failed connect, in milliseconds. Statements that need a connection meanwhile fail at once. */
const RECONNECT_DELAY = 100

/** Interval of the check for silent connections, in milliseconds. */
const CHECK_INTERVAL = 1000

/**
 * Options for postgres.js that replace how it connects: chooses the writable one of several servers, closes connections
 * that received nothing for `silence` milliseconds (TCP alone takes a quarter of an hour), and pauses after a failed connect.
 * Close idle connections before `silence` has passed: PostgreSQL sends nothing over them.
 */
export function socketOptions(url: string, silence: number) {
  const { host, port, path } = postgres(url).options
  const servers = host.map((name, index) => ({ host: name, port: port[index] ?? 5432 }))
  const [only = { host: '', port: 0 }] = servers
  const names = servers.map(({ host, port }) => `${host}:${port}`).join(', ')
  const choice = servers.length > 1 ? createPrimarySelector(url, servers) : undefined
  let failed = { at: 0, error: new Error() }

  const connect = async () => {
    if (Date.now() - failed.at < RECONNECT_DELAY) throw failed.error
    const server = choice ? await choice.choose() : only
    const socket = new Socket()
    choice?.watch(socket, server)
    // postgres.js adds its listeners later. An error without a listener ends the process.
    socket.on('error', () => undefined)
    socket.once('close', () => {
      const error = socket.errored ?? unreachableError(`Nobody answers at ${names}`)
      if (socket.bytesRead === 0) failed = { at: Date.now(), error }
    })
    closeWhenSilent(socket, silence)
    // postgres.js takes the host from the socket, for TLS and for errors. `path` is a Unix socket.
    return Object.assign(socket, server).connect(path ? { path } : server)
  }
  return { host: only.host, port: only.port, backoff: () => RECONNECT_DELAY / 1000, socket: connect }
}

/** Closes the socket when it has received nothing for `silence` milliseconds. */
function closeWhenSilent(socket: Socket, silence: number) {
  let [read, since] = [0, Date.now()]
  const timer = setInterval(() => {
    const now = Date.now()
    if (socket.destroyed) clearInterval(timer)
    else if (socket.bytesRead !== read) [read, since] = [socket.bytesRead, now]
    else if (now - since > silence) socket.destroy()
  }, CHECK_INTERVAL).unref()
}
