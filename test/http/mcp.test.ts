import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { request } from 'node:http'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import { signInOverHttp } from '../../engine/test/fixtures/http.ts'
import { accept, clientInfo, createMcpCalls, rpc } from '../../engine/test/fixtures/mcp-agent.ts'
import { app } from '../../src/app.ts'
import { declaredTools, toolNames } from '../fixtures/mcp-tools.ts'
import { allowAt, redirectUri, type Tokens } from '../../engine/test/fixtures/oauth-app.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

const TRUSTED = 'https://pages.example.com'
const service = await startService({ ...(await settingsWithAddress()), TRUSTED_ORIGINS: TRUSTED })
const { url, call, authorizeAgent, post, postByRevision2026 } = createMcpCalls(service)
const metadata = `resource_metadata="${service.origin}/.well-known/oauth-protected-resource/mcp"`

/** Parses the JSON-RPC messages in the server-sent events of a response. */
const messagesIn = (body: unknown) =>
  String(body)
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as unknown)

describe('a request to /mcp', () => {
  let agent: Awaited<ReturnType<typeof authorizeAgent>>
  beforeAll(async () => {
    agent = await authorizeAgent()
  })

  test.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
    'initializes the revision %s',
    async (protocolVersion) => {
      const params = { protocolVersion, capabilities: {}, clientInfo: clientInfo }

      const { status, headers, body } = await post(agent.credentials, rpc('initialize', params))
      const notified = await post(agent.credentials, { jsonrpc: '2.0', method: 'notifications/initialized' })

      expect(status).toBe(200)
      expect(headers.get('mcp-session-id')).toBeNull()
      expect(body).toEqual({
        jsonrpc: '2.0',
        id: 1,
        result: {
          protocolVersion,
          capabilities: {
            tools: { listChanged: false },
            prompts: { listChanged: false },
            resources: { listChanged: false },
          },
          serverInfo: { name: 'tallystick', title: 'Tallystick', version: '1.0.0' },
          instructions: app.description,
        },
      })
      expect(notified).toMatchObject({ status: 202, body: '' })
    },
  )

  test('discovers the revision 2026-07-28', async () => {
    expect(await postByRevision2026(agent.credentials, 'server/discover')).toMatchObject({
      status: 200,
      body: {
        id: 1,
        result: {
          supportedVersions: ['2026-07-28'],
          capabilities: {
            tools: { listChanged: false },
            prompts: { listChanged: false },
            resources: { listChanged: false, subscribe: true },
          },
        },
      },
    })
  })

  test('is rejected with an unknown revision', async () => {
    const { status, body } = await post(
      { ...agent.credentials, 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' },
      rpc('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } }),
    )

    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { code: expect.any(Number) } })
  })

  test('cannot subscribe without a filter', async () => {
    expect(await postByRevision2026(agent.credentials, 'subscriptions/listen')).toMatchObject({
      body: { error: { code: -32602 } },
    })
  })

  test.each(['GET', 'DELETE', 'PUT'])('is rejected with the method %s', async (method) => {
    const { status, headers } = await call(method, '/mcp', undefined, agent.credentials)

    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('POST, OPTIONS')
  })

  test.each(['{', '"text"', '1', 'null', ''])('is rejected with the body %j', async (body) => {
    expect(await post(agent.credentials, body)).toMatchObject({
      status: 400,
      body: { jsonrpc: '2.0', id: null, error: { code: -32700 } },
    })
  })

  test('is rejected with an unknown RPC method', async () => {
    expect((await post(agent.credentials, rpc('completion/complete'))).body).toMatchObject({
      id: 1,
      error: { code: -32601 },
    })
  })

  test('for the prompts is answered with an empty list', async () => {
    expect((await post(agent.credentials, rpc('prompts/list'))).body).toMatchObject({
      result: { prompts: [] },
    })
  })

  test.each([
    ['application/json', 'application/json'],
    ['application/json, text/event-stream', 'application/json'],
    ['text/event-stream, application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
    ['text/*, image/png', 'text/event-stream'],
    ['application/json;q=0, */*', 'text/event-stream'],
    [undefined, 'application/json'],
  ])('with Accept: %s is answered with %s', async (accept, type) => {
    for (const send of [post, postByRevision2026]) {
      const headers = { ...agent.credentials, ...(accept !== undefined && { accept }) }
      const answer = await (send === post
        ? post(headers, rpc('tools/list'))
        : postByRevision2026(headers, 'tools/list'))

      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe(type)
      const [message] = type === 'application/json' ? [answer.body] : messagesIn(answer.body)
      expect(message).toMatchObject({ id: 1, result: { tools: expect.any(Array) } })
    }
  })

  test.each(['text/html', 'image/png', 'application/xml, text/plain', 'application/json;q=0'])(
    'with Accept: %s is rejected with 406',
    async (accept) => {
      expect(await post({ ...agent.credentials, accept }, rpc('tools/list'))).toMatchObject({ status: 406 })
    },
  )

  test('to subscribe is rejected with 406 if the client does not accept events', async () => {
    const headers = { ...agent.credentials, accept: 'application/json' }
    const notifications = { resourceSubscriptions: ['tallystick://tasks'] }

    expect(await postByRevision2026(headers, 'subscriptions/listen', { notifications })).toMatchObject({
      status: 406,
    })
  })

  test('may have a slash at the end of its path', async () => {
    const { status, body } = await call('POST', '/mcp/', rpc('tools/list'), { accept, ...agent.credentials })

    expect(status).toBe(200)
    expect(body).toMatchObject({ id: 1 })
    expect((await call('POST', '/mcp/', rpc('tools/list'), { accept })).headers.get('www-authenticate')).toBe(
      `Bearer ${metadata}`,
    )
    expect((await call('POST', '/mcp//', rpc('tools/list'), { accept })).status).toBe(404)
    expect((await call('POST', '/mcp/x', rpc('tools/list'), { accept })).status).toBe(404)
  })

  test('lists tools with input schemas that are objects with properties', async () => {
    const { body } = await post(agent.credentials, rpc('tools/list'))
    const { tools } = (body as { result: { tools: { inputSchema: object }[] } }).result

    expect(tools).toHaveLength(toolNames.length)
    for (const { inputSchema } of tools)
      expect(inputSchema).toMatchObject({ type: 'object', properties: expect.any(Object) })
  })

  test('gets the texts of a reservation in the language of Accept-Language', async () => {
    const params = { name: 'reservations_create', arguments: { name: 'Ada', guests: 0 } }

    const { headers, body } = await post(
      { ...agent.credentials, 'accept-language': 'uk' },
      rpc('tools/call', params),
    )

    expect(headers.get('content-language')).toBe('uk')
    expect(JSON.stringify(body)).toContain('Бронювання порушує одне з правил')
  })
})

describe('a batch', () => {
  let agent: Awaited<ReturnType<typeof authorizeAgent>>
  beforeAll(async () => {
    agent = await authorizeAgent()
  })
  const message = (id: number, method: string, params?: object) => ({ ...rpc(method, params), id })
  const use = (id: number, name: string, input = {}) => message(id, 'tools/call', { name, arguments: input })
  const notification = { jsonrpc: '2.0', method: 'notifications/initialized' }

  test('is answered with one list, in the order of its messages', async () => {
    const { status, headers, body } = await post(agent.credentials, [
      use(1, 'tasks_create', { taskTitle: 'First' }),
      notification,
      use(2, 'tasks_create', { taskTitle: 'Second' }),
      message(3, 'unknown'),
      use(4, 'tasks_list'),
    ])

    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(body).toMatchObject([
      { jsonrpc: '2.0', id: 1, result: { structuredContent: { title: 'First' } } },
      { jsonrpc: '2.0', id: 2, result: { structuredContent: { title: 'Second' } } },
      { jsonrpc: '2.0', id: 3, error: { code: -32601 } },
      { jsonrpc: '2.0', id: 4, result: { structuredContent: { taskCount: 2 } } },
    ])
  })

  test('is answered with one event for each message if the client accepts only events', async () => {
    const headers = { ...agent.credentials, accept: 'text/event-stream' }

    const { body } = await post(headers, [use(1, 'counter_get'), use(2, 'counter_get')])

    expect(messagesIn(body)).toMatchObject([{ id: 1 }, { id: 2 }])
  })

  test('of notifications is answered with 202', async () => {
    expect(await post(agent.credentials, [notification, notification])).toMatchObject({
      status: 202,
      body: '',
    })
  })

  test('contains the error of a call that needs a scope the token lacks', async () => {
    const { credentials } = await grants.read

    const { status, body } = await post(credentials, [
      use(1, 'tasks_create', { taskTitle: 'Not allowed' }),
      use(2, 'tasks_list'),
    ])

    expect(status).toBe(200)
    expect(body).toMatchObject([
      { id: 1, error: { message: expect.stringMatching(/scope/i) } },
      { id: 2, result: { structuredContent: { taskCount: 0 } } },
    ])
  })

  test.each([
    [message(1, 'initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo })],
    [
      message(1, 'subscriptions/listen', {
        notifications: { resourceSubscriptions: ['tallystick://tasks'] },
      }),
    ],
    [[]],
    ['text'],
    [null],
    [{ id: 1 }],
  ])('contains an error for %j', async (element) => {
    const { status, body } = await post(agent.credentials, [element, use(2, 'counter_get')])

    expect(status).toBe(200)
    expect(body).toMatchObject([{ error: { code: expect.any(Number) } }, { id: 2, result: {} }])
  })

  test.each([
    ['no message', [], {}],
    ['eleven messages', Array.from({ length: 11 }, (_, id) => use(id, 'counter_get')), {}],
    ['a later revision', [use(1, 'counter_get')], { 'mcp-protocol-version': '2025-06-18' }],
  ])('with %s is rejected', async (_, messages, headers) => {
    expect(await post({ ...agent.credentials, ...headers }, messages)).toMatchObject({
      status: 400,
      body: { jsonrpc: '2.0', id: null, error: { code: -32600 } },
    })
  })

  test('counts each message against the rate limit of its procedure', async () => {
    const limited = createMcpCalls(
      await startService({ ...(await settingsWithAddress()), RATE_LIMITS: 'on', LIMITS: 'writes=3' }),
    )
    const { credentials } = await limited.authorizeAgent()

    const { body } = await limited.post(
      credentials,
      [1, 2, 3, 4, 5].map((id) => use(id, 'tasks_create', { taskTitle: `Task ${id}` })),
    )

    const refused = (body as { result: { isError?: true } }[]).map(({ result }) => result.isError ?? false)
    expect(refused).toEqual([false, false, false, true, true])
  })
})

const grants = { read: authorizeAgent({ scope: 'read' }), write: authorizeAgent({ scope: 'write' }) }

describe('the token of an agent', () => {
  const challenge = async (headers: Record<string, string>, body: unknown = rpc('tools/list')) => {
    const answer = await post(headers, body)
    return { status: answer.status, challenge: answer.headers.get('www-authenticate') }
  }

  test('is required, and the challenge names the metadata', async () => {
    expect(await challenge({})).toEqual({ status: 401, challenge: `Bearer ${metadata}` })
    expect(await challenge({}, '{')).toMatchObject({ status: 401 })
    expect((await call('GET', '/.well-known/oauth-protected-resource/mcp')).body).toMatchObject({
      resource: url,
      authorization_servers: [service.origin],
    })
  })

  test.each([
    ['Bearer none', ', error="invalid_token"'],
    ['Bearer', ', error="invalid_token"'],
    ['Basic YTpi', ''],
  ])('is not accepted as %s', async (authorization, error) => {
    expect(await challenge({ authorization })).toEqual({
      status: 401,
      challenge: `Bearer ${metadata}${error}`,
    })
  })

  test('is not replaced by a cookie', async () => {
    const { cookie } = await signInOverHttp(service, newEmail())

    expect(await challenge({ cookie })).toEqual({ status: 401, challenge: `Bearer ${metadata}` })
  })

  test('is accepted only by the resource it was issued for', async () => {
    const [forService, forMcp] = [await authorizeAgent({ resource: service.origin }), await authorizeAgent()]

    expect((await call('GET', '/api/tasks', undefined, forService.credentials)).status).toBe(200)
    expect((await post(forMcp.credentials, rpc('tools/list'))).status).toBe(200)

    expect(await challenge(forService.credentials)).toMatchObject({ status: 401 })
    expect((await call('GET', '/api/tasks', undefined, forMcp.credentials)).status).toBe(401)
  })

  describe.each([
    ['the 2025 revision', undefined] as const,
    ['the 2026 revision', postByRevision2026] as const,
  ])('by %s', (_, send) => {
    const use = (credentials: Record<string, string>, name: string) =>
      send
        ? send(credentials, 'tools/call', { name })
        : post(credentials, rpc('tools/call', { name, arguments: {} }))

    test.each(declaredTools)('calls $name only with the scope $scope', async ({ name, scope, access }) => {
      expect(access === 'signedIn').toBe(scope !== undefined)
      for (const granted of ['read', 'write']) {
        const { credentials } = await grants[granted as 'read']
        const { status, headers } = await use(credentials, name)
        const enough = scope === undefined || scope === granted
        expect(status, granted).toBe(enough ? 200 : 403)
        if (enough) continue
        const challenge = headers.get('www-authenticate')
        expect(challenge).toContain('error="insufficient_scope"')
        expect(challenge).toContain(`scope="${scope}"`)
        expect(challenge).toContain(metadata)
      }
    })
  })
})

describe('a request of a browser', () => {
  /** Sends a request with node:http, because fetch overwrites the Host header. */
  const requestStatus = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const type = { 'content-type': 'application/json', accept }
      request(url, { method: 'POST', headers: { ...type, ...agent.credentials, ...headers } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end(JSON.stringify(rpc('tools/list')))
    })
  let agent: Awaited<ReturnType<typeof authorizeAgent>>
  beforeAll(async () => {
    agent = await authorizeAgent()
  })

  test.each([
    [200, 'localhost'],
    [200, '127.0.0.1:3000'],
    [200, '[::1]'],
    [403, 'evil.example.com'],
    [403, '127.0.0.1.nip.io'],
  ])('is answered with %d for the host %s', async (expected, host) => {
    expect(await requestStatus({ host })).toBe(expected)
  })

  test.each([service.origin, TRUSTED, 'https://evil.example.com', 'null'])(
    'is answered with 200 from the origin %s, with its token, and with a cookie that does not count',
    async (origin) => {
      const { cookie } = await signInOverHttp(service, newEmail())

      expect(await requestStatus({ origin })).toBe(200)
      expect(await requestStatus({ origin, cookie })).toBe(200)
      expect(await requestStatus({ origin, cookie, 'sec-fetch-site': 'cross-site' })).toBe(200)
      expect(await requestStatus({ origin, cookie, authorization: 'none' })).toBe(401)
    },
  )

  const other = { origin: 'https://pages.example.org' }

  test('of another origin may be preceded by a preflight without a token', async () => {
    const { status, headers } = await call('OPTIONS', '/mcp', undefined, {
      ...other,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,mcp-protocol-version,mcp-name',
    })

    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    expect(headers.get('access-control-allow-methods')).toBe('POST')
    expect(headers.get('access-control-allow-headers')).toBe(
      'authorization,content-type,mcp-protocol-version,mcp-name',
    )
  })

  test.each([
    ['an answer', 200, () => agent.credentials, rpc('tools/list')],
    ['the challenge', 401, () => ({}), rpc('tools/list')],
    ['an error', 400, () => agent.credentials, '{'],
    ['a refusal of its media type', 415, () => ({ ...agent.credentials, 'content-type': 'text/plain' }), 'x'],
  ])('of another origin can read %s', async (_, expected, headers, body) => {
    const answer = await post({ ...other, ...headers() }, body)

    expect(answer.status).toBe(expected)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    const exposed = answer.headers.get('access-control-expose-headers')?.split(',')
    expect(exposed).toEqual(
      expect.arrayContaining(['www-authenticate', 'mcp-session-id', 'mcp-protocol-version']),
    )
  })

  test('of another origin cannot read an answer of other paths', async () => {
    for (const path of ['/api/status', '/rpc/counter/get', '/mcp/x'])
      expect(
        (await call('GET', path, undefined, other)).headers.get('access-control-allow-origin'),
      ).toBeNull()
  })
})

/** Creates an OAuth provider for an SDK client. The provider starts without a client id and without tokens. */
function createProvider() {
  const stored: { client?: { client_id: string }; tokens?: StoredTokens; verifier?: string; url?: URL } = {}
  const provider = {
    redirectUrl: redirectUri,
    clientMetadata: { redirect_uris: [redirectUri], client_name: 'An agent' },
    clientInformation: () => stored.client,
    saveClientInformation: (client: { client_id: string }) => void (stored.client = client),
    tokens: () => stored.tokens,
    saveTokens: (tokens: StoredTokens) => void (stored.tokens = tokens),
    redirectToAuthorization: (authorizationUrl: URL) => void (stored.url = authorizationUrl),
    saveCodeVerifier: (verifier: string) => void (stored.verifier = verifier),
    codeVerifier: () => stored.verifier ?? '',
  }
  return { stored, provider }
}

type StoredTokens = Pick<Tokens, 'access_token' | 'token_type'> & { refresh_token?: string; scope?: string }

/** Signs a new person in and grants consent to an agent. Returns the parameters of the redirect to the agent. */
async function allow(authorizationUrl?: URL) {
  const { cookie } = await signInOverHttp(service, newEmail())
  return (await allowAt(authorizationUrl ?? '', cookie)).searchParams
}

describe('an agent that knows only the URL', () => {
  test('is authorized through the 2.x SDK', async () => {
    const { stored, provider } = createProvider()
    const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider })
    const first = transport()
    await expect(new Client(clientInfo).connect(first)).rejects.toThrow()
    await first.finishAuth(await allow(stored.url))

    const client = new Client(clientInfo)
    await client.connect(transport())
    onTestFinished(() => client.close())

    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(toolNames)
    expect(await client.callTool({ name: 'tasks_list', arguments: {} })).toMatchObject({
      structuredContent: { tasks: [], taskCount: 0 },
    })
  })

  test('is authorized through the 1.x SDK', async () => {
    const { stored, provider } = createProvider()
    const transport = () => new OldTransport(new URL(url), { authProvider: provider })
    const first = transport()
    await expect(new OldClient(clientInfo).connect(first)).rejects.toThrow()
    await first.finishAuth((await allow(stored.url)).get('code') ?? '')

    const client = new OldClient(clientInfo)
    await client.connect(transport())
    onTestFinished(() => client.close())

    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(toolNames)
  })
})
