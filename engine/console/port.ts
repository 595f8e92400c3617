import type { Server } from 'node:http'
import { Socket } from 'node:net'

import {
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
  return new Promise<ConsolePort>((resolve) => {
    process.on('message', (message, socket) => {
      const { data } = PortAnswer.safeParse(message)
      if (data) resolve(data.console)
      if (!(socket instanceof Socket)) return
      if (connections === MAX_CONNECTIONS) {
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
