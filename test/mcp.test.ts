import { Client, type Tool } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { traverseContractProcedures } from '@orpc/server'
import { request } from 'node:http'
import * as openid from 'openid-client'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { metaOf } from '../contract/base.ts'
import { contract } from '../contract/index.ts'
import { createDocument } from '../src/openapi/document.ts'
import { settingsWithAddress, newEmail, startService } from './service.ts'
import { createFetch, signInOverHttp } from './http.ts'

const page = 'https://pages.example.com'
const service = await startService({ ...(await settingsWithAddress()), TRUSTED_ORIGINS: page })
const call = createFetch(service)
const mcp = `${service.origin}/mcp`
const metadata = `resource_metadata="${service.origin}/.well-known/oauth-protected-resource/mcp"`

/** An app that somebody lets in, as a browser would without scripts: what it may send, and how its grant ends. */
async function letIn({ scope = 'read write', resource = mcp, email = newEmail() } = {}) {
  const redirectUri = 'http://127.0.0.1:9/callback'
  const config = await openid.dynamicClientRegistration(
    new URL(service.origin),
    { redirect_uris: [redirectUri], client_name: 'An agent', token_endpoint_auth_method: 'none' },
    openid.None(),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- loopback needs no TLS
    { execute: [openid.allowInsecureRequests], algorithm: 'oauth2' },
  )
  const { cookie } = await signInOverHttp(service, email)
  const pkceCodeVerifier = openid.randomPKCECodeVerifier()
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    resource,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
  const back = await fetch(url, { method: 'POST', redirect: 'manual', headers, body: 'action=allow' })
  const location = new URL(back.headers.get('location') ?? '')
  const tokens = await openid.authorizationCodeGrant(config, location, { pkceCodeVerifier }, { resource })
  return {
    cookie,
    bearer: { authorization: `Bearer ${tokens.access_token}` },
    revoke: () => openid.tokenRevocation(config, tokens.refresh_token ?? ''),
  }
}

interface Result {
  content: unknown
  structuredContent?: unknown
  isError?: boolean
}

/** An agent, by whichever client. What the clients know of tools makes them check every answer. */
interface Agent {
  tools: Tool[]
  call: (name: string, input?: Record<string, unknown>) => Promise<Result>
}

const identity = { name: 'test', version: '1.0.0' }

const connectNew = (mode: 'legacy' | { pin: string }) => async (headers: Record<string, string>) => {
  const client = new Client(identity, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  const { tools } = await client.listTools()
  const agent: Agent = {
    tools,
    call: (name, input) => client.callTool({ name, arguments: input }),
  }
  return agent
}

const clients: Record<string, (headers: Record<string, string>) => Promise<Agent>> = {
  'the 2.x SDK, by the 2026 revision': connectNew({ pin: '2026-07-28' }),
  'the 2.x SDK, by the 2025 revision': connectNew('legacy'),
  'the 1.x SDK': async (headers) => {
    const client = new OldClient(identity)
    await client.connect(new OldTransport(new URL(mcp), { requestInit: { headers } }))
    onTestFinished(() => client.close())
    const { tools } = await client.listTools()
    return {
      tools: tools as Tool[],
      call: async (name, input) => (await client.callTool({ name, arguments: input })) as Result,
    }
  },
}

/** The procedures that the contract makes tools. */
const declared: { name: string; scope: string | undefined; access: string | undefined }[] = []
traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
  const { tool, scope, access } = metaOf(procedure)
  if (tool) declared.push({ name: path.join('_'), scope, access })
})

const names = [
  ...['counter_get', 'counter_increment', 'counter_decrement', 'counter_set', 'counter_reset'],
  ...['tasks_list', 'tasks_create', 'tasks_get', 'tasks_update', 'tasks_delete', 'tasks_reset'],
  ...['notes_list', 'notes_create', 'notes_update', 'notes_share', 'notes_delete'],
  'reservations_create',
]

interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  required?: string[]
}
interface Operation {
  operationId: string
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content: Record<string, { schema: Schema }> }>
}

/** What the OpenAPI document says that an operation takes as input, wherever in a request, and what it answers. */
async function promised() {
  const document: unknown = JSON.parse(JSON.stringify(await createDocument()))
  const { paths, components } = document as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, Schema> }
  }
  const follow = (json: unknown): unknown => {
    if (Array.isArray(json)) return json.map(follow)
    if (typeof json !== 'object' || json === null) return json
    if ('$ref' in json) return follow(components.schemas[String(json.$ref).split('/').at(-1) ?? ''])
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, follow(value)]))
  }
  return Object.fromEntries(
    Object.values(paths)
      .flatMap((item) => Object.values(item))
      .map(({ operationId, parameters = [], requestBody, responses }) => {
        const body = follow(requestBody?.content['application/json']?.schema ?? {}) as Schema
        const inputs = parameters.filter((one) => one.in !== 'header')
        const properties = {
          ...body.properties,
          ...Object.fromEntries(inputs.map(({ name, schema }) => [name, follow(schema)])),
        }
        const required = [
          ...(body.required ?? []),
          ...inputs.filter((one) => one.required).map(({ name }) => name),
        ].sort()
        const output = follow(responses['200']?.content['application/json']?.schema)
        return [operationId, { properties, required, output }]
      }),
  )
}

const failure = (name: string) => (result: Result) => {
  const [{ text } = { text: '' }] = result.content as { text: string }[]
  expect(result, name).toMatchObject({ isError: true })
  expect(result.structuredContent).toBeUndefined()
  return JSON.parse(text) as unknown
}

describe.each(Object.entries(clients))('%s', (_, connect) => {
  test('lists the tools of the contract, in its order', async () => {
    const { bearer } = await letIn()
    const { tools } = await connect(bearer)

    expect(tools.map(({ name }) => name)).toEqual(names)
    expect(declared.map(({ name }) => name)).toEqual(names)
    for (const { name, title, description, annotations } of tools) {
      expect(title, name).toBeTruthy()
      expect(description, name).toBeTruthy()
      expect(annotations, name).toEqual({
        title,
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: false,
      })
    }
    const hinted = (hint: 'readOnlyHint' | 'destructiveHint') =>
      tools.filter(({ annotations }) => annotations?.[hint]).map(({ name }) => name)
    expect(hinted('readOnlyHint')).toEqual([
      ...['counter_get', 'tasks_list', 'tasks_get', 'notes_list', 'reservations_create'],
    ])
    expect(hinted('destructiveHint')).toEqual([
      ...['counter_set', 'counter_reset', 'tasks_update', 'tasks_delete', 'tasks_reset'],
      ...['notes_update', 'notes_share', 'notes_delete'],
    ])
  })

  test('is told the schemas of the OpenAPI document', async () => {
    const { bearer } = await letIn()
    const { tools } = await connect(bearer)
    const operations = await promised()

    for (const { name, inputSchema, outputSchema } of tools) {
      const { properties, required, output } = operations[name] ?? {}
      expect(inputSchema.type, name).toBe('object')
      expect(inputSchema.properties ?? {}, name).toEqual(properties)
      expect([...(inputSchema.required ?? [])].sort(), name).toEqual(required)
      expect(outputSchema, name).toEqual(output)
    }
  })

  test('calls every tool', async () => {
    const { bearer } = await letIn()
    const agent = await connect(bearer)
    const called = new Set<string>()
    const use = async (name: string, input?: Record<string, unknown>) => {
      called.add(name)
      const { content, structuredContent, isError } = await agent.call(name, input)
      expect(isError, name).toBeFalsy()
      expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }])
      return structuredContent as Record<string, unknown>
    }

    expect(await use('counter_set', { inputValue: 41 })).toEqual({ count: 41 })
    expect(await use('counter_increment')).toEqual({ count: 42 })
    expect(await use('counter_decrement', {})).toEqual({ count: 41 })
    expect(await use('counter_get')).toEqual({ count: 41 })
    expect(await use('counter_reset')).toEqual({ count: 0 })

    const { id } = await use('tasks_create', { taskTitle: 'One' })
    await use('tasks_create', { taskTitle: 'Two', taskDesc: 'More' })
    expect(await use('tasks_get', { id })).toMatchObject({ title: 'One', description: null })
    expect(await use('tasks_update', { id, status: 'completed' })).toMatchObject({ status: 'completed' })
    expect(await use('tasks_list')).toMatchObject({ taskCount: 2 })
    expect(await use('tasks_list', { status: 'completed' })).toMatchObject({ taskCount: 1 })
    expect(await use('tasks_delete', { id })).toEqual({ success: true })
    expect(await use('tasks_reset')).toEqual({ taskCount: 0 })

    const note = await use('notes_create', { title: 'Plan', body: '' })
    await use('notes_update', { id: note.id, title: 'Plan B', body: 'Text' })
    expect(await use('notes_share', { id: note.id, email: newEmail(), role: 'reader' })).toMatchObject({
      sharedWith: 1,
    })
    expect(await use('notes_list')).toMatchObject({ notes: [{ title: 'Plan B', mine: true }] })
    expect(await use('notes_delete', { id: note.id })).toEqual({ id: note.id })

    await use('reservations_create', { name: 'Ada', guests: 2 })
    expect([...called].sort()).toEqual([...names].sort())
  })

  test('goes through a list page by page', async () => {
    const { bearer } = await letIn()
    const { call } = await connect(bearer)
    for (const taskTitle of ['One', 'Two', 'Three']) await call('tasks_create', { taskTitle })

    const first = await call('tasks_list', { limit: 2 })
    const [shown, more] = first.content as { text: string }[]
    const next = JSON.parse(more?.text ?? '{}') as { nextCursor: string }
    const last = await call('tasks_list', { limit: 2, cursor: next.nextCursor })

    expect(first.structuredContent).toMatchObject({
      tasks: [{ title: 'Three' }, { title: 'Two' }],
      taskCount: 3,
    })
    expect(JSON.parse(shown?.text ?? '')).toEqual(first.structuredContent)
    expect(last.structuredContent).toMatchObject({ tasks: [{ title: 'One' }], taskCount: 3 })
    expect(last.content).toHaveLength(1)
  })

  test('acts for the person who let it in, and nobody else', async () => {
    const email = newEmail()
    const [ada, bob] = [await letIn({ email }), await letIn()]
    const { structuredContent } = await (
      await connect(ada.bearer)
    ).call('tasks_create', { taskTitle: 'Hers' })
    const { id } = structuredContent as { id: number }

    const refused = await (await connect(bob.bearer)).call('tasks_get', { id })

    expect(failure('tasks_get')(refused)).toEqual({ code: 'NOT_FOUND', message: 'Task not found' })
    expect(await (await service.person(email)).tasks.get({ id })).toMatchObject({ title: 'Hers' })
  })

  test('is told what was wrong with its input', async () => {
    const { bearer } = await letIn()
    const agent = await connect(bearer)

    expect(failure('empty')(await agent.call('tasks_create', { taskTitle: '' }))).toEqual({
      code: 'BAD_REQUEST',
      message: 'Input validation failed',
      data: { issues: [{ path: 'taskTitle', message: 'Must have at least 1 character' }] },
    })
    expect(failure('missing')(await agent.call('tasks_get'))).toMatchObject({ code: 'BAD_REQUEST' })
    expect(failure('rule')(await agent.call('reservations_create', { name: 'Ada', guests: 99 }))).toEqual({
      code: 'INVALID_RESERVATION',
      message: expect.any(String),
      data: { guests: expect.any(String) },
    })
  })

  test('is told nothing of a failure of ours, and the log is told all', async () => {
    const { bearer } = await letIn()
    const agent = await connect(bearer)
    const error = vi.spyOn(service.services.log, 'error').mockImplementation(() => undefined)
    onTestFinished(() => {
      error.mockRestore()
    })
    const { db } = service.services
    const remove = vi.spyOn(db, 'delete').mockImplementation(() => {
      throw new Error('secret')
    })
    const result = await agent.call('tasks_reset', {}).finally(() => {
      remove.mockRestore()
    })

    expect(failure('tasks_reset')(result)).toEqual({
      code: 'INTERNAL_SERVER_ERROR',
      message: 'Internal Server Error',
    })
    expect(error).toHaveBeenCalledWith(
      expect.objectContaining({ procedure: 'tasks.reset' }),
      expect.anything(),
    )
  })

  test('is refused a tool that there is not', async () => {
    const { bearer } = await letIn()
    const agent = await connect(bearer)

    await expect(agent.call('sessions_list')).rejects.toMatchObject({ code: -32602 })
  })

  test('is refused from the first call after its grant was revoked', async () => {
    const { bearer, revoke } = await letIn()
    const agent = await connect(bearer)
    await agent.call('tasks_list')

    await revoke()

    await expect(agent.call('tasks_list')).rejects.toThrow()
    expect((await post(bearer, rpc('tools/list'))).status).toBe(401)
  })

  test('may not write with a token to read', async () => {
    const { bearer } = await letIn({ scope: 'read' })
    const agent = await connect(bearer)

    expect(await agent.call('tasks_list')).toMatchObject({ structuredContent: { taskCount: 0 } })
    await expect(agent.call('tasks_create', { taskTitle: 'One' })).rejects.toThrow()
    expect(await agent.call('tasks_list')).toMatchObject({ structuredContent: { taskCount: 0 } })
  })
})

const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
const accept = 'application/json, text/event-stream'

const post = (headers: Record<string, string>, body?: unknown) =>
  call('POST', '/mcp', body, { accept, ...headers })

/** A call by the 2026 revision, by hand: what it is about stands in the headers too. */
const modern = (bearer: Record<string, string>, method: string, params: { name?: string } = {}) =>
  post(
    {
      ...bearer,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(params.name && { 'mcp-name': params.name }),
    },
    rpc(method, {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': identity,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    }),
  )

/** The messages of an answer that is a stream of events. */
const messages = (body: unknown) =>
  String(body)
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as unknown)

describe('by hand', () => {
  let app: Awaited<ReturnType<typeof letIn>>
  beforeAll(async () => {
    app = await letIn()
  })

  test.each(['2025-03-26', '2025-06-18', '2025-11-25'])('initialises by %s', async (protocolVersion) => {
    const params = { protocolVersion, capabilities: {}, clientInfo: identity }
    const { status, headers, body } = await post(app.bearer, rpc('initialize', params))

    expect(status).toBe(200)
    expect(headers.get('mcp-session-id')).toBeNull()
    expect(messages(body)).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          protocolVersion,
          capabilities: { tools: { listChanged: false } },
          serverInfo: { name: 'tallystick', title: 'Tallystick', version: '1.0.0' },
        },
      },
    ])
    const notified = await post(app.bearer, { jsonrpc: '2.0', method: 'notifications/initialized' })
    expect(notified).toMatchObject({ status: 202, body: '' })
  })

  test('is discovered by 2026-07-28', async () => {
    expect(await modern(app.bearer, 'server/discover')).toMatchObject({
      status: 200,
      body: {
        id: 1,
        result: { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: false } } },
      },
    })
  })

  test('is not known by a revision to come', async () => {
    const { status, body } = await post(
      { ...app.bearer, 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' },
      rpc('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } }),
    )

    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { code: expect.any(Number) } })
  })

  test('has nothing to listen for', async () => {
    expect(await modern(app.bearer, 'subscriptions/listen')).toMatchObject({
      body: { error: { code: -32603 } },
    })
  })

  test.each(['GET', 'DELETE', 'PUT'])('refuses %s', async (method) => {
    const { status, headers } = await call(method, '/mcp', undefined, app.bearer)

    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('POST')
  })

  test.each(['{', '[]', `[${JSON.stringify(rpc('tools/list'))}]`, '"text"', ''])(
    'refuses %j',
    async (body) => {
      expect(await post(app.bearer, body)).toMatchObject({
        status: 400,
        body: { jsonrpc: '2.0', id: null, error: { code: -32700 } },
      })
    },
  )

  test('refuses a method that there is not', async () => {
    expect(messages((await post(app.bearer, rpc('prompts/list'))).body)).toMatchObject([
      { id: 1, error: { code: -32601 } },
    ])
  })

  test('words a reservation in the language asked for', async () => {
    const params = { name: 'reservations_create', arguments: { name: 'Ada', guests: 0 } }
    const { headers, body } = await post(
      { ...app.bearer, 'accept-language': 'uk' },
      rpc('tools/call', params),
    )

    expect(headers.get('content-language')).toBe('uk')
    expect(JSON.stringify(body)).toContain('Бронювання порушує одне з правил')
  })
})

describe('a token', () => {
  const challenge = async (headers: Record<string, string>, body: unknown = rpc('tools/list')) => {
    const answer = await post(headers, body)
    return { status: answer.status, challenge: answer.headers.get('www-authenticate') }
  }

  test('is asked for, and where to get one is told', async () => {
    expect(await challenge({})).toEqual({ status: 401, challenge: `Bearer ${metadata}` })
    expect(await challenge({}, '{')).toMatchObject({ status: 401 })
    expect((await call('GET', '/.well-known/oauth-protected-resource/mcp')).body).toMatchObject({
      resource: mcp,
      authorization_servers: [service.origin],
    })
  })

  test.each([
    ['Bearer none', ', error="invalid_token"'],
    ['Bearer', ', error="invalid_token"'],
    ['Basic YTpi', ''],
  ])('is not %s', async (authorization, error) => {
    expect(await challenge({ authorization })).toEqual({
      status: 401,
      challenge: `Bearer ${metadata}${error}`,
    })
  })

  test('is not a cookie', async () => {
    const { cookie } = await signInOverHttp(service, newEmail())

    expect(await challenge({ cookie })).toEqual({ status: 401, challenge: `Bearer ${metadata}` })
  })

  test('is good only where it was issued for', async () => {
    const [forService, forMcp] = [await letIn({ resource: service.origin }), await letIn()]

    expect((await call('GET', '/api/tasks', undefined, forService.bearer)).status).toBe(200)
    expect((await post(forMcp.bearer, rpc('tools/list'))).status).toBe(200)

    expect(await challenge(forService.bearer)).toMatchObject({ status: 401 })
    expect((await call('GET', '/api/tasks', undefined, forMcp.bearer)).status).toBe(401)
  })

  describe.each([['the 2025 revision', undefined] as const, ['the 2026 revision', modern] as const])(
    'by %s',
    (_, send) => {
      const use = (bearer: Record<string, string>, name: string) =>
        send ? send(bearer, 'tools/call', { name }) : post(bearer, rpc('tools/call', { name, arguments: {} }))

      test.each(declared)('calls $name only with its scope, $scope', async ({ name, scope, access }) => {
        expect(access === 'signedIn').toBe(scope !== undefined)
        for (const granted of ['read', 'write']) {
          const { bearer } = await grants[granted as 'read']
          const { status, headers } = await use(bearer, name)
          const enough = scope === undefined || scope === granted
          expect(status, granted).toBe(enough ? 200 : 403)
          if (enough) continue
          const told = headers.get('www-authenticate')
          expect(told).toContain('error="insufficient_scope"')
          expect(told).toContain(`scope="${scope}"`)
          expect(told).toContain(metadata)
        }
      })
    },
  )
})

const grants = { read: letIn({ scope: 'read' }), write: letIn({ scope: 'write' }) }

describe('a page', () => {
  /** fetch sets Host itself. */
  const status = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { bearer } = app
      const type = { 'content-type': 'application/json', accept }
      request(mcp, { method: 'POST', headers: { ...type, ...bearer, ...headers } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end(JSON.stringify(rpc('tools/list')))
    })
  let app: Awaited<ReturnType<typeof letIn>>
  beforeAll(async () => {
    app = await letIn()
  })

  test.each([
    [200, 'localhost'],
    [200, '127.0.0.1:3000'],
    [200, '[::1]'],
    [403, 'evil.example.com'],
    [403, '127.0.0.1.nip.io'],
  ])('is answered with %d under the name %s', async (expected, host) => {
    expect(await status({ host })).toBe(expected)
  })

  test.each([
    [200, service.origin],
    [200, page],
    [403, 'https://evil.example.com'],
    [403, 'null'],
  ])('is answered with %d from %s', async (expected, origin) => {
    expect(await status({ origin })).toBe(expected)
  })
})

/** What an agent keeps of its own: nothing before it is first let in. */
function memory() {
  const kept: { client?: { client_id: string }; tokens?: Tokens; verifier?: string; address?: URL } = {}
  const redirectUrl = 'http://127.0.0.1:9/callback'
  const provider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], client_name: 'An agent' },
    clientInformation: () => kept.client,
    saveClientInformation: (client: { client_id: string }) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens: Tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (address: URL) => void (kept.address = address),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
  }
  return { kept, provider }
}

interface Tokens {
  access_token: string
  token_type: string
  refresh_token?: string
  scope?: string
}

/** Opens the address that an agent was told to open, as somebody who lets it in. */
async function allow(address?: URL) {
  const { cookie } = await signInOverHttp(service, newEmail())
  const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
  const response = await fetch(address ?? '', {
    method: 'POST',
    redirect: 'manual',
    headers,
    body: 'action=allow',
  })
  return new URL(response.headers.get('location') ?? '').searchParams
}

describe('an agent that knows nothing but the address', () => {
  test('is let in through the 2.x SDK', async () => {
    const { kept, provider } = memory()
    const transport = () => new StreamableHTTPClientTransport(new URL(mcp), { authProvider: provider })
    const first = transport()
    await expect(new Client(identity).connect(first)).rejects.toThrow()
    await first.finishAuth(await allow(kept.address))

    const client = new Client(identity)
    await client.connect(transport())
    onTestFinished(() => client.close())

    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names)
    expect(await client.callTool({ name: 'tasks_list', arguments: {} })).toMatchObject({
      structuredContent: { tasks: [], taskCount: 0 },
    })
  })

  test('is let in through the 1.x SDK', async () => {
    const { kept, provider } = memory()
    const transport = () => new OldTransport(new URL(mcp), { authProvider: provider })
    const first = transport()
    await expect(new OldClient(identity).connect(first)).rejects.toThrow()
    await first.finishAuth((await allow(kept.address)).get('code') ?? '')

    const client = new OldClient(identity)
    await client.connect(transport())
    onTestFinished(() => client.close())

    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names)
  })
})
