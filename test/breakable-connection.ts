import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * A TCP proxy in front of a database. States: `open` forwards data, `cut` closes every new connection immediately,
 * `silent` keeps connections open but drops their data.
 */
export class BreakableConnection {
  state: 'open' | 'cut' | 'silent' = 'open'
  readonly #sockets = new Set<Socket>()
  readonly #dropped = new WeakSet<Socket>()
  readonly #server: Server

  constructor(host: string, port: number) {
    this.#server = createServer((near) => {
      if (this.state === 'cut') return void near.destroy()
      const far = connect(port, host)
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket))
      }
      const passes = () => this.state === 'open' && !this.#dropped.has(near)
      near.on('data', (bytes) => passes() && far.write(bytes)).on('close', () => far.destroy())
      far.on('data', (bytes) => passes() && near.write(bytes)).on('close', () => near.destroy())
    })
  }

  async listen() {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  cut() {
    this.state = 'cut'
    this.disconnect()
  }

  /** Keeps the open connections but drops their data, like a firewall that has lost the state of the connections. */
  dropData() {
    for (const socket of this.#sockets) this.#dropped.add(socket)
  }

  disconnect() {
    for (const socket of this.#sockets) socket.destroy()
  }

  reset() {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  close() {
    this.disconnect()
    this.#server.close()
  }
}
