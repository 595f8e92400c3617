import * as mcp from '@modelcontextprotocol/server'
import type { AnySchema } from '@orpc/contract'
import { type AnyProcedure, createProcedureClient, getRouter, isProcedure, ORPCError } from '@orpc/server'
import { traverseContractProcedures } from '@orpc/server'

import { type Meta, metaOf, type Tool } from '../../contract/base.ts'
import { errorBody } from '../../contract/errors.ts'
import { contract } from '../../contract/index.ts'
import { nextCursor } from '../../contract/link.ts'
import type { Context, Services } from '../context.ts'
import { createContext, isBearer } from '../guard/authentication.ts'
import { schemaConverter } from '../openapi/document.ts'
import { router } from '../procedures/index.ts'
import { answer, type Call, refuse, refuseMethod, sendReply, type Transport } from './protocol.ts'

const PATH = '/mcp'

/** Tools for AI agents: the Model Context Protocol, without sessions. A token says who calls; cookies do not count. */
export function createMcp(services: Services): Transport {
  const { baseUrl, production, trustedOrigins } = services.settings
  const resourceMetadataUrl = `${baseUrl}/.well-known/oauth-protected-resource${PATH}`
  const hosts = [new URL(baseUrl).hostname, ...(production ? [] : mcp.localhostAllowedHostnames())]
  const origins = [baseUrl, ...trustedOrigins]

  return async ({ method, url, body, request, context: { malformed, address, attributes } }, response) => {
    if (url().pathname !== PATH) return false
    attributes.operation = PATH
    const { cookie: _, ...headers } = request.headers
    const { host, origin = baseUrl } = headers
    // A name of somebody's choosing may be made to lead here, to have a browser inside a network call this service.
    if (!mcp.validateHostHeader(host, hosts).ok || !origins.includes(origin))
      return refuse(response, new ORPCError('FORBIDDEN', { message: 'This host or origin may not call' }))
    if (method !== 'POST') return refuseMethod(response, ['POST'])

    const context = createContext(services, headers, { audience: baseUrl + PATH, address, attributes })
    const caller = await context.caller()
    if (!caller) {
      const error = isBearer(headers) ? ', error="invalid_token"' : ''
      response.setHeader('www-authenticate', `Bearer resource_metadata="${resourceMetadataUrl}"${error}`)
      return refuse(
        response,
        new ORPCError('UNAUTHORIZED', { message: 'A token for this address is needed' }),
      )
    }
    if (malformed || !body) {
      const error = { code: mcp.PARSE_ERROR, message: malformed?.message ?? 'There is no body' }
      return answer(response, 400, JSON.stringify({ jsonrpc: '2.0', id: null, error }))
    }

    const handler = mcp.createMcpHandler(createServer(context), {
      // What the server offers never changes: there is nothing to listen for.
      maxSubscriptions: 0,
      onerror: (error) => {
        services.log.warn({ err: error }, 'an agent was refused')
      },
    })
    const { scopes = [], session } = caller
    const authInfo = { token: '', clientId: session.clientId ?? '', scopes, resourceMetadataUrl }
    const result = await handler.fetch(mcpRequest(url(), headers), { parsedBody: body, authInfo })
    const text = await result.text()
    sendReply(response, context.reply)
    response.setHeader('content-length', Buffer.byteLength(text))
    response.writeHead(result.status, Object.fromEntries(result.headers)).end(text)
    return true
  }
}

/** Only what the protocol is about reaches its implementation. */
function mcpRequest(url: URL, given: Call['request']['headers']) {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given))
    if (/^(accept|content-type|mcp-.+)$/.test(name)) headers.set(name, String(value))
  return new Request(url, { method: 'POST', headers })
}

const hints: Record<Tool['effect'], mcp.ToolAnnotations> = {
  looks: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  overwrites: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
}

interface Declared {
  inputSchema?: AnySchema | undefined
  outputSchema?: AnySchema | undefined
  meta: Meta
}

/** A tool as the protocol describes it. */
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

/** A schema as the OpenAPI document has it. The procedure itself checks what it takes and answers. */
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

/** Every procedure that the contract makes a tool, in its order. */
const tools: { path: readonly string[]; procedure: AnyProcedure; config: ReturnType<typeof describe> }[] = []

traverseContractProcedures({ router: contract, path: [] }, ({ contract: declared, path }) => {
  const { tool } = metaOf(declared)
  const procedure = getRouter(router, path)
  if (tool && isProcedure(procedure))
    tools.push({ path, procedure, config: describe(tool, procedure['~orpc']) })
})

/** A server for one call: its tools are the procedures, called as whoever the token stands for. */
const createServer = (context: Context) => () => {
  const identity = { name: 'tallystick', title: 'Tallystick', version: '1.0.0' }
  const server = new mcp.McpServer(identity, { capabilities: { tools: { listChanged: false } } })
  for (const { path, procedure, config } of tools)
    server.registerTool(path.join('_'), config, async (input): Promise<mcp.CallToolResult> => {
      try {
        const output: unknown = await createProcedureClient(procedure, { context, path })(input)
        const cursor = nextCursor(context.reply.get('link'))
        context.reply.delete('link')
        const content = [output, ...(cursor ? [{ nextCursor: cursor }] : [])].flatMap(textOf)
        return { content, structuredContent: output as mcp.JSONObject }
      } catch (error) {
        return { content: textOf(failureOf(error)), isError: true }
      }
    })
  return server
}

const textOf = (value: unknown) => [{ type: 'text' as const, text: JSON.stringify(value) }]

/** What an agent is told. Of what is our own fault, nothing. */
function failureOf(error: unknown) {
  const known = error instanceof ORPCError && (error.status < 500 || error.status === 503)
  const { code, message, data } = errorBody(known ? error : new ORPCError('INTERNAL_SERVER_ERROR'))
  return { code, message, data }
}
