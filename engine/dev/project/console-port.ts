import type { ChildProcess } from 'node:child_process'
import { createServer, type Socket } from 'node:net'

import {
  type Connection,
  ConnectionReceived,
  createConsoleSecret,
  listenNear,
  type PortAnswer,
  PortRequest,
} from 'tallystick/internal/settings/console-port'

/**
 * Keeps the port and the secret of the console while the service starts again. Returns a listener for the messages of each service:
 * the last service that asked for the port receives the connections. Without such a service, connections are closed.
 */
export function keepConsolePort() {
  const secret = createConsoleSecret()
  let receiver: ChildProcess | undefined
  let opened: Promise<number> | undefined
  let count = 0
  /** The connections that the receiver does not have yet, by number. */
  const waiting = new Map<number, Socket>()
  // Only the service reads from the connections.
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    const message: Connection = { connection: ++count }
    // A browser can close a connection at any time.
    socket.on('error', () => undefined).once('close', () => waiting.delete(message.connection))
    waiting.set(message.connection, socket)
    if (receiver?.connected)
      receiver.send(message, socket, { keepOpen: true }, (error) => {
        if (error) socket.destroy()
      })
    else socket.destroy()
  })

  async function open({ openConsole: { servicePort } }: PortRequest, service: ChildProcess) {
    opened ??= listenNear(server, servicePort)
    const message: PortAnswer = { console: { port: await opened, secret } }
    receiver = service
    service.once('exit', () => {
      for (const socket of waiting.values()) socket.destroy()
    })
    // An error of a process that ends just now is no error of this process.
    service.send(message, () => undefined)
  }

  return (message: unknown, service: ChildProcess) => {
    const request = PortRequest.safeParse(message)
    if (request.success)
      open(request.data, service).catch((error: unknown) => {
        opened = undefined
        process.stderr.write(`The console has no port: ${String(error)}\n`)
      })
    const received = ConnectionReceived.safeParse(message)
    if (received.success) waiting.get(received.data.received)?.destroy()
  }
}
