import * as mcp from '@modelcontextprotocol/server'
import { type AnyProcedure, createProcedureClient } from '@orpc/server'
import { isObject } from '@orpc/shared'
import { metaOf, type Scope, type Topic } from 'tallystick-contract/internal'

import type { Context } from '../../call/context.ts'
import type { App } from '../../app/resource.ts'
import { toJson } from '../../values/output.ts'
import { createRestDecoder } from '../../values/decode.ts'
import { proceduresOf } from './compile.ts'
import { toAgentError } from '../server/errors.ts'

const JSON_TYPE = 'application/json'
const LISTEN = 'subscriptions/listen'

/** A topic as a resource of MCP. The content is the output of the procedure that reads the topic. */
interface Resource {
  topic: Topic
  /** If the topic has `of`, a template with the id of the parent: `help-desk://tickets/{projectId}`. */
  uri: string
  template: mcp.ResourceTemplate | undefined
  /** Returns the input with the parent that a URI names. */
  readInput: (variables: mcp.Variables) => unknown
  description: string
  /** The scope that an access token needs. Undefined if every access token can read the resource. */
  scope: Scope | undefined
  path: readonly string[]
  procedure: AnyProcedure
}

/** The topics that an access token can read, with the URI of the resource as key. */
export type Topics = ReadonlyMap<unknown, Resource>

export function findTopics({ id, router }: App): Topics {
  const resources = proceduresOf(router).flatMap(({ procedure, path }): Resource[] => {
    const { reads: topic, access, scope } = metaOf(procedure)
    if (!topic || (access !== 'public' && scope === undefined)) return []
    const { name, of, input } = topic
    const uri = `${id}://${name}${of === undefined ? '' : `/{${of}}`}`
    const template = of === undefined ? undefined : new mcp.ResourceTemplate(uri, { list: undefined })
    const decode = createRestDecoder(input, { method: 'GET' })
    const readInput = (variables: mcp.Variables) => (decode ? decode(variables) : variables)
    const description = procedure['~orpc'].route.summary ?? ''
    return [{ topic, uri, template, readInput, description, scope, path, procedure }]
  })
  return new Map(resources.map((resource) => [resource.uri, resource]))
}

/** Adds the resources to the MCP server of one call. */
export function registerResources(server: mcp.McpServer, resources: Topics, context: Context) {
  for (const { topic, uri, template, readInput, description, scope, path, procedure } of resources.values()) {
    const read = async (requested: string, input?: unknown) => {
      try {
        const state: unknown = await createProcedureClient(procedure, { context, path })(input)
        return { contents: [{ uri: requested, mimeType: JSON_TYPE, text: toJson(state) }] }
      } catch (error) {
        const { message, ...data } = toAgentError(error)
        throw new mcp.ProtocolError(mcp.ProtocolErrorCode.InternalError, message, data)
      } finally {
        // The header has the URL of the next page in REST.
        context.reply.delete('link')
      }
    }
    const scopeChallenge = scope && { scopeChallenge: mcp.requireScopes(scope) }
    const config = { description, mimeType: JSON_TYPE, ...scopeChallenge }
    if (template)
      server.registerResource(topic.name, template, config, ({ href }, variables) =>
        read(href, readInput(variables)),
      )
    else server.registerResource(topic.name, uri, config, () => read(uri))
  }
}

/** A resource that a URI names. */
export interface Requested {
  uri: string
  topic: string
  scope: Scope | undefined
  /** The input with the parent, if the topic has `of`. */
  input?: object
}

/** Returns the resource that a URI names, or an empty list. */
function findRequested(resources: Topics, uri: unknown): Requested[] {
  if (typeof uri !== 'string') return []
  for (const { topic, template, readInput, scope } of resources.values()) {
    const variables = template?.uriTemplate.match(uri)
    const input = variables && topic.input?.safeParse(readInput(variables))
    if (input) return isObject(input.data) ? [{ uri, topic: topic.name, scope, input: input.data }] : []
  }
  const { topic, template, scope } = resources.get(uri) ?? {}
  return topic && !template ? [{ uri, topic: topic.name, scope }] : []
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
  requested: Requested[]
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
  const requested = [...new Set<unknown>(uris)].flatMap((uri) => findRequested(resources, uri))
  const requestedUris = new Set<unknown>(requested.map(({ uri }) => uri))
  // The MCP library rejects values that are not strings.
  const resourceSubscriptions = uris.filter((uri) => typeof uri !== 'string' || requestedUris.has(uri))
  return {
    requested,
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
