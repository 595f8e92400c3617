import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import type { Server } from '../servers.ts'

/**
 * Measures the resident memory of the server for each number of open connections, after each connection has received
 * one event.
 */
export async function measureMemory(server: Server, counts: number[]) {
  const sockets: Socket[] = []
  const results = []
  for (const count of counts) {
    while (sockets.length < count)
      sockets.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(100, count - sockets.length) }, () => openConnection(server)),
        )),
      )
    results.push({ connections: count, memory: (await server.usage()).memory })
  }
  for (const socket of sockets) socket.destroy()
  return results
}

async function openConnection({ origin }: Server) {
  const { hostname, port, host } = new URL(origin)
  const socket = connect(Number(port), hostname)
  socket.write(`GET /api/counter/fragment HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`)
  await once(socket, 'data')
  return socket
}
