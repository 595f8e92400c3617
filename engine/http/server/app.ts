import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { unavailable } from 'tallystick-contract/internal'

import type { RequestAttributes } from '../../context.ts'
import type { AttributesOf, Services } from '../../services.ts'
import { createRoutes, tracing } from '../../telemetry/tracing.ts'
import { createAdmission, createIncompleteLimit } from './admission.ts'
import { createAuthEndpoints } from '../endpoints/better-auth.ts'
import { hasBody } from './body.ts'
import { createBodyLimits, MAX_BODY } from './body-limits.ts'
import { compileAll } from '../protocols/compile.ts'
import { createDatastar } from '../protocols/datastar.ts'
import { createEndpoints } from '../endpoints/endpoints.ts'
import { toKnownError } from './errors.ts'
import { isEventStream } from '../protocols/event-stream.ts'
import { handleExpectations, sendContinue } from './expectation.ts'
import { createHomeEndpoints } from '../endpoints/home.ts'
import { createHandler } from './handler.ts'
import { createHealthEndpoints, isHealthCheck } from '../endpoints/health.ts'
import { createMcp } from '../protocols/mcp.ts'
import { createOAuthEndpoints } from '../endpoints/oauth.ts'
import type { Protocol } from './protocol.ts'
import { sendAllowedMethods, sendError } from './send.ts'
import { refuseUnparsable } from './parser-errors.ts'
import { acceptPipelined } from './pipelining.ts'
import { createReferenceEndpoints } from '../endpoints/reference.ts'
import { createOriginLog } from './rejected-origins.ts'
import { createRequestReader, MAX_HEADERS } from './request.ts'
import { createRequestLog } from './request-log.ts'
import { createPreflights, createResponseHeaders } from './response-headers.ts'
import { createRestFormat } from '../protocols/rest.ts'
import { createRpc, createRpcFormat } from '../protocols/rpc.ts'
import { RPC } from '../protocols/rpc-format.ts'
import { MCP, notFound, readTarget, type Target } from './target.ts'
import { enqueueRequest } from './tick.ts'
import { createUnknownPaths, redirectOf } from './unknown-paths.ts'
import { createProxyWarning } from './unknown-proxies.ts'
import { createResponseClass, MeasuredResponse } from './unread-answers.ts'

/**
 * Creates the HTTP server. Steps of a request:
 * - Normalize the target, and set the response headers.
 * - Admit the request, or answer 503. A request with a body is admitted only when the body is complete, so that a slow
 *   upload does not occupy a slot.
 * - Redirect a browser from a path with a slash at its end, and answer a preflight.
 * - Wait for other requests of the same iteration of the event loop (engine/http/server/tick.ts).
 * - Check the target and the origin, and read the body.
 * - Create the call, and answer the call by the first protocol that accepts the call.
 */
export function createApp(services: Services): Server {
  const { settings, log, metrics, recorder, bindRequest } = services
  const trackIncomplete = createIncompleteLimit(settings.maxIncomplete, () => metrics?.shed('incomplete'))
  const { check, readBody, createCall, networkOfRequest } = createRequestReader(services, trackIncomplete)
  const admission = createAdmission(settings.maxRequests, settings.answerTimeout, (response) => {
    // An event stream may last longer. engine/http/protocols/event-stream.ts disconnects clients that do not read.
    if (response.headersSent && isEventStream(response)) return
    metrics?.shed('late')
    // Queued behind a slow response of the same connection (HTTP pipelining), so the answer cannot be sent.
    if (!response.socket) return void response.req.socket.destroy()
    if (response.headersSent) return void response.destroy()
    sendUnavailable(response, 'The answer took too long')
  })

  const isObserved = Boolean(metrics ?? recorder ?? tracing) || log.isLevelEnabled('info')
  const attributes = isObserved ? new WeakMap<IncomingMessage, RequestAttributes>() : undefined
  const attributesOf: AttributesOf = (request) => attributes?.get(request)
  const procedures = compileAll(services.app.router)
  const restFormat = createRestFormat(procedures, services.app.resources)
  const rpcFormat = createRpcFormat(procedures)
  const limitOf = createBodyLimits(procedures, { rest: restFormat.findAt, rpc: rpcFormat.findAt })
  /** Each further call of a batch occupies a slot. */
  const occupySlot = () => {
    const free = admission.occupy()
    if (!free) metrics?.shed('full')
    return free
  }
  /** The protocols, each with the prefix of its paths. */
  const protocols: [string, Protocol][] = [
    [RPC, createRpc(services, rpcFormat, occupySlot)],
    [MCP, createMcp(services)],
    [
      '/',
      createEndpoints(
        services,
        createHealthEndpoints(services),
        createReferenceEndpoints(services),
        createHomeEndpoints(services),
        createAuthEndpoints(services),
        createOAuthEndpoints(services),
      ),
    ],
    ['/', createDatastar(services, restFormat)],
    ['/', createHandler(services, restFormat)],
  ]
  const answerBrowser = createUnknownPaths()
  const responseHeadersFor = createResponseHeaders(settings)
  const preflightFor = createPreflights(settings)

  async function respond(request: IncomingMessage, response: ServerResponse, target: Target) {
    // Another server or proxy could read the rest of the connection differently.
    if (target.refusal) response.setHeader('connection', 'close')
    const limit = limitOf(request, target)
    check(request, target, limit)
    let bytes: Buffer | undefined
    if (hasBody(request.headers)) {
      sendContinue(request, response)
      bytes = await readBody(request, limit)
      if (!admission.admit(response, false, Math.max(1, Math.ceil(bytes.length / MAX_BODY)))) {
        shed(response)
        return
      }
    }
    const call = createCall(request, target, bytes, limit)
    attributes?.set(request, call.context.attributes)
    if (response instanceof MeasuredResponse) response.attributes = call.context.attributes

    const { path, method, refusal } = call
    const methods: string[] = []
    for (const [prefix, protocol] of protocols) {
      if (!path.startsWith(prefix) || protocol.accepts?.(call) === false) continue
      if (!refusal && (await protocol(call, response))) return
      methods.push(...(protocol.methodsAt?.(call) ?? []))
    }
    if (methods.length === 0) {
      if (await answerBrowser(call, response)) return
      throw notFound()
    }
    // 404 and 405 have priority over the refusal of a body (415).
    if (methods.includes(method)) throw refusal ?? notFound()
    sendAllowedMethods(call, response, methods)
  }

  function fail(error: unknown, response: ServerResponse) {
    // If the response has already ended, ANSWER_TIMEOUT has passed and the service has sent 503.
    if (response.writableEnded) return
    const publicError = toKnownError(error, log, response.req.id)
    if (response.headersSent) return response.destroy()
    // The service does not read the rest of the request, so the connection cannot be reused.
    if (!response.req.complete) response.setHeader('connection', 'close')
    sendError(response, publicError)
  }

  /** Load shedding: answers 503 without handling the request. */
  function shed(response: ServerResponse) {
    metrics?.shed('full')
    sendUnavailable(response, 'The service is at its limit of concurrent requests')
  }

  const logRequest = createRequestLog(services, attributesOf)
  const logOrigin = settings.production ? undefined : createOriginLog(settings, log)
  const warnOfProxy = settings.production ? createProxyWarning(settings, log) : undefined
  const listener = (request: IncomingMessage, response: ServerResponse, target: Target) => {
    request.id = randomUUID()
    const { method, headers } = request
    response.setHeader('x-request-id', request.id)
    for (const [name, value] of responseHeadersFor(headers.origin, target.path))
      response.setHeader(name, value)
    logRequest(request, response)
    metrics?.request(request, response, attributesOf)
    logOrigin?.(request, response)
    warnOfProxy?.(request)
    // A request with a body is admitted later, when the body is complete. If all slots are occupied now, the service
    // refuses the request before the body arrives.
    const hasRequestBody = hasBody(headers)
    const isAdmitted = hasRequestBody
      ? !admission.isFull()
      : admission.admit(response, isHealthCheck(request))
    if (!isAdmitted) {
      shed(response)
      return
    }
    const location = redirectOf(request, target)
    if (location !== undefined) {
      response.writeHead(308, { location }).end()
      return
    }
    const answer = () => {
      void respond(request, response, target).catch((error: unknown) => {
        fail(error, response)
      })
    }
    const recorded = recorder?.record(request, response, attributesOf, answer) ?? answer
    const handle = bindRequest?.(request, recorded) ?? recorded
    const preflight = method === 'OPTIONS' ? preflightFor(headers.origin ?? '', target.path) : undefined
    if (!preflight) {
      enqueueRequest(hasRequestBody, tracing?.bind(handle) ?? handle)
      return
    }
    preflight(request, response, handle)
  }
  const observedListener =
    tracing?.serve(listener, attributesOf, createRoutes(services.app.contract)) ?? listener
  const options = { ...LIMITS, ServerResponse: createResponseClass(networkOfRequest) }
  const server = createServer(options, (request, response) => {
    if (!acceptPipelined(request, response)) return
    const target = readTarget(request, settings.baseUrl)
    // From here on, `request.url` is the normalized path without the query string.
    request.url = target.path
    observedListener(request, response, target)
  })
  // Node otherwise drops the lines after the 1,000th, and with them the address that a proxy appends.
  server.maxHeadersCount = 0
  handleExpectations(server)
  server.on('clientError', refuseUnparsable)
  return server
}

/** Limits of Node's HTTP server: times in milliseconds, sizes in bytes. */
export const LIMITS = {
  maxHeaderSize: MAX_HEADERS,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  // Longer than the idle timeout of load balancers. Otherwise, the server could close a connection at the moment at
  // which the load balancer sends the next request.
  keepAliveTimeout: 75_000,
  // Disables the check of Node, because engine/http/server/target.ts checks `Host`.
  requireHostHeader: false,
  // Joins the values of repeated headers. If a request has two `Host` headers, Node by default uses the first value,
  // but a proxy may use the second. The joined value is not a valid host, so the request is refused.
  joinDuplicateHeaders: true,
}

/**
 * Sends 503 and closes the connection, because the client may still send the rest of the request, which the service
 * does not read.
 */
function sendUnavailable(response: ServerResponse, message: string) {
  response.setHeader('connection', 'close')
  sendError(response, unavailable(message))
}
