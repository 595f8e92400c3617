import { ORPCError } from '@orpc/client'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { finished } from 'node:stream'

import { tooLarge } from './body.ts'
import { tooSlow } from './body-limits.ts'
import type { AsyncStep, Exchange } from './protocol.ts'

/** Time in which a body must arrive, in milliseconds, unless an endpoint declares `timeout`. */
export const BODY_TIMEOUT = 30_000

/** Requests with a client that waits for 100 (Continue) before the client sends the body. */
const waiting = new WeakSet<IncomingMessage>()

/**
 * Handles requests with the header `Expect` like all other requests. By default, Node answers `100-continue` before the
 * service can refuse the request, and unknown expectations with 417 without an error body.
 */
export function handleExpectations(server: Server) {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request)
    server.emit('request', request, response)
  })
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/** Sends 100 (Continue) if the client waits for it. */
function sendContinue({ request, response }: Exchange) {
  if (waiting.delete(request)) response.writeContinue()
}

/**
 * Starts to count a request with an incomplete body. The count may call `abort` later, to enforce its limit. Returns a
 * function that stops counting the request.
 */
export type TrackIncomplete = (exchange: Exchange, abort: (error: Error) => void) => () => void

/**
 * Creates the step that reads a body. Reads synchronously if all bytes have already arrived, which is usual for a small
 * body. Leaves a stream to its endpoint.
 */
export const createBodyReader =
  (track: TrackIncomplete): AsyncStep =>
  (exchange) => {
    const { request, hasBody, endpoint } = exchange
    if (!hasBody || endpoint?.declaration.body === 'stream') return false
    sendContinue(exchange)
    const isComplete = request.readableLength === Number(request.headers['content-length'])
    const bytes: unknown = isComplete ? request.read() : undefined
    if (!Buffer.isBuffer(bytes)) return collectBytes(exchange, track)
    exchange.bytes = bytes
    return false
  }

const collectBytes = (exchange: Exchange, track: TrackIncomplete) =>
  new Promise<boolean>((resolve, reject) => {
    const chunks: Buffer[] = []
    receive(exchange, track, {
      add: (chunk) => void chunks.push(chunk),
      end: () => {
        exchange.bytes = Buffer.concat(chunks)
        resolve(false)
      },
      fail: (error) => {
        chunks.length = 0
        reject(error)
      },
    })
  })

/**
 * Returns a body as a stream with backpressure, which asks for the body when the handler reads. A limit of the body becomes an
 * error of the stream. `stop` ends the stream early.
 */
export function streamBody(exchange: Exchange, track: TrackIncomplete) {
  const { request, hasBody } = exchange
  let stop: (() => void) | undefined
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    sendContinue(exchange)
    const stopReceiving = receive(exchange, track, {
      add: (chunk) => {
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) request.pause()
      },
      end: () => {
        controller.close()
      },
      fail: (error) => {
        controller.error(error)
      },
    })
    return () => {
      stopReceiving()
      controller.error(new Error('The answer was sent before the end of the body'))
    }
  }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (!hasBody) controller.close()
        else if (stop) request.resume()
        else stop = start(controller)
      },
      cancel: () => stop?.(),
    },
    // Without this strategy, the stream would ask for the body before the handler reads.
    { highWaterMark: 0 },
  )
  return { body, stop: () => stop?.() }
}

interface Receiver {
  add: (chunk: Buffer) => void
  end: () => void
  fail: (error: Error) => void
}

/** Receives a body, up to its maximum size, its timeout and the limits of incomplete bodies. Returns the function that stops. */
function receive(exchange: Exchange, track: TrackIncomplete, { add, end, fail }: Receiver) {
  const { request, limit, endpoint } = exchange
  const { timeout = BODY_TIMEOUT / 1000 } = endpoint?.declaration ?? {}
  let size = 0
  const stop = () => {
    clearTimeout(timer)
    release()
    removeListeners()
    request.off('data', onData)
  }
  const abort = (error: Error) => {
    stop()
    fail(error)
  }
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size > limit) abort(tooLarge(limit))
    else add(chunk)
  }
  const release = track(exchange, abort)
  const timer = setTimeout(abort, timeout * 1000, tooSlow()).unref()
  const removeListeners = finished(request, { writable: false }, (error) => {
    stop()
    if (error) fail(new ORPCError('BAD_REQUEST', { message: 'The body ended early' }))
    else end()
  })
  request.on('data', onData)
  return stop
}
