import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import type { PGlite } from '@electric-sql/pglite'
import postgres from 'postgres'

import type { DatabaseUrl } from './database-url.ts'
import { CONNECT_TIMEOUT, connectionOptions } from './pg-socket.ts'

/** The PostgreSQL channel. The function in engine/db/migrations/0002_payloads.sql uses the same name. */
const CHANNEL = 'tallystick'

/** Interval of the pings that verify the connection, and the timeout of a ping, in milliseconds. */
const PING_INTERVAL = 5000
/** Time between two attempts to connect, in milliseconds. */
const RETRY_DELAY = 500

interface Subscriber {
  /** Called for each payload. Payloads have the format `<sender> <key> <key> …`. */
  receive: (payload: string) => void
  /** Called when notifications arrive from now on. Earlier notifications may be lost. */
  connected: () => void
  /** Called when notifications may be lost from now on. */
  disconnected: (error: unknown) => void
}

/** Notifications between all processes that use the same database. */
export interface Notifications {
  notify: (payload: string) => Promise<unknown>
  /** Starts receiving. Returns the function that stops receiving. */
  listen: (subscriber: Subscriber) => () => Promise<void>
}

/**
 * LISTEN and NOTIFY of a PostgreSQL server. `direct` is the server itself, because poolers do not support LISTEN.
 *
 * @internal The declarations of the package omit this function, because the bundle contains the driver, but not its types.
 */
export function createServerNotifications(direct: DatabaseUrl, sender: postgres.Sql): Notifications {
  return {
    notify: (payload) => sender`select pg_notify(${CHANNEL}, ${payload})`,
    listen(subscriber) {
      const stopping = new AbortController()
      const run = async () => {
        while (!stopping.signal.aborted) {
          await listenUntilLost(direct, subscriber, stopping.signal).catch((error: unknown) => {
            if (!stopping.signal.aborted) subscriber.disconnected(error)
          })
          await sleep(RETRY_DELAY, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
        }
      }
      const stopped = run()
      return () => {
        stopping.abort()
        return stopped
      }
    },
  }
}

/**
 * Listens until the connection is lost, and then throws. Sends a ping to itself at the start and every PING_INTERVAL. A
 * missing ping reveals a lost connection, and a pooler, which accepts LISTEN but loses notifications.
 */
async function listenUntilLost(direct: DatabaseUrl, { receive, connected }: Subscriber, signal: AbortSignal) {
  const ping = randomUUID()
  let receivePing: () => void = () => undefined
  let lose: (error: Error) => void = () => undefined
  const lost = new Promise<never>((_, reject) => (lose = reject))
  // Node.js would end the process if the connection were lost while no code awaits `lost`.
  lost.catch(() => undefined)
  const options = {
    ...connectionOptions(direct, 3 * PING_INTERVAL),
    max: 1,
    // By default, the driver closes a connection after 30 to 60 minutes.
    max_lifetime: null,
    connect_timeout: CONNECT_TIMEOUT,
    connection: { ...direct.startup, application_name: 'tallystick-live' },
    onnotice: () => undefined,
    onnotify: (_: string, payload: string) => {
      if (payload === ping) receivePing()
      else receive(payload)
    },
    onclose: () => {
      lose(new Error('The connection for notifications was closed'))
    },
  }
  const client = postgres(options)
  try {
    await Promise.race([client.unsafe(`listen ${CHANNEL}`), lost])
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const received = new Promise<void>((resolve) => (receivePing = resolve))
      const timeout = sleep(PING_INTERVAL, NO_PING, { ref: false })
      await Promise.race([client`select pg_notify(${CHANNEL}, ${ping})`, timeout, lost])
      if ((await Promise.race([received, timeout, lost])) === NO_PING)
        throw new Error(
          'Notifications do not arrive. If DATABASE_URL is the address of a connection pooler, set DATABASE_DIRECT_URL to the address of PostgreSQL.',
        )
      if (isFirst) connected()
      await Promise.race([sleep(PING_INTERVAL, undefined, { signal, ref: false }), lost])
    }
  } finally {
    await client.end({ timeout: 0 })
  }
}

const NO_PING = Symbol('no ping')

/** Notifications of the embedded PostgreSQL. Only triggers send notifications, because no other process uses the database. */
export const createEmbeddedNotifications = (client: PGlite): Notifications => ({
  notify: () => Promise.resolve(),
  listen({ receive, connected }) {
    const listening = client.listen(CHANNEL, receive)
    void listening.then(connected)
    return async () => {
      await (
        await listening
      )()
    }
  },
})
