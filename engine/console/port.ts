import type { Server } from 'node:http'
import { Socket } from 'node:net'

import {
  Connection,
  type ConnectionReceived,
  type ConsolePort,
  createConsoleSecret,
  listenNear,
  PortAnswer,
  type PortRequest,
} from '../settings/console-port.ts'

const MAX_CONNECTIONS = 100

/**
 * Opens the port of the console for the server.
 *
 * `tallystick dev` listens itself, and passes each connection to the service that runs. The port is never free while the service
 * starts again: another program that listens there would receive the cookie of an open console, which stays valid.
 */
export const openPort = (
  server: Server,
  servicePort: number,
  isDevelopment: boolean,
): Promise<ConsolePort> =>
  isDevelopment && process.connected ? receiveConnections(server, servicePort) : listen(server, servicePort)

async function listen(server: Server, servicePort: number) {
  server.maxConnections = MAX_CONNECTIONS
  return { port: await listenNear(server, servicePort), secret: createConsoleSecret() }
}

function receiveConnections(server: Server, servicePort: number) {
  let connections = 0
  let isClosed = false
  server.once('close', () => (isClosed = true))
  return new Promise<ConsolePort>((resolve) => {
    process.on('message', (message, socket) => {
      const { data } = PortAnswer.safeParse(message)
      if (data) resolve(data.console)
      const connection = Connection.safeParse(message)
      if (!connection.success || !(socket instanceof Socket)) return
      process.send?.({ received: connection.data.connection } satisfies ConnectionReceived)
      if (isClosed || connections === MAX_CONNECTIONS) {
        socket.destroy()
        return
      }
      connections++
      socket.once('close', () => connections--)
      server.emit('connection', socket)
    })
    // Node checks the times of requests from this event on.
    server.emit('listening')
    process.send?.({ openConsole: { servicePort } } satisfies PortRequest)
  })
}
