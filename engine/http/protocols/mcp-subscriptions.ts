import type * as mcp from '@modelcontextprotocol/server'
import { toAbortSignal } from '@orpc/standard-server-node'
import type { ServerResponse } from 'node:http'

import type { Caller } from '../../call/caller.ts'
import type { Context } from '../../call/context.ts'
import type { Delivery } from '../../call/live-stream.ts'
import { setReplyHeaders } from '../server/send.ts'
import { canStream, drained, endStream, logFailure, startStream, type StreamParts } from './event-stream.ts'
import type { CallEvents, Requested } from './mcp-resources.ts'

interface Subscription {
  requested: readonly Requested[]
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
  { requested, caller, context, events, handler, body }: Subscription,
  response: ServerResponse,
  { metrics, log, closing }: StreamParts,
) {
  const reader = body.getReader()
  const stream = await openStream(requested, caller, context, response).catch(async (error: unknown) => {
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
      const [uri = ''] = urisOf(requested, delivery)
      events.publish({ kind: 'resource_updated', uri })
      metrics?.delivered(delivery.since)
      await sendNext()
    }
    if (closing.signal.aborted) {
      // The MCP library creates the result of the call, which tells the client that the service ended the subscription.
      await handler.close()
      await sendNext()
    }
  } catch (error) {
    logFailure(log, response, error)
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
  requested: readonly Requested[],
  caller: Caller,
  { live, headers, reply, ipAddress }: Context,
  response: ServerResponse,
) {
  try {
    reply.set('cache-control', 'no-transform')
    const topics = [...new Set(requested.map(({ topic }) => topic))]
    const input = Object.fromEntries(topics.map((topic) => [topic, inputsOf(requested, topic)]))
    const stream = await live.open({
      topics,
      caller,
      ipAddress: ipAddress?.(),
      headers,
      reply,
      input,
      given: input,
      isDatastar: false,
      signal: toAbortSignal(response),
    })
    const unread = new Set(requested.map(({ uri }) => uri))
    while (unread.size > 0) {
      const delivery = await stream.next()
      if (!delivery) break
      for (const uri of urisOf(requested, delivery)) unread.delete(uri)
    }
    return stream
  } finally {
    // `Retry-After`, if the stream was refused.
    setReplyHeaders(response, reply)
  }
}

/** Returns the inputs of a topic, one for each parent. Undefined if the topic has no parents. */
function inputsOf(requested: readonly Requested[], topic: string) {
  const inputs = requested.flatMap((each) => (each.topic === topic && each.input ? [each.input] : []))
  return inputs.length > 0 ? inputs : undefined
}

/** Returns the URIs of the resource with a new state. */
const urisOf = (requested: readonly Requested[], { snapshot: { update } }: Delivery) =>
  requested
    .filter(({ topic, input }) => topic === update.topic && (!input || isEqual(input, update.of)))
    .map(({ uri }) => uri)

const isEqual = (input: object, of: object = {}) =>
  Object.entries(of).every(([field, value]) => Reflect.get(input, field) === value)
