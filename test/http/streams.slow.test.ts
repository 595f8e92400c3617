import { type AnySchema, getEventIteratorSchemaDetails, type Route } from '@orpc/contract'
import { traverseContractProcedures } from '@orpc/server'
import { sql } from 'drizzle-orm'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'

import { contract } from '../../contract/index.ts'
import { createApp } from '../../engine/http/server/app.ts'
import { settingsWithAddress, newEmail, startService } from '../fixtures/service.ts'
import { requestByRevision2026, rpc } from '../../engine/test/fixtures/mcp-agent.ts'
import { bearer, registerApp } from '../../engine/test/fixtures/oauth-app.ts'
import { signInOverHttp } from '../../engine/test/fixtures/http.ts'

const service = await startService(await settingsWithAddress())
const { cookie } = await signInOverHttp(service, newEmail())
const tokens = await (await registerApp(service)).obtainTokens(cookie, { resource: `${service.origin}/mcp` })

interface Asked {
  name: string
  method: string
  path: string
  body?: object
  headers?: Record<string, string>
}

interface Declared {
  route: Route
  inputSchema?: AnySchema
  outputSchema?: AnySchema
}

/**
 * Requests that prefer a stream in the Accept header: for every procedure over REST, over RPC with POST and over RPC
 * with GET, for MCP, and for other paths.
 */
const streamRequests: Asked[] = []
const isStream = (schema: AnySchema | undefined) => getEventIteratorSchemaDetails(schema) !== undefined
const streams: string[] = []

traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
  const { route, inputSchema, outputSchema }: Declared = procedure['~orpc']
  const name = path.join('.')
  const { method = '', path: address = '' } = route
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
  streamRequests.push({ name: `${name} by REST`, method, path: address.replace('{id}', '1'), ...body })
  streamRequests.push({
    name: `${name} by RPC`,
    method: 'POST',
    path: `/rpc/${path.join('/')}`,
    body: { json: {} },
  })
  streamRequests.push({ name: `${name} by RPC’s GET`, method: 'GET', path: `/rpc/${path.join('/')}` })
  if (isStream(inputSchema) || isStream(outputSchema)) streams.push(name)
})

/** The methods of MCP that could use a stream. A subscription is a stream only if it has a resource. */
const calls: [string, object][] = [
  [
    'initialize',
    { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  ],
  ['ping', {}],
  ['tools/list', {}],
  ['tools/call', { name: 'counter_get', arguments: {}, _meta: { progressToken: 1 } }],
  ['resources/list', {}],
  ['resources/read', { uri: 'tallystick://tasks' }],
  ['resources/subscribe', { uri: 'tallystick://tasks' }],
  ['logging/setLevel', { level: 'debug' }],
  ['subscriptions/listen', { notifications: { toolsListChanged: true } }],
]
for (const [method, params] of calls) {
  const requests = {
    '2025-06-18': { headers: { 'mcp-protocol-version': '2025-06-18' }, body: rpc(method, params) },
    '2026-07-28': requestByRevision2026(method, params),
  }
  for (const [version, { headers, body }] of Object.entries(requests))
    streamRequests.push({
      name: `MCP’s ${method}, as of ${version}`,
      method: 'POST',
      path: '/mcp',
      body,
      headers: { ...bearer(tokens), ...headers },
    })
}
for (const method of ['GET', 'DELETE', 'OPTIONS'])
  streamRequests.push({ name: `MCP by ${method}`, method, path: '/mcp', headers: bearer(tokens) })
for (const path of ['/docs', '/authorize', '/api/health/ready', '/api/auth/get-session', '/nowhere'])
  streamRequests.push({ name: path, method: 'GET', path })

describe('a response', () => {
  test.each(streamRequests)(
    'has a Content-Length, and ends: $name',
    async ({ method, path, body, headers }) => {
      const response = await fetch(service.origin + path, {
        method,
        headers: {
          cookie,
          accept: 'application/json;q=0.1, text/event-stream',
          // `fetch` decodes a compressed body, which then has another length.
          'accept-encoding': 'identity',
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const { byteLength } = await response.arrayBuffer()

      expect(response.headers.get('transfer-encoding')).toBeNull()
      // 204 has no Content-Length (RFC 9110, section 8.6).
      const length = response.status === 204 ? null : String(byteLength)
      expect(response.headers.get('content-length')).toBe(length)
      expect(response.status).not.toBe(503)
    },
  )

  test('is a stream only for live.watch, and no input is a stream', () => {
    expect(streams).toEqual(['live.watch'])
  })
})

describe('a connection', () => {
  const head = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`

  /** ANSWER_TIMEOUT in milliseconds, on a fake clock. Exceeds the duration of a test on the slowest machine. */
  const PATIENCE = 600_000
  /** Total size of the notes in bytes: more than the socket buffers can store. */
  const SIZE = 12_000_000

  beforeAll(async () => {
    await service.services.db.execute(sql`
      insert into notes (uuid, user_id, title, body)
      select gen_random_uuid(), id, 'x', repeat('x', 4000) from users, generate_series(1, ${SIZE / 4000})`)
  })

  const ends: (() => void)[] = []

  afterEach(() => {
    vi.useRealTimers()
    for (const end of ends.splice(0)) end()
  })

  /**
   * Starts a service with a fake clock, and sends requests. Returns the socket of the client (`near`), the socket of the
   * service (`far`), and a promise that resolves when the connection closes.
   */
  async function send(sent: string) {
    const { services } = service
    vi.useFakeTimers({ toFake: ['setInterval', 'Date'] })
    // A service with more than MAX_REQUESTS pipelined requests would close the connection earlier.
    const settings = { ...services.settings, answerTimeout: PATIENCE, maxRequests: 100_000 }
    const server = createApp({ ...services, settings })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const near = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1').pause()
    near.on('error', () => undefined)
    const [far] = (await once(server, 'connection')) as [Socket]
    const closed = new Promise((resolve) => far.on('error', resolve).on('close', resolve))
    ends.push(() => {
      near.destroy()
      server.close()
    })
    near.write(sent)
    return { near, far, closed }
  }

  /** Waits until the socket buffers are full, so that the service can send nothing. */
  async function waitUntilFull(far: Socket) {
    let written = 0
    await vi.waitFor(
      () => {
        const before = written
        written = far.bytesWritten
        expect(far.writableLength).toBeGreaterThan(0)
        expect(written).toBeGreaterThan(0)
        expect(written).toBe(before)
      },
      { timeout: 20_000, interval: 100 },
    )
  }

  // The socket buffers can store several megabytes, more than one page of a list. The test therefore requests the list
  // several times: 11 MB, of which at most 8 MB (MAX_PERSON_BYTES) are unread, because the service would close the connection
  // at once beyond this limit.
  const unread: [path: string, requests: number][] = [
    ['/api/notes', 10],
    ['/api/me/export', 1],
  ]
  test.each(unread)('closes if the client does not read the response: %s', async (path, requests) => {
    const { near, far, closed } = await send(head(path).repeat(requests))

    await waitUntilFull(far)
    vi.advanceTimersByTime(PATIENCE + 1000)
    await closed
    let received = 0
    near.on('data', ({ length }) => (received += length)).resume()
    if (!near.destroyed) await once(near, 'close')

    expect(far.bytesWritten).toBeGreaterThan(0)
    expect(received).toBeLessThan(far.bytesWritten)
  })

  test.each(['/api/status', '/api/health/live'])(
    'closes if the client sends requests continuously and reads no response: %s',
    async (path) => {
      const all = head(path).repeat(100_000)
      const { far, closed } = await send(all)

      await closed

      expect(far.bytesRead).toBeLessThan(all.length)
    },
  )

  test('stays open for a client that reads the responses', async () => {
    const { near, far } = await send(head('/api/health/live'))
    await once(near.resume(), 'data')

    vi.advanceTimersByTime(2 * PATIENCE)
    near.write(head('/api/health/live'))
    await once(near, 'data')

    expect(far.destroyed).toBe(false)
  })

  test('cannot become a tunnel', async () => {
    const { near, far } = await send('CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\n')

    expect(await text(near)).toBe('')
    expect(far.destroyed).toBe(true)
  })

  test('cannot be upgraded to another protocol', async () => {
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: eA==\r\n\r\n'
    const { near } = await send(head('/api/counter').replace('\r\n\r\n', `\r\n${upgrade}`))

    const [answer] = (await once(near.resume(), 'data')) as [Buffer]

    expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /)
  })
})
