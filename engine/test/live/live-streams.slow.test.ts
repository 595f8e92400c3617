import { sql } from 'drizzle-orm'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { createApp } from '../../http/server/app.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { startService, withTableLocked } from '../fixtures/service.ts'

const limits = { MAX_STREAMS: '1', MAX_PERSON_STREAMS: '1' }
const service = await startService(limits)
const impatient = await startService({ ...limits, ANSWER_TIMEOUT: '0.1' })

const wires: [protocol: string, path: string, body?: object][] = [
  ['REST', '/api/live?topics=visits'],
  ['RPC', '/rpc/live/watch', { json: { topics: ['visits'] } }],
]

/** Sends a request. `response` resolves with the headers of the response. */
function send(origin: string, path: string, body?: object, method = body ? 'POST' : 'GET') {
  const headers = { ...(body && { 'content-type': 'application/json' }) }
  const outgoing = request(origin + path, { method, headers, agent: false })
  const response = once(outgoing, 'response').then(([response]: IncomingMessage[]) => response?.resume())
  response.catch(() => undefined)
  outgoing.on('error', () => undefined).end(body && JSON.stringify(body))
  return { response, disconnect: () => outgoing.destroy() }
}

/** Waits until the process has no open stream. The limit of open streams of the process is 1. */
const expectNoOpenStream = ({ origin } = service) =>
  vi.waitFor(async () => {
    // A HEAD request leaves no open stream.
    const { response } = send(origin, '/api/live?topics=visits', undefined, 'HEAD')
    expect((await response)?.statusCode).toBe(200)
  }, PATIENCE)

/** Starts an HTTP server of the service. `connected` resolves with the first connection. */
async function startServer() {
  const server = createApp(service.services).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const connected = once(server, 'connection') as Promise<[Socket]>
  return { port: (server.address() as AddressInfo).port, connected }
}

/** Waits until a lock of a table blocks a query. */
const waitUntilBlocked = (table: string) =>
  vi.waitFor(async () => {
    const blocked = await service.services.db.execute(
      sql`select 1 from pg_locks where not granted and relation = ${table}::regclass`,
    )
    expect(blocked).not.toHaveLength(0)
  }, PATIENCE)

describe('live.watch', () => {
  test.each(wires)(
    'closes a stream whose first state arrives after ANSWER_TIMEOUT, over %s',
    async (_, ...call) => {
      await withTableLocked(impatient.databaseUrl, 'visits', async () => {
        const response = await send(impatient.origin, ...call).response
        expect(response?.statusCode).toBe(503)
      })

      await expectNoOpenStream(impatient)
    },
  )

  test.each(wires)(
    'closes a stream whose client disconnects before the first state, over %s',
    async (_, ...call) => {
      const { port, connected } = await startServer()
      await withTableLocked(service.databaseUrl, 'visits', async () => {
        const { disconnect } = send(`http://127.0.0.1:${port}`, ...call)
        const [socket] = await connected
        await waitUntilBlocked('visits')
        const closed = once(socket, 'close')
        disconnect()
        await closed
      })

      await expectNoOpenStream()
    },
  )

  test('closes the stream of a pipelined request if the connection is lost before the first state', async () => {
    const { port, connected } = await startServer()
    const opened = vi.spyOn(service.services.live, 'open')
    onTestFinished(() => {
      opened.mockRestore()
    })
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
    await withTableLocked(service.databaseUrl, 'visits', async () => {
      const client = connect(port, '127.0.0.1')
      client.write(get('/api/visits') + get('/api/live?topics=visits'))
      const [socket] = await connected
      await vi.waitUntil(() => opened.mock.calls.length > 0, PATIENCE)
      await waitUntilBlocked('visits')
      const closed = once(socket, 'close')
      client.destroy()
      await closed
    })

    await expectNoOpenStream()
  })

  test.each(['/api/status', '/api/visits', '/nothing'])(
    'does not lose the answer of a request before the stream on the same connection: %s',
    async (path) => {
      const { port } = await startServer()
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
      for (let count = 0; count < 5; count++) {
        const client = connect(port, '127.0.0.1')
        client.write(get(path) + get('/api/live?topics=visits'))
        const [answer] = (await once(client, 'data')) as [Buffer]
        client.destroy()

        expect(answer.toString()).toMatch(/^HTTP\/1\.1 (200|404) [^]*\r\n\r\n\{.*\}/)
        await expectNoOpenStream()
      }
    },
  )

  test('closes the stream of a call in a batch', async () => {
    const headers = { 'x-orpc-batch': 'buffered', 'content-type': 'application/json' }
    const body = [{ url: `${service.origin}/rpc/live/watch`, body: { json: { topics: ['visits'] } } }]
    const options = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${service.origin}/rpc/__batch__`, options)
    expect(await response.text()).toContain('outside of a batch')

    await expectNoOpenStream()
  })

  test('closes the stream of a caller in the same process if the call is aborted before the first state', async () => {
    const person = await service.person()
    const aborting = new AbortController()
    const topics: ['shelves'] = ['shelves']
    const opened: Promise<unknown>[] = []
    await withTableLocked(service.databaseUrl, 'shelves', async () => {
      opened.push(person.live.watch({ topics }, { signal: aborting.signal }))
      await waitUntilBlocked('shelves')
      aborting.abort()
    })
    await Promise.allSettled(opened)

    await expect(person.live.watch({ topics })).resolves.toBeDefined()
  })
})
