import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { z } from 'zod'

/** The console listens here: only this machine can reach it. */
export const CONSOLE_HOST = '127.0.0.1'

/** The port of the console, and the secret that signs its cookies. A cookie stays valid as long as both are the same. */
const ConsolePort = z.object({ port: z.int(), secret: z.string() })
export type ConsolePort = z.infer<typeof ConsolePort>

// Messages between the service and `tallystick dev`, which keeps the port of the console while the service restarts. After the
// answer, `tallystick dev` passes each connection as the handle of a message with a number. The service sends the number back: on
// macOS, `tallystick dev` must keep its own handle until the service has received the connection.

export const PortRequest = z.object({ openConsole: z.object({ servicePort: z.int() }) })
export type PortRequest = z.infer<typeof PortRequest>
export const PortAnswer = z.object({ console: ConsolePort })
export type PortAnswer = z.infer<typeof PortAnswer>
export const Connection = z.object({ connection: z.int() })
export type Connection = z.infer<typeof Connection>
export const ConnectionReceived = z.object({ received: z.int() })
export type ConnectionReceived = z.infer<typeof ConnectionReceived>

export const createConsoleSecret = () => randomBytes(32).toString('hex')

/** Listens on the second port after the port of the service, or on any free port. Returns the port. */
export async function listenNear(server: Server, servicePort: number) {
  const listening = () => once(server, 'listening')
  server.listen({ host: CONSOLE_HOST, port: servicePort + 2 > 65_535 ? 0 : servicePort + 2 })
  await listening().catch(() => {
    server.listen({ host: CONSOLE_HOST, port: 0 })
    return listening()
  })
  return (server.address() as AddressInfo).port
}
