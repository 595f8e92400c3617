import * as mcp from '@modelcontextprotocol/server'
import { createProcedureClient, ORPCError } from '@orpc/server'
import { isObject } from '@orpc/shared'
import { nextCursor } from 'tallystick-contract/internal'

import type { Settings } from '../../settings/settings.ts'
import type { Caller } from '../../call/caller.ts'
import type { Context } from '../../call/context.ts'
import type { App } from '../../app/resource.ts'
import { type ContextParts, createContext, isBearer } from '../../guard/authentication.ts'
import { toJsonValue } from '../../values/output.ts'
import { toAgentError } from '../server/errors.ts'
import {
  acceptsEvents,
  batchOf,
  errorMessage,
  isEventResponse,
  readBatched,
  readMessages,
  refuseBatch,
  refuseInBatch,
  selectType,
  toEvents,
  withoutNotifications,
} from './mcp-messages.ts'
import {
  CallEvents,
  findTopics,
  isListening,
  readListening,
  refuseScope,
  registerResources,
  type Topics,
} from './mcp-resources.ts'
import type { StreamParts } from './event-stream.ts'
import { sendNotifications } from './mcp-subscriptions.ts'
import { findCalledTool, findTools, type Tools } from './tools.ts'
import { type Call, EVENT_STREAM, MCP, type Protocol } from '../server/protocol.ts'
import { sendBody, sendError, sendOutput } from '../server/send.ts'

type McpParts = ContextParts & StreamParts & { app: App; settings: Settings }

/**
 * Creates the endpoint for AI agents: tools and resources over the Model Context Protocol (MCP), without MCP sessions.
 * Requires an access token, and ignores cookies. Therefore, pages of every origin may call it
 * (engine/http/server/send.ts).
 */
export function createMcp(parts: McpParts): Protocol {
  const { app, settings, log, metrics, closing } = parts
  const { baseUrl, production } = settings
  const offered = { app, tools: findTools(app), topics: findTopics(app) }
  const resourceMetadataUrl = `${baseUrl}/.well-known/oauth-protected-resource${MCP}`
  const hosts = [new URL(baseUrl).hostname, ...(production ? [] : mcp.localhostAllowedHostnames())]

  /** Passes one message to the MCP library. */
  const handle = async (
    context: Context,
    url: URL,
    message: Record<string, unknown>,
    { scopes = [], session }: Caller,
  ) => {
    const events = new CallEvents()
    const handler = mcp.createMcpHandler(createServer(offered, context, message), {
      bus: events,
      maxSubscriptions: 1,
      keepAliveMs: 0,
      onerror: (error) => {
        log.warn({ err: error }, 'an agent was refused')
      },
    })
    const listening = readListening(offered.topics, message, scopes)
    const authInfo = { token: '', clientId: session.clientId ?? '', scopes, resourceMetadataUrl }
    const result = listening?.missingScope
      ? refuseScope(listening.missingScope, resourceMetadataUrl)
      : await handler.fetch(mcpRequest(url, context.headers), {
          parsedBody: listening?.message ?? message,
          authInfo,
        })
    return { result, listening, events, handler }
  }

  /** Answers one message of a batch. Returns undefined for a notification. */
  const answerBatched = async (context: Context, url: URL, message: unknown) => {
    if (!isObject(message)) return errorMessage(mcp.INVALID_REQUEST, 'A message must be a JSON object')
    const refusal = refuseInBatch(message)
    if (refusal !== undefined) return refusal
    const caller = await context.caller()
    if (!caller) return errorMessage(mcp.INVALID_REQUEST, 'The access token is no longer valid', message.id)
    return readBatched((await handle(context, url, message, caller)).result, message.id)
  }

  const answerCall: Protocol = async (call, response) => {
    const { method, path, url, body, request } = call
    const { malformed, ipAddress, isAbandoned, requestId, attributes } = call.context
    if (path !== MCP) return false
    attributes.operation = MCP
    const { cookie: _, ...headers } = request.headers
    // Prevents DNS rebinding: an attacker can make a host name resolve to the address of this service. Without this
    // check, the attacker's page could call the service from a browser inside the network.
    if (!mcp.validateHostHeader(headers.host, hosts).ok)
      return sendError(response, new ORPCError('FORBIDDEN', { message: 'This host may not call' }))
    if (method !== 'POST') return false

    const createOwnContext = () =>
      createContext(parts, headers, {
        audience: baseUrl + MCP,
        ipAddress,
        isAbandoned,
        requestId,
        attributes,
      })
    const context = createOwnContext()
    const caller = await context.caller()
    if (!caller) {
      const error = isBearer(headers) ? ', error="invalid_token"' : ''
      response.setHeader('www-authenticate', `Bearer resource_metadata="${resourceMetadataUrl}"${error}`)
      return sendError(
        response,
        new ORPCError('UNAUTHORIZED', { message: 'An access token for this resource is required' }),
      )
    }
    const type = selectType(headers.accept)
    if (!type)
      return sendError(response, new ORPCError('NOT_ACCEPTABLE', { message: 'Accept application/json' }))
    if (malformed || !body)
      return sendBody(response, 400, errorMessage(mcp.PARSE_ERROR, malformed?.message ?? 'There is no body'))
    const messages = batchOf(body)
    const refusal = messages && refuseBatch(messages, headers['mcp-protocol-version'])
    if (refusal) return sendBody(response, 400, refusal)

    const target = { call: { ...call, context }, response }
    const send = (texts: string[], asEvents = type === EVENT_STREAM) => {
      if (texts.length === 0) {
        response.writeHead(202).end()
        return true
      }
      const json = messages ? `[${texts.join(',')}]` : texts.join('')
      const text = asEvents ? texts.map(toEvents).join('') : json
      return sendOutput(target, { status: 200, text, ...(asEvents && { type: EVENT_STREAM }) })
    }

    if (messages) {
      const texts: string[] = []
      // Sequentially, so that the batch occupies only the slot of its request in admission control. Each message has its own
      // context, check of the grant, and rate limits.
      for (const message of messages) {
        const text = await answerBatched(createOwnContext(), url(), message)
        if (text !== undefined) texts.push(text)
      }
      return send(texts)
    }

    if (isListening(body) && !acceptsEvents(headers.accept))
      return sendError(response, new ORPCError('NOT_ACCEPTABLE', { message: `Accept ${EVENT_STREAM}` }))
    const { result, listening, events, handler } = await handle(context, url(), body, caller)
    // The MCP library does not subscribe if it refuses the message.
    if (listening && result.body && events.isSubscribed)
      return sendNotifications(
        { requested: listening.requested, caller, context, events, handler, body: result.body },
        response,
        { log, metrics, closing },
      )
    const texts = await readMessages(result)
    // The MCP library ends a subscription without resources immediately: the acknowledgement and the result are two
    // messages.
    if (isListening(body) && isEventResponse(result)) return send(texts, true)
    if (result.ok) return send(withoutNotifications(texts))
    response.setHeaders(result.headers)
    return sendOutput(target, { status: result.status, text: texts.join('') })
  }
  return Object.assign(answerCall, { methodsAt: ({ path }: Call) => (path === MCP ? ['POST'] : []) })
}

/**
 * Creates the request for the MCP library. Includes only the headers that the MCP protocol uses. The library requires that
 * `Accept` names both media types.
 */
function mcpRequest(url: URL, given: Call['request']['headers']) {
  const headers = new Headers({ accept: `application/json, ${EVENT_STREAM}` })
  for (const [name, value] of Object.entries(given))
    if (/^(content-type|mcp-.+)$/.test(name)) headers.set(name, String(value))
  return new Request(url, { method: 'POST', headers })
}

/**
 * Creates the MCP server for one message. The tools and resources call procedures with the permissions of the message's
 * access token. Subscriptions exist since the revision of 2026. A server for a tool call has only this tool, because the
 * other tools and the resources would take most of the time of the call.
 */
const createServer =
  (
    { app, tools, topics }: { app: App; tools: Tools; topics: Topics },
    context: Context,
    message: Record<string, unknown>,
  ): mcp.McpServerFactory =>
  ({ era }) => {
    const identity = { name: app.id, title: app.name, version: app.version }
    const resources = { listChanged: false, ...(era === 'modern' && { subscribe: true }) }
    const unchanged = { listChanged: false }
    const server = new mcp.McpServer(identity, {
      capabilities: { tools: unchanged, prompts: unchanged, resources },
      ...(app.description !== '' && { instructions: app.description }),
    })
    // Some clients request the prompts of every server.
    server.server.setRequestHandler('prompts/list', () => ({ prompts: [] }))
    const called = findCalledTool(tools, message)
    if (!called) registerResources(server, topics, context)
    for (const { path, procedure, config, decode, isObject } of called ? [called] : tools.values())
      server.registerTool(path.join('_'), config, async (given): Promise<mcp.CallToolResult> => {
        try {
          const input = decode ? decode(given) : given
          const output = toJsonValue(
            (await createProcedureClient(procedure, { context, path })(input)) ?? null,
          )
          const structuredContent = (isObject ? output : { result: output }) as mcp.JSONObject
          const cursor = nextCursor(context.reply.get('link'))
          context.reply.delete('link')
          const content = [structuredContent, ...(cursor ? [{ nextCursor: cursor }] : [])].flatMap(textOf)
          return { content, structuredContent }
        } catch (error) {
          return { content: textOf(toAgentError(error)), isError: true }
        }
      })
    return server
  }

const textOf = (value: unknown) => [{ type: 'text' as const, text: JSON.stringify(value) }]
