import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { traverseContractProcedures } from '@orpc/server'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'

import { metaOf } from '../../contract/meta.ts'
import { createApp } from '../../http/server/app.ts'
import { accept, clientInfo, createMcpCalls, requestByRevision2026 } from '../fixtures/mcp-agent.ts'
import { createTallystick, newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'
import { type Client, contract } from '../library/contract.ts'
import { books } from '../library/db.ts'
import { freePort } from '../../dev/testing/postgres.ts'

/** How long a test waits for a condition before it fails. */
const WAIT = { timeout: 20_000 }

const shared = { AUTH_SECRET: 'x'.repeat(40), ...(await settingsWithAddress()) }
const service = await startService(shared)
const { authorizeAgent, postByRevision2026, call } = createMcpCalls(service)

/** Starts another instance on the same database. The access tokens of the service are valid for all instances. */
async function startInstance(environment: Record<string, string> = {}) {
  const instance = await createTallystick({ ...shared, DATABASE_URL: service.databaseUrl, ...environment })
  const server = createApp(instance.services).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  afterAll(async () => {
    server.close().closeAllConnections()
    await instance.close()
  })
  return { ...instance, url: `http://127.0.0.1:${port}/mcp` }
}

/**
 * Starts another instance, and waits until the changes of other instances arrive. When they begin to arrive, an instance
 * may notify of every resource once, because earlier changes may be lost.
 */
async function startConnectedInstance(environment: Record<string, string> = {}) {
  const port = String(await freePort())
  const instance = await startInstance({ ...environment, METRICS_PORT: port })
  const metrics = await instance.services.metrics?.serve()
  await vi.waitFor(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect(await response.text()).toContain('test_library_live_connected 1\n')
  }, WAIT)
  metrics?.close()
  return instance
}

const other = await startConnectedInstance()

const VISITS = 'test-library://visits'
const SHELVES = 'test-library://shelves'
const LOANS = 'test-library://loans'
const uris = [VISITS, 'test-library://books', LOANS, SHELVES]

async function connect(headers: Record<string, string>, url = other.url) {
  const client = new McpClient(clientInfo, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  const updated: string[] = []
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void updated.push(params.uri),
  )
  return {
    client,
    updated,
    listen: (...resourceSubscriptions: string[]) => client.listen({ resourceSubscriptions }),
    read: async (uri: string) => {
      const { contents } = await client.readResource({ uri })
      const [content] = contents
      return content && 'text' in content ? (JSON.parse(content.text) as unknown) : undefined
    },
  }
}

/** Lends a new book to a person. */
async function borrow({ loans }: Client) {
  const bookId = crypto.randomUUID()
  await service.services.db.insert(books).values({ id: bookId, title: 'A book', copies: 1 })
  await loans.create({ bookId })
}

/** Subscribes without a client library. */
function subscribe(credentials: Record<string, string>, url: string, ...resourceSubscriptions: string[]) {
  const { headers, body } = requestByRevision2026('subscriptions/listen', {
    notifications: { resourceSubscriptions },
  })
  const aborting = new AbortController()
  onTestFinished(() => {
    aborting.abort()
  })
  return fetch(url, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json', ...headers, ...credentials },
    body: JSON.stringify(body),
    signal: aborting.signal,
  })
}

afterEach(() => {
  vi.useRealTimers()
})

test('Each topic has one procedure that reads its state', () => {
  const topics: string[] = []
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure }) => {
    const { reads } = metaOf(procedure)
    if (reads) topics.push(reads.name)
  })

  expect(topics.sort()).toEqual(
    metaOf(contract.live.watch)
      .watches?.map(({ name }) => name)
      .sort(),
  )
})

describe('the resources', () => {
  test('are the topics that an access token can read', async () => {
    const { credentials } = await authorizeAgent()
    const { client } = await connect(credentials)

    const { resources } = await client.listResources()

    expect(resources.map(({ uri }) => uri)).toEqual(uris)
    expect(resources[2]).toEqual({
      uri: LOANS,
      name: 'loans',
      description: 'List your loans, newest first',
      mimeType: 'application/json',
    })
  })

  test('have the same content as the answers of REST', async () => {
    const email = newEmail()
    const person = await service.person(email)
    await person.shelves.create({ name: 'Read' })
    await borrow(person)
    const { credentials } = await authorizeAgent({ email })
    const { credentials: restCredentials } = await authorizeAgent({ email, resource: service.origin })
    const { read } = await connect(credentials)

    for (const uri of uris) {
      const path = `/api/${new URL(uri).host}`
      expect(await read(uri), uri).toEqual((await call('GET', path, undefined, restCredentials)).body)
    }
    expect(await read(SHELVES)).toMatchObject({ shelves: [{ name: 'Read' }] })
  })

  test.each(['test-library://sessions', 'test-library://nothing', 'x'])('do not include %s', async (uri) => {
    const { credentials } = await authorizeAgent()
    const { read } = await connect(credentials)

    await expect(read(uri)).rejects.toMatchObject({ code: -32602 })
  })

  test('require the scope of the procedure, to read and to subscribe', async () => {
    const { credentials } = await authorizeAgent({ scope: 'write' })
    const challenge = expect.stringMatching(/error="insufficient_scope".* scope="read"/)

    const answers = [
      await postByRevision2026(credentials, 'resources/read', { uri: SHELVES }),
      await subscribe(credentials, other.url, VISITS, SHELVES),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403])
    expect(answers.map(({ headers }) => headers.get('www-authenticate'))).toEqual([challenge, challenge])

    const { read, listen } = await connect(credentials)
    expect(await read(VISITS)).toEqual(await service.stranger.visits.get())
    await (await listen(VISITS)).close()
  })
})

describe('a subscription', () => {
  test('notifies of changes on another instance, and only of later changes of its resources', async () => {
    const email = newEmail()
    const person = await service.person(email)
    await person.shelves.create({ name: 'Before' })
    const { credentials } = await authorizeAgent({ email })
    const { updated, listen, read } = await connect(credentials)

    const { honoredFilter } = await listen(LOANS, SHELVES, 'test-library://nothing')
    expect(honoredFilter).toEqual({ resourceSubscriptions: [LOANS, SHELVES] })

    await person.shelves.create({ name: 'After' })
    await service.stranger.visits.add()
    await vi.waitFor(() => {
      expect(updated).toEqual([SHELVES])
    }, WAIT)
    expect(await read(SHELVES)).toMatchObject({ shelves: [{ name: 'After' }, { name: 'Before' }] })
    await borrow(person)
    await vi.waitFor(() => {
      expect(updated).toEqual([SHELVES, LOANS])
    }, WAIT)
  })

  test.each([
    { filter: { resourceSubscriptions: ['test-library://sessions'] } },
    { filter: { toolsListChanged: true } },
  ])('ends at once if it has no resource: $filter', async ({ filter }) => {
    const { credentials } = await authorizeAgent()
    const { client } = await connect(credentials)

    const { honoredFilter, closed } = await client.listen(filter)

    expect(honoredFilter).toEqual({})
    expect(await closed).toBe('graceful')
  })

  test.each([SHELVES, VISITS])('to %s ends when the grant is revoked on another instance', async (uri) => {
    const { credentials, revoke } = await authorizeAgent()
    const { listen } = await connect(credentials)
    const { closed } = await listen(uri)

    await revoke()

    expect(await closed).toBe('remote')
    expect((await subscribe(credentials, other.url, uri)).status).toBe(401)
  })

  test('ends when the access token expires', async () => {
    const { credentials } = await authorizeAgent()
    const { listen } = await connect(credentials)
    const { closed } = await listen(SHELVES)

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11 * 60_000 })

    expect(await closed).toBe('remote')
  })

  test('ends with a result when the service stops', async () => {
    const stopping = await startInstance()
    const { credentials } = await authorizeAgent()
    const { listen } = await connect(credentials, stopping.url)
    const { closed } = await listen(SHELVES)

    stopping.services.closing.abort()

    expect(await closed).toBe('graceful')
    expect((await subscribe(credentials, stopping.url, SHELVES)).status).toBe(503)
  })

  test('occupies no slot for requests, and may last longer than ANSWER_TIMEOUT', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'Date'] })
    const { url } = await startConnectedInstance({ MAX_REQUESTS: '1', ANSWER_TIMEOUT: '15' })
    const { credentials } = await authorizeAgent()
    const agents = [await connect(credentials, url), await connect(credentials, url)]

    const subscriptions = [await agents[0]?.listen(VISITS), await agents[1]?.listen(VISITS)]
    vi.advanceTimersByTime(17_000)
    await service.stranger.visits.add()

    await vi.waitFor(() => {
      expect(agents.map(({ updated }) => updated)).toEqual([[VISITS], [VISITS]])
    }, WAIT)
    for (const subscription of subscriptions) await subscription?.close()
  })

  test.each([
    { limit: 'MAX_PERSON_STREAMS', status: 429 },
    { limit: 'MAX_STREAMS', status: 503 },
  ])('counts for $limit until the client disconnects', async ({ limit, status }) => {
    const { url } = await startInstance({ [limit]: '1' })
    const { credentials } = await authorizeAgent()
    const { listen } = await connect(credentials, url)
    const first = await listen(VISITS)

    const refused = await subscribe(credentials, url, VISITS)
    expect(refused.status).toBe(status)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    await first.close()

    await vi.waitFor(async () => {
      expect((await subscribe(credentials, url, VISITS)).status).toBe(200)
    }, WAIT)
  })
})
