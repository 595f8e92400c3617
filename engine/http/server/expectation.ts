import type { IncomingMessage, Server, ServerResponse } from 'node:http'

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
export function sendContinue(request: IncomingMessage, response: ServerResponse) {
  if (waiting.delete(request)) response.writeContinue()
}
