import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, type Server, Socket } from 'node:net'
import { z } from 'zod'

/** Only this machine can reach the console. */
export const HOST = '127.0.0.1'

const MAX_CONNECTIONS = 100

/** The port of the console, and the secret that signs its cookies. A cookie stays valid as long as both are the same. */
const OpenedPort = z.object({ port: z.int(), secret: z.string() })
export type OpenedPort = z.infer<typeof OpenedPort>

/** Messages between the service and `tallystick dev`. Connections follow the answer, each as the handle of a message. */
export const PortRequest = z.object({ openConsole: z.object({ servicePort: z.int() }) })
export type PortRequest = z.infer<typeof PortRequest>
const PortAnswer = z.object({ console: OpenedPort })
export type PortAnswer = z.infer<typeof PortAnswer>

/**
 * Opens the port of the console for the server.
 *
 * `tallystick dev` listens itself, and passes each connection to the service that runs. The port is never free while the service
 * starts again: another program that listens there would receive the cookie of an open console, which stays valid.
 */
export const openPort = (
  server: HttpServer,
  servicePort: number,
  isDevelopment: boolean,
): Promise<OpenedPort> =>
  isDevelopment && process.connected ? receiveConnections(server, servicePort) : listen(server, servicePort)

async function listen(server: HttpServer, servicePort: number) {
  server.maxConnections = MAX_CONNECTIONS
  return { port: await listenNear(server, servicePort), secret: createSecret() }
}

export const createSecret = () => randomBytes(32).toString('hex')

/** Listens on the second port after the port of the service, or on any free port. Returns the port. */
export async function listenNear(server: Server, servicePort: number) {
  const listening = () => once(server, 'listening')
  server.listen({ host: HOST, port: servicePort + 2 > 65_535 ? 0 : servicePort + 2 })
  await listening().catch(() => {
    server.listen({ host: HOST, port: 0 })
    return listening()
  })
  return (server.address() as AddressInfo).port
}

function receiveConnections(server: HttpServer, servicePort: number) {
  let connections = 0
  return new Promise<OpenedPort>((resolve) => {
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
