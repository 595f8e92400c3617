import { ORPCError } from '@orpc/client'
import { sendStandardResponse } from '@orpc/standard-server-node'
import { randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'

import type { Reply } from '../../call/caller.ts'
import type { Log } from '../../call/context.ts'
import type { Format, LiveStream } from '../../call/live-stream.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { EVENT_STREAM } from '../server/protocol.ts'
import { reserveConnection } from '../server/connection.ts'
import { setReplyHeaders } from '../server/send.ts'

export const isEventStream = (response: ServerResponse) => response.getHeader('content-type') === EVENT_STREAM

/**
 * Sends an event iterator as server-sent events. Reads the next event only when the client has received enough of the
 * earlier events, and ends the iterator when the client disconnects. A client that accepts no bytes for `timeout`
 * milliseconds is disconnected. Comments keep the connection active between two events.
 */
export async function sendEvents(
  response: ServerResponse,
  status: number,
  events: AsyncIterator<unknown>,
  timeout: number,
) {
  const isHead = response.req.method === 'HEAD'
  const isPossible = canStream(response)
  if (!isPossible || isHead) await events.return?.()
  if (!isPossible) return true
  response.setHeader('content-type', EVENT_STREAM)
  // Prevents nginx from collecting events in a buffer.
  response.setHeader('x-accel-buffering', 'no')
  response.setTimeout(timeout, () => response.destroy())
  const body = isHead ? undefined : events
  const options = { eventIteratorKeepAliveInterval: timeout / 3 }
  await sendStandardResponse(response, { status, headers: {}, body }, options)
  return true
}

const KEEP_ALIVE = ': \n\n'
/**
 * Every 15 seconds, each open stream receives a comment, which keeps an idle stream open through proxies. Every second
 * is the turn of another group, so that the comments do not delay the states of other streams.
 */
const keepAliveGroups = Array.from({ length: 15 }, () => new Set<ServerResponse>())
let turn = 0
setInterval(() => {
  turn++
  for (const response of keepAliveGroups[turn % keepAliveGroups.length] ?? [])
    // Data that the client has not accepted keeps the connection active, and comments would accumulate behind it.
    if (response.socket?.writableLength === 0) response.write(KEEP_ALIVE)
}, 1000).unref()
/**
 * Time after which a client that accepts nothing is disconnected, in milliseconds. Node reports the timeout after one or
 * two such periods.
 */
const MAX_SILENCE = 30_000
/** Time in which a client must accept the end of its stream if the service stops, in milliseconds. */
const MAX_END_TIME = 1000
/** Limits of the random time after which a client should connect again if the service stops, in milliseconds. */
const RECONNECT_DELAY = { min: 500, max: 5000 }

/** Emitted on a response when it becomes a live stream, which does not occupy a slot of admission control. */
export const STREAMING = Symbol('streaming')

/** What a live stream needs beside its request. */
export interface StreamParts {
  log: Log
  metrics?: Pick<Metrics, 'delivered'> | undefined
  /** Aborted when the service stops. */
  closing: AbortController
}

interface LiveOptions extends StreamParts {
  response: ServerResponse
  reply: Reply
  stream: LiveStream
  format: Format
  isDatastar?: boolean
}

/**
 * Sends a live stream as server-sent events. Does not wait for the end of the stream: the objects of the request can then
 * be garbage-collected, which saves a quarter of the memory of an open stream.
 */
export function sendLive(options: LiveOptions) {
  const { response, reply, stream } = options
  if (!canStream(response)) {
    stream.close()
    return true
  }
  setReplyHeaders(response, reply)
  const stopKeepAlive = startStream(response)
  if (response.req.method === 'HEAD') {
    stopKeepAlive()
    stream.close()
    response.end()
    return true
  }
  response.once('close', stream.close)
  void deliver(options, stopKeepAlive)
  return true
}

/** Sends the states of a stream until the stream ends. */
async function deliver(
  { response, stream, format, isDatastar, log, metrics, closing }: LiveOptions,
  stopKeepAlive: () => void,
) {
  try {
    await stream.forEach(({ id, snapshot, since }) => {
      const isReady = writeEvent(response, id, snapshot.frame(format))
      metrics?.delivered(since)
      return isReady ? undefined : drained(response, closing.signal)
    })
  } catch (error) {
    logFailure(log, response, error)
  } finally {
    stopKeepAlive()
    stream.close()
  }
  if (closing.signal.aborted)
    response.write(`retry: ${randomInt(RECONNECT_DELAY.min, RECONNECT_DELAY.max)}\n\n`)
  // Datastar's client connects again after a broken connection, but not after the end of a stream.
  if (isDatastar) breakStream(response, closing.signal)
  else endStream(response, closing.signal)
}

/**
 * Returns whether a live stream can start. It cannot if ANSWER_TIMEOUT has passed and the service has sent 503, if the
 * client has disconnected, or if the client has sent other requests on the same connection.
 */
export const canStream = (response: ServerResponse) =>
  !response.headersSent &&
  !response.destroyed &&
  (response.req.method === 'HEAD' || reserveConnection(response))

/**
 * Sends the headers of a live stream, frees the slot of admission control, and sends comments while the stream is idle.
 * Returns the function that ends the comments.
 */
export function startStream(response: ServerResponse) {
  response.emit(STREAMING)
  response.setHeader('content-type', EVENT_STREAM)
  // Prevents nginx from collecting events in a buffer.
  response.setHeader('x-accel-buffering', 'no')
  response.setTimeout(MAX_SILENCE, () => response.destroy())
  const group = keepAliveGroups[turn % keepAliveGroups.length]
  group?.add(response)
  response.flushHeaders()
  return () => group?.delete(response)
}

/**
 * Logs the error that has ended a live stream. Does not log an ended session, grant or token (401) and a lost permission
 * (403): the client connects again, and receives the error.
 */
export function logFailure(log: Log, response: ServerResponse, error: unknown) {
  if (!(error instanceof ORPCError))
    log.error({ err: error, req: { id: response.req.id } }, 'an event stream failed')
}

/** Ends a live stream. */
export function endStream(response: ServerResponse, closing: AbortSignal) {
  response.end()
  if (closing.aborted) disconnectLater(response)
}

/** Closes the connection of a live stream after the client has received all data. */
function breakStream(response: ServerResponse, closing: AbortSignal) {
  response.write(KEEP_ALIVE, () => response.destroy())
  if (closing.aborted) disconnectLater(response)
}

/** Disconnects a client that does not read, because the client would delay the stop of the service. */
function disconnectLater(response: ServerResponse) {
  setTimeout(() => response.destroy(), MAX_END_TIME).unref()
}

/** Size up to which the data of an event is copied for each stream, in bytes. Streams share larger data. */
const MAX_COPIED = 4096
const CRLF = Buffer.from('\r\n')

/**
 * Writes an event, and returns false if the caller must wait for `drained`. Sends a small event as one chunk (RFC 9112,
 * section 7.1) with one write to the socket. `response.write` would write the event in eight parts, which takes a quarter
 * more CPU time.
 */
function writeEvent(response: ServerResponse, id: string, data: Buffer) {
  const line = `id: ${id}\n`
  const { socket, chunkedEncoding } = response
  if (!socket || !chunkedEncoding || data.length > MAX_COPIED) {
    // Not corked: after `cork`, Node would send each part with a system call of its own.
    response.write(line, 'latin1')
    return response.write(data)
  }
  const last = lastChunks.get(data)
  if (last?.line === line) return socket.write(last.chunk)
  const start = `${(line.length + data.length).toString(16)}\r\n${line}`
  const chunk = Buffer.concat([Buffer.from(start, 'latin1'), data, CRLF])
  lastChunks.set(data, { line, chunk })
  return socket.write(chunk)
}

/** The last chunk of each frame: streams with the same topics have the same event id. */
const lastChunks = new WeakMap<Buffer, { line: string; chunk: Buffer }>()

/** Waits until the client has accepted the written data, until the response closes, or until the service stops. */
export const drained = (response: ServerResponse, closing: AbortSignal) =>
  new Promise<void>((resolve) => {
    // A response behind another response of the same connection has no socket yet.
    const writable = response.socket ?? response
    const finish = () => {
      writable.off('drain', finish)
      response.off('close', finish)
      closing.removeEventListener('abort', finish)
      resolve()
    }
    if (closing.aborted) {
      resolve()
      return
    }
    writable.on('drain', finish)
    response.on('close', finish)
    closing.addEventListener('abort', finish)
  })
