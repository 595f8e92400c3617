import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { MessageParser } from './pg-messages.ts'

export type Direction = 'toDatabase' | 'toService'

/** Bytes that the proxy holds back, and the offsets in these bytes at which messages end. */
export interface HeldBytes {
  bytes: Buffer
  ends: Set<number>
}

/** The last bytes that the proxy forwards in each direction before closing the connection. */
type Last = Partial<Record<Direction, Buffer>>
const NOTHING = Buffer.of()

/** Time between sending a FIN and destroying both sockets, in milliseconds. */
const CLOSE_TIMEOUT = 1000

export class ProxiedConnection {
  /** Whether the connection is reserved for a cut. */
  isReserved = false
  isClosed = false
  readonly messages = { toDatabase: new MessageParser('client'), toService: new MessageParser('server') }
  readonly serviceSocket: Socket
  readonly databaseSocket: Socket
  readonly #hooks: Record<Direction, ((held?: HeldBytes) => void) | undefined> = {
    toDatabase: undefined,
    toService: undefined,
  }

  constructor(
    near: Socket,
    far: Socket,
    onPartialResult: (connection: ProxiedConnection, bytes: Buffer) => boolean,
  ) {
    this.serviceSocket = near
    this.databaseSocket = far
    near.on('data', (bytes) => {
      this.#forward('toDatabase', bytes, () => far.write(bytes))
    })
    far.on('data', (bytes) => {
      this.#forward('toService', bytes, () => {
        const isHeld = this.messages.toService.inResult && !this.isReserved && onPartialResult(this, bytes)
        if (!isHeld) near.write(bytes)
      })
    })
    near.on('error', () => undefined).on('close', this.#onClose(far))
    far.on('error', () => undefined).on('close', this.#onClose(near))
  }

  /**
   * The local port of the proxy’s connection to PostgreSQL. pg_stat_activity contains this port in the column
   * `client_port`.
   */
  get clientPort() {
    return this.databaseSocket.localPort ?? 0
  }

  /** Number of results that were interrupted, by an error or because the connection was closed. */
  brokenResults() {
    const { interruptedResults, inResult } = this.messages.toService
    return interruptedResults + Number(this.isClosed && inResult)
  }

  /** Holds back the next bytes in a direction, and returns them. Returns `undefined` if no bytes arrive in time. */
  async hold(direction: Direction, timeout: number): Promise<HeldBytes | undefined> {
    const held = new Promise<HeldBytes | undefined>((resolve) => (this.#hooks[direction] = resolve))
    const result = await Promise.race([held, sleep(timeout, undefined)])
    this.#hooks[direction] = undefined
    return result
  }

  /** Forwards no bytes until `release`. */
  stall() {
    this.serviceSocket.pause()
    this.databaseSocket.pause()
  }

  release() {
    this.serviceSocket.resume()
    this.databaseSocket.resume()
  }

  /** Sends the last bytes and a FIN to both sides. */
  closeWithFin({ toDatabase = NOTHING, toService = NOTHING }: Last = {}) {
    this.release()
    this.serviceSocket.end(toService)
    this.databaseSocket.end(toDatabase)
    setTimeout(() => {
      this.serviceSocket.destroy()
      this.databaseSocket.destroy()
    }, CLOSE_TIMEOUT).unref()
  }

  /** Sends the last bytes to both sides, then a RST to the service and a FIN to PostgreSQL. */
  closeWithReset({ toDatabase = NOTHING, toService = NOTHING }: Last = {}) {
    this.serviceSocket.write(toService, () => this.serviceSocket.resetAndDestroy())
    this.databaseSocket.end(toDatabase)
  }

  #forward(direction: Direction, bytes: Buffer, write: () => void) {
    const ends = this.messages[direction].read(bytes)
    const hook = this.#hooks[direction]
    if (hook) hook({ bytes, ends })
    else write()
  }

  #onClose(other: Socket) {
    return () => {
      this.isClosed = true
      for (const hook of Object.values(this.#hooks)) hook?.()
      if (!other.destroyed) other.destroySoon()
    }
  }
}

/** Starts a TCP proxy in front of a PostgreSQL server. A trial can stall and close the connections of the proxy. */
export async function startProxy(url: string) {
  const target = new URL(url)
  const connections = new Set<ProxiedConnection>()
  const waiting: ((partial: PartialResult) => void)[] = []
  let refusingUntil = 0

  const onPartialResult = (connection: ProxiedConnection, bytes: Buffer) => {
    const deliver = waiting.shift()
    if (!deliver) return false
    connection.isReserved = true
    connection.databaseSocket.pause()
    deliver({ connection, bytes })
    return true
  }
  const server = createServer({ noDelay: true }, (near) => {
    near.on('error', () => undefined)
    // Closes the connection after the startup message, like a PostgreSQL server that is starting or has no free
    // connections.
    if (Date.now() < refusingUntil) return void near.once('data', () => near.end())
    const far = connect({ port: Number(target.port), host: target.hostname, noDelay: true })
    const connection = new ProxiedConnection(near, far, onPartialResult)
    connections.add(connection)
    near.once('close', () => connections.delete(connection))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const proxyUrl = new URL(url)
  proxyUrl.port = String(typeof address === 'object' && address ? address.port : 0)

  return {
    url: proxyUrl.href,
    /** Connections that are open and not reserved. */
    free: () => [...connections].filter(({ isReserved, isClosed }) => !isReserved && !isClosed),
    count: () => connections.size,
    /** Closes new connections after their startup message, for `duration` milliseconds. */
    refuse: (duration: number) => {
      refusingUntil = Date.now() + duration
    },
    /**
     * Waits until PostgreSQL has sent only a part of a result over a connection. Reserves this connection, and stops
     * reading from PostgreSQL. Returns the connection and the bytes that the proxy has not forwarded. Returns
     * `undefined` on timeout.
     */
    async holdPartialResult(timeout: number) {
      let deliver: (partial: PartialResult) => void = () => undefined
      const held = new Promise<PartialResult>((resolve) => waiting.push((deliver = resolve)))
      const result = await Promise.race([held, sleep(timeout, undefined)])
      const place = waiting.indexOf(deliver)
      if (place >= 0) waiting.splice(place, 1)
      return result
    },
  }
}

interface PartialResult {
  connection: ProxiedConnection
  bytes: Buffer
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>
