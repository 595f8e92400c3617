import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A way to a database that can be cut, or fall silent. */
export class Wire {
  state: 'open' | 'cut' | 'silent' = 'open'
  readonly #sockets = new Set<Socket>()
  readonly #lost = new WeakSet<Socket>()
  readonly #server: Server

  constructor(host: string, port: number) {
    this.#server = createServer((near) => {
      if (this.state === 'cut') return void near.destroy()
      const far = connect(port, host)
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket))
      }
      const passes = () => this.state === 'open' && !this.#lost.has(near)
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
    this.hangUp()
  }

  /** What is connected stays so, and is not heard of again, as where a firewall has forgotten it. */
  lose() {
    for (const socket of this.#sockets) this.#lost.add(socket)
  }

  hangUp() {
    for (const socket of this.#sockets) socket.destroy()
  }

  reset() {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  close() {
    this.hangUp()
    this.#server.close()
  }
}
