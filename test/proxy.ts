import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** A function that handles one connection. `startup` is the first message of the client. */
export type Script = (client: Socket, startup: Buffer) => void

/**
 * Starts a proxy on loopback. `scripts` are in the order of the connections: the first script handles the first
 * connection. `otherwise` creates the script for all connections that have no script in the list. By default, the proxy
 * relays such connections to `target`.
 */
export async function startProxy(
  target: string,
  scripts: (Script | undefined)[] = [],
  otherwise?: (target: { host: string; port: number }) => Script,
) {
  const { hostname, port } = new URL(target)
  const clients: Socket[] = []
  const fallback = (otherwise ?? relay)({ host: hostname, port: Number(port) })
  const listener = createServer((client) => {
    const script = scripts[clients.push(client) - 1] ?? fallback
    client.on('error', () => undefined)
    client.once('data', (startup) => {
      script(client, startup)
    })
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  const url = new URL(target)
  url.port = String(typeof address === 'object' && address ? address.port : 0)
  return {
    url: url.href,
    port: Number(url.port),
    /** Sockets of all clients so far, in the order of their connections. */
    clients,
    /** Resolves when the client of the newest connection sends `text`. */
    receives: (text: string) =>
      new Promise<void>((resolve) => {
        clients.at(-1)?.on('data', (bytes) => {
          if (bytes.includes(text)) resolve()
        })
      }),
    reset: () => clients.at(-1)?.resetAndDestroy(),
    close: () => {
      for (const client of clients) client.destroy()
      listener.close()
    },
  }
}

const relay =
  (address: { host: string; port: number }): Script =>
  (client, startup) => {
    const server = connect(address)
    server.write(startup)
    client.pipe(server).pipe(client)
    server.on('error', () => undefined).on('close', () => client.destroy())
    client.on('close', () => server.destroy())
  }

/** Relays a connection, with TLS between client and proxy, and without TLS between proxy and server. */
export const relayTls =
  (certificate: { key: Buffer; cert: Buffer }) =>
  (address: { host: string; port: number }): Script =>
  (client) => {
    client.write('S')
    const encrypted = new TLSSocket(client, { isServer: true, ...certificate })
    const server = connect(address)
    encrypted.pipe(server).pipe(encrypted)
    encrypted.on('error', () => undefined)
    server.on('error', () => undefined).on('close', () => client.destroy())
    client.on('close', () => server.destroy())
  }

/** Encodes a message of the PostgreSQL protocol. */
export function message(type: string, ...parts: (string | number)[]) {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : int32(part))),
  )
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

export const readyForQuery = message('Z', 'I')

export const errorResponse = (severity: 'ERROR' | 'FATAL', code: string) =>
  message('E', `S${severity}\0V${severity}\0C${code}\0MScripted\0\0`)

function int32(value: number) {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
