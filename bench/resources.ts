import { cookieCredentials, LEAN, onNode20, OURS } from './contenders.ts'
import { measureStartUp } from './start-up.ts'
import { type Generator, sendLoad } from './load.ts'
import { forCallers } from './operations.ts'
import { startPeer, startTallystick } from './servers.ts'
import type { Mailbox } from './sign-in.ts'

const SECONDS = 60

export type Resources = Awaited<ReturnType<typeof measureResources>>

/**
 * Measures the resident memory of new processes after one minute of `GET /api/tasks` on 64 connections, and the
 * start-up on an embedded database.
 */
export async function measureResources(
  generator: Generator,
  databaseUrl: string,
  nodes: { 24: string; 20: string },
  mailbox: Mailbox,
) {
  const settings = { DATABASE_URL: databaseUrl, SMTP_URL: mailbox.url }
  const starts = {
    [OURS]: () => startTallystick(nodes[24], settings),
    [LEAN]: () => startPeer('fastify', nodes[24], databaseUrl),
    [onNode20(OURS)]: () => startTallystick(nodes[20], settings),
    [onNode20(LEAN)]: () => startPeer('fastify', nodes[20], databaseUrl),
  }
  const memory = []
  for (const [name, start] of Object.entries(starts)) {
    process.stdout.write(`memory of ${name}\n`)
    const server = await start()
    const { readers } = await cookieCredentials(server, mailbox)
    const requests = forCallers({ method: 'GET', path: '/api/tasks' }, readers)
    await sendLoad(generator, { origin: server.origin, requests, connections: 64, seconds: SECONDS })
    memory.push({ name, bytes: (await server.usage()).memory })
    await server.stop()
  }
  process.stdout.write('start-up\n')
  return { memory, startUp: await measureStartUp(nodes[24], 3) }
}
