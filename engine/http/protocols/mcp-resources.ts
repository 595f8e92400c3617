import * as mcp from '@modelcontextprotocol/server'
import { type AnyProcedure, createProcedureClient, ORPCError } from '@orpc/server'
import { isObject } from '@orpc/shared'
import { toAbortSignal } from '@orpc/standard-server-node'
import type { ServerResponse } from 'node:http'
import { metaOf, type Scope } from 'tallystick-contract/internal'

import type { Caller } from '../../caller.ts'
import type { Context } from '../../context.ts'
import type { App } from '../../resource.ts'
import type { Services } from '../../services.ts'
import { toJson } from '../../output.ts'
import { proceduresOf } from './compile.ts'
import { toAgentError } from '../server/errors.ts'
import { canStream, drained, endStream, startStream } from './event-stream.ts'
import { setReplyHeaders } from '../server/send.ts'

const JSON_TYPE = 'application/json'
const LISTEN = 'subscriptions/listen'

/** A topic as a resource of MCP. The content is the output of the procedure that reads the topic. */
interface Resource {
  topic: string
  uri: string
  description: string
  /** The scope that an access token needs. Undefined if every access token can read the resource. */
  scope: Scope | undefined
  path: readonly string[]
  procedure: AnyProcedure
}

const uriOf = (id: string, topic: string) => `${id}://${topic}`

/** The topics that an access token can read, with the URI of the resource as key. */
export type Topics = ReadonlyMap<unknown, Resource>

export function findTopics({ id, router }: App): Topics {
  const resources = proceduresOf(router).flatMap(({ procedure, path }): Resource[] => {
    const { reads, access, scope } = metaOf(procedure)
    if (!reads || (access !== 'public' && scope === undefined)) return []
    const { name: topic } = reads
    const description = procedure['~orpc'].route.summary ?? ''
    return [{ topic, uri: uriOf(id, topic), description, scope, path, procedure }]
  })
  return new Map(resources.map((resource) => [resource.uri, resource]))
}

/** Adds the resources to the MCP server of one call. */
export function registerResources(server: mcp.McpServer, resources: Topics, context: Context) {
  for (const { topic, uri, description, scope, path, procedure } of resources.values())
    server.registerResource(
      topic,
      uri,
      { description, mimeType: JSON_TYPE, ...(scope && { scopeChallenge: mcp.requireScopes(scope) }) },
      async () => {
        try {
          const state: unknown = await createProcedureClient(procedure, { context, path })(undefined)
          return { contents: [{ uri, mimeType: JSON_TYPE, text: toJson(state) }] }
        } catch (error) {
          const { message, ...data } = toAgentError(error)
          throw new mcp.ProtocolError(mcp.ProtocolErrorCode.InternalError, message, data)
        } finally {
          // The header has the URL of the next page in REST.
          context.reply.delete('link')
        }
      },
    )
}

/** The events for the subscription of one call. The MCP library subscribes if it accepts the call. */
export class CallEvents implements mcp.ServerEventBus {
  #listener: ((event: mcp.ServerEvent) => void) | undefined

  get isSubscribed() {
    return this.#listener !== undefined
  }

  publish(event: mcp.ServerEvent) {
    this.#listener?.(event)
  }

  subscribe(listener: (event: mcp.ServerEvent) => void) {
    this.#listener = listener
    return () => {
      this.#listener = undefined
    }
  }
}

interface Listening {
  /** The topics of the requested resources. */
  topics: string[]
  /** The message without unknown URIs. The acknowledgement lists the remaining URIs. */
  message: Record<string, unknown>
  /** The first scope that the token lacks. */
  missingScope: Scope | undefined
}

/** Returns whether a message opens a subscription, with or without resources. */
export const isListening = ({ method }: Record<string, unknown>) => method === LISTEN

/** Reads the message of a call that subscribes to resources. Returns undefined for other messages. */
export function readListening(
  resources: Topics,
  message: Record<string, unknown>,
  scopes: string[],
): Listening | undefined {
  const { method, params } = message
  if (method !== LISTEN || !isObject(params) || !isObject(params.notifications)) return undefined
  const { notifications } = params
  const uris: unknown = notifications.resourceSubscriptions
  if (!Array.isArray(uris)) return undefined
  const requested = [...new Set<unknown>(uris)].flatMap((uri) => resources.get(uri) ?? [])
  // The MCP library rejects values that are not strings.
  const resourceSubscriptions = uris.filter((uri) => typeof uri !== 'string' || resources.has(uri))
  return {
    topics: requested.map(({ topic }) => topic),
    message: {
      ...message,
      params: { ...params, notifications: { ...notifications, resourceSubscriptions } },
    },
    missingScope: requested.find(({ scope }) => scope && !scopes.includes(scope))?.scope,
  }
}

/** Returns the same response as for a tool that needs another scope: 403, with the scope in `WWW-Authenticate`. */
export const refuseScope = (scope: Scope, resourceMetadataUrl: string) =>
  mcp.bearerAuthChallengeResponse(
    new mcp.OAuthError(mcp.OAuthErrorCode.InsufficientScope, 'Insufficient scope'),
    { requiredScopes: [scope], resourceMetadataUrl },
  )

interface Subscription {
  topics: string[]
  caller: Caller
  context: Context
  events: CallEvents
  handler: mcp.McpHttpHandler
  /** The messages to send, which the MCP library has encoded. */
  body: ReadableStream<Uint8Array>
}

/**
 * Sends an accepted subscription as a live stream: the acknowledgement, then a notification for each change of a
 * resource. A slow client skips notifications, because the next change is read only when the client has accepted the
 * earlier notifications.
 */
export async function sendNotifications(
  { topics, caller, context, events, handler, body }: Subscription,
  response: ServerResponse,
  { app, metrics, log, closing }: Services,
) {
  const reader = body.getReader()
  const stream = await openStream(topics, caller, context, response).catch(async (error: unknown) => {
    await reader.cancel()
    throw error
  })
  // The client has left, or ANSWER_TIMEOUT has passed and the service has sent 503.
  if (!canStream(response)) {
    stream.close()
    await reader.cancel()
    return true
  }
  /** Sends one message: the MCP library writes one chunk for the acknowledgement, for each event, and for the result. */
  const sendNext = async () => {
    const { value } = await reader.read()
    if (value && !response.write(value)) await drained(response, closing.signal)
  }
  const stopKeepAlive = startStream(response)
  try {
    await sendNext()
    for (let delivery = await stream.next(); delivery; delivery = await stream.next()) {
      events.publish({ kind: 'resource_updated', uri: uriOf(app.id, delivery.snapshot.topic) })
      metrics?.delivered(delivery.since)
      await sendNext()
    }
    if (closing.signal.aborted) {
      // The MCP library creates the result of the call, which tells the client that the service ended the subscription.
      await handler.close()
      await sendNext()
    }
  } catch (error) {
    // A revoked grant, an expired token (401) or a lost permission (403) ends the stream. The client connects again, and
    // receives the error.
    if (!(error instanceof ORPCError))
      log.error({ err: error, req: { id: response.req.id } }, 'an event stream failed')
  } finally {
    stopKeepAlive()
    stream.close()
    await reader.cancel()
  }
  endStream(response, closing.signal)
  return true
}

/**
 * Opens a live stream, and reads the current states, so that the stream contains only later changes. A client that reads
 * a resource after the acknowledgement therefore misses no change.
 */
async function openStream(
  topics: string[],
  caller: Caller,
  { live, headers, reply, address }: Context,
  response: ServerResponse,
) {
  try {
    reply.set('cache-control', 'no-transform')
    const stream = await live.open({
      topics,
      caller,
      address: address?.(),
      headers,
      reply,
      input: {},
      given: {},
      isDatastar: false,
      signal: toAbortSignal(response),
    })
    const unread = new Set(topics)
    while (unread.size > 0) {
      const delivery = await stream.next()
      if (!delivery) break
      unread.delete(delivery.snapshot.topic)
    }
    return stream
  } finally {
    // `Retry-After`, if the stream was refused.
    setReplyHeaders(response, reply)
  }
}
