import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'

import type { Services } from './services.ts'
import { createRoutes, tracing } from '../../telemetry/tracing.ts'
import { createApplicationEndpoints } from '../endpoints/application.ts'
import { createAuthEndpoints } from '../endpoints/better-auth.ts'
import { offeredProviders } from '../../app/sign-in.ts'
import { createEndpoints, type BuiltInEndpoints } from '../endpoints/endpoints.ts'
import { createHealthEndpoints } from '../endpoints/health.ts'
import { createHomeEndpoints } from '../endpoints/home.ts'
import { createOAuthEndpoints } from '../endpoints/oauth.ts'
import { createReferenceEndpoints } from '../endpoints/reference.ts'
import { createUnknownPaths } from '../endpoints/unknown-paths.ts'
import { compileAll } from '../protocols/compile.ts'
import { createDatastar } from '../protocols/datastar.ts'
import { createMcp } from '../protocols/mcp.ts'
import { createRestFormat } from '../protocols/rest.ts'
import type { OccupySlot } from '../protocols/batch.ts'
import { RPC } from '../protocols/rpc-format.ts'
import { createRpc, createRpcFormat } from '../protocols/rpc.ts'
import { createAdmission } from './admission.ts'
import { createBodyLimits, createIncompleteLimit } from './body-limits.ts'
import { BODY_TIMEOUT, createBodyReader, handleExpectations } from './body-reader.ts'
import { hasBody } from './body.ts'
import { acceptPipelined, createResponseClass, enqueueRequest } from './connection.ts'
import { createEndpointRoutes, type EndpointRoutes, requireFreePaths } from './endpoint-routes.ts'
import { toKnownError } from './errors.ts'
import { createHandler, type WireFormat } from './handler.ts'
import { createObservation } from './observation.ts'
import { refuseUnparsable } from './parser-errors.ts'
import { type AsyncStep, type Call, type Exchange, MCP, type Protocol, type Step } from './protocol.ts'
import { createRequestReader, MAX_HEADERS, notFound, readTarget, redirectBrowser } from './request.ts'
import { createPreflights, createResponseHeaders, sendAllowedMethods, sendFailure } from './send.ts'

/** Creates the HTTP server. `received` and `handled` are the steps of a request, in their order. */
export function createApp(services: Services): Server {
  const { settings, app, log, metrics } = services
  const { attributesOf, observe, bind, setAttributes } = createObservation(services)
  const { check, createCall, networkOfRequest } = createRequestReader(services)
  const admission = createAdmission(services)
  const procedures = compileAll(app.router)
  const rest = createRestFormat(procedures, app.resources)
  const rpc = createRpcFormat(procedures)
  const routes = createEndpointRoutes(app.endpoints)
  const builtIn = createBuiltInEndpoints(services)
  requireFreePaths(app.endpoints, Object.keys(builtIn))
  const protocols = createProtocols(services, {
    rest,
    rpc,
    builtIn,
    routes,
    occupySlot: admission.occupySlot,
  })
  const trackIncomplete = createIncompleteLimit({ metrics, networkOfRequest })
  const endpoints = createApplicationEndpoints(services, { createCall, setAttributes, trackIncomplete })

  /** The steps when the headers have arrived. A step that returns true has answered the request, and is the last. */
  const received: Step[] = [
    // Answers of every kind have the headers for security and for other origins.
    createResponseHeaders(settings),
    // Log line, metrics, and hints on settings.
    observe,
    // 503 at the limit of concurrent requests.
    admission.admit,
    // 308 for a browser, if the path has a slash at its end.
    redirectBrowser,
    // In development, the context for the console and for the log of rejected promises.
    ...bind,
    // 204 for the preflight request of a page on another origin.
    createPreflights(settings),
  ]

  /** The steps when the request is handled. */
  const handled: AsyncStep[] = [
    // The maximum size of the body depends on the procedure.
    createBodyLimits(procedures, { rest: rest.listAt, rpc: rpc.listAt }),
    // The call of an endpoint, so that its name is in the log if a later step refuses the request.
    endpoints.enter,
    // Invalid targets (400, 404, 414), too many headers (431), other sites (403), and large bodies (413).
    check,
    // The media type (415) and the limit by network (429) of an endpoint.
    endpoints.admit,
    // Slow bodies (408), and large bodies without a declared size (413).
    createBodyReader(trackIncomplete),
    // 503 at the limit of concurrent requests.
    admission.admitBody,
    // The answer of the endpoint.
    endpoints.answer,
    // The call, and its answer by the first protocol that has the path (404, 405, 415).
    createDispatch(protocols, createUnknownPaths(services, builtIn), createCall, setAttributes),
  ]

  const receive = (exchange: Exchange) => {
    for (const step of received) if (step(exchange)) return
    const { hasBody, handle } = exchange
    // Handles the request immediately, or together with other requests of this iteration of the event loop.
    enqueueRequest(hasBody, tracing?.bind(handle) ?? handle)
  }
  async function handle(exchange: Exchange) {
    try {
      for (const step of handled) {
        const result = step(exchange)
        // Waits only for a promise: each `await` costs about a microsecond.
        if (result === true || (result !== false && (await result))) return
      }
    } catch (error) {
      const { response } = exchange
      if (!response.writableEnded) sendFailure(response, toKnownError(error, log, response.req.id))
    }
  }
  const receiveObserved = tracing?.serve(receive, attributesOf, createRoutes(app)) ?? receive
  const options = {
    ...LIMITS,
    // Node's limit is the longest one. The reader of bodies has the limit of each request.
    requestTimeout: Math.max(LIMITS.requestTimeout, routes.longestTimeout),
    ServerResponse: createResponseClass(networkOfRequest),
  }
  const server = createServer(options, (request, response) => {
    if (!acceptPipelined(request, response)) return
    const target = readTarget(request, settings.baseUrl)
    // From here on, `request.url` is the normalized path without the query string.
    request.url = target.path
    request.id = randomUUID()
    response.setHeader('x-request-id', request.id)
    const exchange: Exchange = {
      request,
      response,
      target,
      hasBody: hasBody(request.headers),
      endpoint: routes.find(request.method, target.path),
      limit: 0,
      handle: () => void handle(exchange),
    }
    receiveObserved(exchange)
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
  requestTimeout: BODY_TIMEOUT,
  connectionsCheckingInterval: 2_000,
  // Longer than the idle timeout of load balancers. Otherwise, the server could close a connection at the moment at
  // which the load balancer sends the next request.
  keepAliveTimeout: 75_000,
  // Disables the check of Node, because engine/http/server/request.ts checks `Host`.
  requireHostHeader: false,
  // Joins the values of repeated headers. If a request has two `Host` headers, Node by default uses the first value,
  // but a proxy may use the second. The joined value is not a valid host, so the request is refused.
  joinDuplicateHeaders: true,
}

const createBuiltInEndpoints = (services: Services): BuiltInEndpoints => ({
  ...createHealthEndpoints(services),
  ...createReferenceEndpoints(services),
  ...createHomeEndpoints(services),
  ...createAuthEndpoints(services.settings, offeredProviders(services.app.signIn)),
  ...createOAuthEndpoints(services),
  ...services.developerEndpoints,
})

interface ProtocolParts {
  rest: WireFormat
  rpc: WireFormat
  builtIn: BuiltInEndpoints
  routes: EndpointRoutes
  /** Each further call of a batch occupies a slot. */
  occupySlot: OccupySlot
}

/** Creates the protocols in the order in which they are tried, each with the prefix of its paths. */
const createProtocols = (
  services: Services,
  { rest, rpc, builtIn, routes, occupySlot }: ProtocolParts,
): [string, Protocol][] => [
  [RPC, createRpc(services, rpc, occupySlot)],
  [MCP, createMcp(services)],
  ['/', createEndpoints(services.consumeRateLimit, builtIn)],
  ['/', createDatastar(services, rest)],
  ['/', createHandler(services, rest)],
  // Another method at the path of an endpoint is 405.
  ['/', Object.assign(() => false, { methodsAt: ({ path }: Call) => routes.methodsAt(path) })],
]

/**
 * Creates the step that answers by the first protocol that has the path with the method. Otherwise, `answerUnknown`
 * answers, or callers receive 404, or 405 if a protocol has the path with another method.
 */
function createDispatch(
  protocols: readonly (readonly [prefix: string, protocol: Protocol])[],
  answerUnknown: Protocol,
  createCall: (exchange: Exchange) => Call,
  setAttributes: (exchange: Exchange, call: Call) => void,
): AsyncStep {
  return async (exchange) => {
    const call = createCall(exchange)
    setAttributes(exchange, call)
    const { response } = exchange
    const { path, method, refusal } = call
    const methods: string[] = []
    for (const [prefix, protocol] of protocols) {
      if (!path.startsWith(prefix) || protocol.accepts?.(call) === false) continue
      if (!refusal && (await protocol(call, response))) return true
      methods.push(...(protocol.methodsAt?.(call) ?? []))
    }
    if (methods.length === 0) {
      if (await answerUnknown(call, response)) return true
      throw notFound()
    }
    // 404 and 405 have priority over the refusal of a body (415). Without a refusal, a protocol has the path, but not this call.
    if (methods.includes(method)) throw refusal ?? notFound()
    return sendAllowedMethods(call, response, methods)
  }
}
