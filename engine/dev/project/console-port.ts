import type { ChildProcess } from 'node:child_process'
import { createServer, type Socket } from 'node:net'

import {
  createConsoleSecret,
  listenNear,
  type PortAnswer,
  PortRequest,
} from 'tallystick/internal/settings/console-port'

/**
 * Keeps the port and the secret of the console while the service starts again. Returns a listener for the messages of each service:
 * the last service that asked for the port receives the connections. Without such a service, connections are closed.
 */
export function createConsolePort() {
  const secret = createConsoleSecret()
  let receiver: ChildProcess | undefined
  /** Connections that the receiver does not have yet. */
  const waiting = new Set<Socket>()
  // Only the service reads from the connections.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const close = () => socket.destroy()
    // A browser can close a connection at any time.
    socket.on('error', () => undefined).once('close', () => waiting.delete(socket))
    waiting.add(socket)
    // The service receives a handle of its own.
    if (receiver?.connected) receiver.send({}, socket, { keepOpen: true }, close)
    else close()
  })
  let opened: Promise<number> | undefined
  const answer = async ({ openConsole: { servicePort } }: PortRequest, service: ChildProcess) => {
    opened ??= listenNear(server, servicePort)
    const message: PortAnswer = { console: { port: await opened, secret } }
    receiver = service
    service.once('exit', () => {
      for (const socket of waiting) socket.destroy()
    })
    // An error of a process that ends just now is no error of this process.
    service.send(message, () => undefined)
  }
  return (message: unknown, service: ChildProcess) => {
    const { data } = PortRequest.safeParse(message)
    if (data) void answer(data, service)
  }
}
