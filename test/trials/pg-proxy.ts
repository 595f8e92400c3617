import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { Messages } from './pg-messages.ts'

export type Direction = 'up' | 'down'

/** The next bytes of a direction, held back, and the offsets in them at which a message ends. */
export interface Held {
  bytes: Buffer
  ends: Set<number>
}

/** The last bytes of each direction before a connection is closed. */
type Last = Partial<Record<Direction, Buffer>>
const NOTHING = Buffer.of()

/** How long a closed connection may wait for the other side to close, in milliseconds. */
const LINGER = 1000

/** One connection through the proxy: `near` is the service, `far` is PostgreSQL. */
export class Link {
  /** Whether a cut of this connection is under way. */
  isTaken = false
  isClosed = false
  readonly messages = { up: new Messages('client'), down: new Messages('server') }
  readonly near: Socket
  readonly far: Socket
  readonly #hooks: Record<Direction, ((held?: Held) => void) | undefined> = { up: undefined, down: undefined }

  constructor(near: Socket, far: Socket, onPartialResult: (link: Link, bytes: Buffer) => boolean) {
    this.near = near
    this.far = far
    near.on('data', (bytes) => {
      this.#pass('up', bytes, () => far.write(bytes))
    })
    far.on('data', (bytes) => {
      this.#pass('down', bytes, () => {
        const isHeld = this.messages.down.inResult && !this.isTaken && onPartialResult(this, bytes)
        if (!isHeld) near.write(bytes)
      })
    })
    near.on('error', () => undefined).on('close', this.#end(far))
    far.on('error', () => undefined).on('close', this.#end(near))
  }

  /** The port that PostgreSQL sees as the client's. */
  get clientPort() {
    return this.far.localPort ?? 0
  }

  /** Results that an error, or the end of the connection, came into. */
  brokenResults() {
    const { brokenResults, inResult } = this.messages.down
    return brokenResults + Number(this.isClosed && inResult)
  }

  /** Holds back the next bytes of a direction; `undefined` if none come in time. */
  async hold(direction: Direction, patience: number): Promise<Held | undefined> {
    const held = new Promise<Held | undefined>((resolve) => (this.#hooks[direction] = resolve))
    const result = await Promise.race([held, sleep(patience, undefined)])
    this.#hooks[direction] = undefined
    return result
  }

  /** Nothing passes until the connection is released. */
  stall() {
    this.near.pause()
    this.far.pause()
  }

  release() {
    this.near.resume()
    this.far.resume()
  }

  /** Sends a FIN to both sides, after the last bytes to either. */
  finish({ up = NOTHING, down = NOTHING }: Last = {}) {
    this.release()
    this.near.end(down)
    this.far.end(up)
    setTimeout(() => {
      this.near.destroy()
      this.far.destroy()
    }, LINGER).unref()
  }

  /** Sends a RST to the service, after the last bytes to either side. */
  reset({ up = NOTHING, down = NOTHING }: Last = {}) {
    this.near.write(down, () => this.near.resetAndDestroy())
    this.far.end(up)
  }

  #pass(direction: Direction, bytes: Buffer, forward: () => void) {
    const ends = this.messages[direction].read(bytes)
    const hook = this.#hooks[direction]
    if (hook) hook({ bytes, ends })
    else forward()
  }

  #end(other: Socket) {
    return () => {
      this.isClosed = true
      for (const hook of Object.values(this.#hooks)) hook?.()
      if (!other.destroyed) other.destroySoon()
    }
  }
}

/** A TCP proxy in front of a PostgreSQL server, whose connections can be cut. */
export async function startProxy(url: string) {
  const target = new URL(url)
  const links = new Set<Link>()
  const waiting: ((partial: PartialResult) => void)[] = []
  let refusingUntil = 0

  const onPartialResult = (link: Link, bytes: Buffer) => {
    const take = waiting.shift()
    if (!take) return false
    link.isTaken = true
    link.far.pause()
    take({ link, bytes })
    return true
  }
  const server = createServer({ noDelay: true }, (near) => {
    near.on('error', () => undefined)
    // As a server that is starting or has too many connections: closes after the startup message.
    if (Date.now() < refusingUntil) return void near.once('data', () => near.end())
    const far = connect({ port: Number(target.port), host: target.hostname, noDelay: true })
    const link = new Link(near, far, onPartialResult)
    links.add(link)
    near.once('close', () => links.delete(link))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const own = new URL(url)
  own.port = String(typeof address === 'object' && address ? address.port : 0)

  return {
    url: own.href,
    /** Connections that can be cut. */
    free: () => [...links].filter(({ isTaken, isClosed }) => !isTaken && !isClosed),
    count: () => links.size,
    /** Closes every new connection after its startup message, for some milliseconds. */
    refuse: (duration: number) => {
      refusingUntil = Date.now() + duration
    },
    /** Holds back bytes that end within a result, and what follows them; `undefined` if none come in time. */
    async holdPartialResult(patience: number) {
      let take: (partial: PartialResult) => void = () => undefined
      const held = new Promise<PartialResult>((resolve) => waiting.push((take = resolve)))
      const result = await Promise.race([held, sleep(patience, undefined)])
      const place = waiting.indexOf(take)
      if (place >= 0) waiting.splice(place, 1)
      return result
    },
  }
}

interface PartialResult {
  link: Link
  bytes: Buffer
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>
