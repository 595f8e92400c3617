import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum number of requests of one connection without a complete response. */
const MAX_UNANSWERED = 32

/** The responses of a connection that wait, or have waited, for an earlier response (HTTP pipelining). */
const pipelined = new WeakMap<Socket, Set<ServerResponse>>()

/** Connections with an open event stream. */
const streaming = new WeakSet<Socket>()

/**
 * Returns whether to handle a request. Destroys the connection of the request in two cases:
 * - An event stream is open on the connection, so the response could not be sent.
 * - The connection already has MAX_UNANSWERED requests without a complete response.
 *
 * Neither `Connection: close` nor `socket.pause()` prevents Node from emitting the requests that it has already read.
 *
 * When a connection closes, Node destroys only the response that is being sent. This function also destroys the
 * responses behind it, which then emit `close`, so that admission control frees their slots.
 */
export function acceptPipelined({ socket }: IncomingMessage, response: ServerResponse) {
  if (response.socket) return true
  if (socket.destroyed) return false
  const responses = pipelined.get(socket) ?? new Set()
  if (streaming.has(socket) || responses.size >= MAX_UNANSWERED - 1) {
    socket.destroy()
    return false
  }
  if (!pipelined.has(socket)) {
    pipelined.set(socket, responses)
    socket.once('close', () => {
      for (const each of responses) if (!each.socket) each.destroy().emit('close')
    })
  }
  responses.add(response)
  response.once('close', () => responses.delete(response))
  return true
}

/**
 * Reserves the connection of a response for an event stream, until the response closes. If the connection has other
 * unanswered requests, closes the connection after the data that is already written, and returns false.
 */
export function reserveConnection(response: ServerResponse) {
  const { socket, req: request } = response
  const others = [...(pipelined.get(request.socket) ?? [])].filter((each) => each !== response)
  if (!socket || others.length > 0) {
    request.socket.destroySoon()
    return false
  }
  streaming.add(socket)
  response.once('close', () => streaming.delete(socket))
  return true
}
