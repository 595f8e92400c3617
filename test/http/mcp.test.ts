import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { request } from 'node:http'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import { signInOverHttp } from '../fixtures/http.ts'
import { accept, clientInfo, createMcpCalls, declaredTools, rpc, toolNames } from '../fixtures/mcp-agent.ts'
import { allowAt, redirectUri, type Tokens } from '../fixtures/oauth-app.ts'
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
      expect(messagesIn(body)).toEqual([
        {
          jsonrpc: '2.0',
          id: 1,
          result: {
            protocolVersion,
            capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
            serverInfo: { name: 'tallystick', title: 'Tallystick', version: '1.0.0' },
          },
        },
      ])
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

  test.each(['{', '[]', `[${JSON.stringify(rpc('tools/list'))}]`, '"text"', ''])(
    'is rejected with the body %j',
    async (body) => {
      expect(await post(agent.credentials, body)).toMatchObject({
        status: 400,
        body: { jsonrpc: '2.0', id: null, error: { code: -32700 } },
      })
    },
  )

  test('is rejected with an unknown RPC method', async () => {
    expect(messagesIn((await post(agent.credentials, rpc('prompts/list'))).body)).toMatchObject([
      { id: 1, error: { code: -32601 } },
    ])
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

  test.each([
    [200, service.origin],
    [200, TRUSTED],
    [403, 'https://evil.example.com'],
    [403, 'null'],
  ])('is answered with %d from the origin %s', async (expected, origin) => {
    expect(await requestStatus({ origin })).toBe(expected)
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
