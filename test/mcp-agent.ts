import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { traverseContractProcedures } from '@orpc/server'
import * as openid from 'openid-client'
import { onTestFinished } from 'vitest'

import { type Meta, metaOf } from '../contract/base.ts'
import { contract } from '../contract/index.ts'
import { createFetch, signInOverHttp } from './http.ts'
import { allowAt, bearer, discoverAndRegister, redirectUri } from './oauth-app.ts'
import { newEmail, type Service } from './service.ts'

/** The procedures that the contract declares as tools. */
export const declaredTools: ({ name: string } & Pick<Meta, 'scope' | 'access'>)[] = []
traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
  const { tool, scope, access } = metaOf(procedure)
  if (tool) declaredTools.push({ name: path.join('_'), scope, access })
})

/** The names of the expected tools, in the order of the contract. */
export const toolNames = [
  ...['counter_get', 'counter_increment', 'counter_decrement', 'counter_set', 'counter_reset'],
  ...['tasks_list', 'tasks_create', 'tasks_get', 'tasks_update', 'tasks_delete', 'tasks_reset'],
  ...['notes_list', 'notes_create', 'notes_update', 'notes_share', 'notes_delete'],
  'reservations_create',
]

export interface Result {
  content: unknown
  structuredContent?: unknown
  isError?: boolean
}

/** A connected client. The client validates every result with the schemas of the tools. */
export interface Agent {
  tools: Tool[]
  call: (name: string, input?: Record<string, unknown>) => Promise<Result>
}

export const clientInfo = { name: 'test', version: '1.0.0' }

export const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
export const accept = 'application/json, text/event-stream'

interface Parameters2026 {
  name?: string
  uri?: string
  notifications?: object
}

/** Returns a request in the format of the MCP revision of 2026, which repeats the method and the name in headers. */
export function requestByRevision2026(method: string, params: Parameters2026 = {}) {
  const name = params.name ?? params.uri
  return {
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name && { 'mcp-name': name }),
    },
    body: rpc(method, {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': clientInfo,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    }),
  }
}

export function createMcpCalls(service: Service) {
  const call = createFetch(service)
  const url = `${service.origin}/mcp`

  /** Authorizes an app with openid-client. Returns its credentials, and a function that revokes its grant. */
  async function authorizeAgent({ scope = 'read write', resource = url, email = newEmail() } = {}) {
    const config = await discoverAndRegister(service.origin, 'An agent')
    const { cookie } = await signInOverHttp(service, email)
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const authorizationUrl = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      resource,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    const redirect = await allowAt(authorizationUrl, cookie)
    const tokens = await openid.authorizationCodeGrant(config, redirect, { pkceCodeVerifier }, { resource })
    return {
      credentials: bearer(tokens),
      revoke: () => openid.tokenRevocation(config, tokens.refresh_token ?? ''),
    }
  }

  const post = (headers: Record<string, string>, body?: unknown) =>
    call('POST', '/mcp', body, { accept, ...headers })

  const postByRevision2026 = (
    credentials: Record<string, string>,
    method: string,
    params?: Parameters2026,
  ) => {
    const { headers, body } = requestByRevision2026(method, params)
    return post({ ...credentials, ...headers }, body)
  }

  return { url, call, authorizeAgent, post, postByRevision2026, clients: createClients(url) }
}

type Connect = (headers: Record<string, string>) => Promise<Agent>

/** Creates a connect function for each supported client library. A client closes at the end of the test. */
function createClients(url: string): Record<string, Connect> {
  const connectWith =
    (mode: 'legacy' | { pin: string }): Connect =>
    async (headers) => {
      const client = new Client(clientInfo, { versionNegotiation: { mode } })
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
      onTestFinished(() => client.close())
      const { tools } = await client.listTools()
      return { tools, call: (name, input) => client.callTool({ name, arguments: input }) }
    }
  return {
    'the 2.x SDK, by the 2026 revision': connectWith({ pin: '2026-07-28' }),
    'the 2.x SDK, by the 2025 revision': connectWith('legacy'),
    'the 1.x SDK': async (headers) => {
      const client = new OldClient(clientInfo)
      await client.connect(new OldTransport(new URL(url), { requestInit: { headers } }))
      onTestFinished(() => client.close())
      const { tools } = await client.listTools()
      return {
        tools: tools as Tool[],
        call: async (name, input) => (await client.callTool({ name, arguments: input })) as Result,
      }
    },
  }
}
