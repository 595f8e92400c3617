import * as mcp from '@modelcontextprotocol/server'
import type { AnySchema } from '@orpc/contract'
import { type AnyProcedure, createProcedureClient, getRouter, isProcedure, ORPCError } from '@orpc/server'
import { traverseContractProcedures } from '@orpc/server'
import { isObject } from '@orpc/shared'

import { type Meta, metaOf, type Tool } from '../../contract/base.ts'
import { contract } from '../../contract/index.ts'
import { nextCursor } from '../../contract/link.ts'
import type { Context, Services } from '../context.ts'
import { createContext, isBearer } from '../guard/authentication.ts'
import { schemaConverter } from '../openapi/document.ts'
import { router } from '../procedures/index.ts'
import { toAgentError } from './errors.ts'
import {
  CallEvents,
  readListening,
  refuseScope,
  registerResources,
  sendNotifications,
} from './mcp-resources.ts'
import { answer, answerProcedure, type Call, sendError, type Protocol } from './protocol.ts'

const PATH = '/mcp'

/**
 * Creates the endpoint for AI agents: tools and resources over the Model Context Protocol (MCP), without MCP sessions. Requires an
 * access token, and ignores cookies.
 */
export function createMcp(services: Services): Protocol {
  const { baseUrl, production, trustedOrigins } = services.settings
  const resourceMetadataUrl = `${baseUrl}/.well-known/oauth-protected-resource${PATH}`
  const hosts = [new URL(baseUrl).hostname, ...(production ? [] : mcp.localhostAllowedHostnames())]
  const origins = [baseUrl, ...trustedOrigins]

  const answerCall: Protocol = async (call, response) => {
    const { method, url, body, request } = call
    const { malformed, address, attributes } = call.context
    if (url().pathname !== PATH) return false
    attributes.operation = PATH
    const { cookie: _, ...headers } = request.headers
    const { host, origin = baseUrl } = headers
    // Prevents DNS rebinding: an attacker can make a host name resolve to the address of this service. Without this
    // check, the attacker's page could call the service from a browser inside the network.
    if (!mcp.validateHostHeader(host, hosts).ok || !origins.includes(origin))
      return sendError(response, new ORPCError('FORBIDDEN', { message: 'This host or origin may not call' }))
    if (method !== 'POST') return false

    const context = createContext(services, headers, { audience: baseUrl + PATH, address, attributes })
    const caller = await context.caller()
    if (!caller) {
      const error = isBearer(headers) ? ', error="invalid_token"' : ''
      response.setHeader('www-authenticate', `Bearer resource_metadata="${resourceMetadataUrl}"${error}`)
      return sendError(
        response,
        new ORPCError('UNAUTHORIZED', { message: 'An access token for this resource is required' }),
      )
    }
    if (malformed || !body) {
      const error = { code: mcp.PARSE_ERROR, message: malformed?.message ?? 'There is no body' }
      return answer(response, 400, JSON.stringify({ jsonrpc: '2.0', id: null, error }))
    }

    const events = new CallEvents()
    const handler = mcp.createMcpHandler(createServer(context, body), {
      bus: events,
      maxSubscriptions: 1,
      keepAliveMs: 0,
      onerror: (error) => {
        services.log.warn({ err: error }, 'an agent was refused')
      },
    })
    const { scopes = [], session } = caller
    const listening = readListening(body, scopes)
    const authInfo = { token: '', clientId: session.clientId ?? '', scopes, resourceMetadataUrl }
    const result = listening?.missingScope
      ? refuseScope(listening.missingScope, resourceMetadataUrl)
      : await handler.fetch(mcpRequest(url(), headers), { parsedBody: listening?.message ?? body, authInfo })
    if (listening && result.body && events.isSubscribed)
      return sendNotifications(
        { topics: listening.topics, caller, context, events, handler, body: result.body },
        response,
        services,
      )
    const text = await result.text()
    response.setHeaders(result.headers)
    if (text === '') {
      response.writeHead(result.status).end()
      return true
    }
    return answerProcedure({ call: { ...call, context }, response }, { status: result.status, text })
  }
  return Object.assign(answerCall, { methodsAt: (path: string) => (path === PATH ? ['POST'] : []) })
}

/** Creates the request for the MCP library. Includes only the headers that the MCP protocol uses. */
function mcpRequest(url: URL, given: Call['request']['headers']) {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given))
    if (/^(accept|content-type|mcp-.+)$/.test(name)) headers.set(name, String(value))
  return new Request(url, { method: 'POST', headers })
}

const hints: Record<Tool['effect'], mcp.ToolAnnotations> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  create: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  overwrite: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
}

interface Declared {
  inputSchema?: AnySchema | undefined
  outputSchema?: AnySchema | undefined
  meta: Meta
}

/** Returns the configuration of the MCP tool that calls a procedure. */
function describe({ title, description, effect }: Tool, { inputSchema, outputSchema, meta }: Declared) {
  return {
    title,
    description,
    inputSchema: published(inputSchema, 'input'),
    outputSchema: published(outputSchema, 'output'),
    annotations: { title, ...hints[effect], openWorldHint: false },
    ...(meta.scope && { scopeChallenge: mcp.requireScopes(meta.scope) }),
  }
}

/**
 * Converts a schema for the MCP library. The JSON Schema is the same as in the OpenAPI document. `validate` accepts
 * every value, because the procedure itself validates its input and output.
 */
function published(schema: AnySchema | undefined, strategy: 'input' | 'output') {
  const json = schema ? schemaConverter.convert(schema, { strategy })[1] : { type: 'object' }
  const convert = () => ({ ...json })
  const validate = (value: unknown) => ({ value })
  const standard = {
    version: 1,
    vendor: 'tallystick',
    jsonSchema: { input: convert, output: convert },
    validate,
  }
  return { '~standard': standard } as mcp.StandardSchemaWithJSON
}

interface RegisteredTool {
  path: readonly string[]
  procedure: AnyProcedure
  config: ReturnType<typeof describe>
}

/** The procedures with `tool` in their meta, by the name of the tool, in the order of the contract. */
const tools = new Map<unknown, RegisteredTool>()

traverseContractProcedures({ router: contract, path: [] }, ({ contract: declared, path }) => {
  const { tool } = metaOf(declared)
  const procedure = getRouter(router, path)
  if (tool && isProcedure(procedure))
    tools.set(path.join('_'), { path, procedure, config: describe(tool, procedure['~orpc']) })
})

/** Returns the tool that a message calls. Undefined for other messages, and for a call of an unknown tool. */
const findCalledTool = ({ method, params }: Record<string, unknown>) =>
  method === 'tools/call' && isObject(params) ? tools.get(params.name) : undefined

/**
 * Creates the MCP server for one message. The tools and resources call procedures with the permissions of the message's
 * access token. Subscriptions exist since the revision of 2026. A server for a tool call has only this tool, because the
 * other tools and the resources would take most of the time of the call.
 */
const createServer =
  (context: Context, message: Record<string, unknown>): mcp.McpServerFactory =>
  ({ era }) => {
    const identity = { name: 'tallystick', title: 'Tallystick', version: '1.0.0' }
    const resources = { listChanged: false, ...(era === 'modern' && { subscribe: true }) }
    const server = new mcp.McpServer(identity, { capabilities: { tools: { listChanged: false }, resources } })
    const called = findCalledTool(message)
    if (!called) registerResources(server, context)
    for (const { path, procedure, config } of called ? [called] : tools.values())
      server.registerTool(path.join('_'), config, async (input): Promise<mcp.CallToolResult> => {
        try {
          const output: unknown = await createProcedureClient(procedure, { context, path })(input)
          const cursor = nextCursor(context.reply.get('link'))
          context.reply.delete('link')
          const content = [output, ...(cursor ? [{ nextCursor: cursor }] : [])].flatMap(textOf)
          return { content, structuredContent: output as mcp.JSONObject }
        } catch (error) {
          return { content: textOf(toAgentError(error)), isError: true }
        }
      })
    return server
  }

const textOf = (value: unknown) => [{ type: 'text' as const, text: JSON.stringify(value) }]
