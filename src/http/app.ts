import { ORPCError } from '@orpc/client'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, STATUS_CODES, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { pinoHttp } from 'pino-http'

import { errorBody, unavailable } from '../../contract/errors.ts'
import type { Services, RequestAttributes, AttributesOf } from '../context.ts'
import { mapMaybePromise, catchMaybePromise } from '../maybe-promise.ts'
import { hasBody } from './body.ts'
import { createHeads, createSharing } from './response-headers.ts'
import { closeWithConnection, createAdmission, createIncomplete } from './admission.ts'
import { describeError, MAX_PATH } from '../telemetry/log.ts'
import { refusalOf } from '../outages.ts'
import { createReader, MAX_HEADERS } from './request.ts'
import { notFound, readTarget, type Target } from './target.ts'
import { tracing } from '../telemetry/tracing.ts'
import { createAuthTransport } from './auth.ts'
import { createCompiled } from './fast/index.ts'
import { createDatastar } from './datastar.ts'
import { createHealth, isHealthCheck } from './health.ts'
import { createMcp } from './mcp.ts'
import { createOAuth } from './oauth.ts'
import { createReference } from './reference.ts'
import { createRest } from './rest.ts'
import { createRpc } from './rpc.ts'
import { type Call, FAREWELL, refuse, type Transport } from './protocol.ts'
import { atTurn } from './tick.ts'

/** The whole service as one HTTP server: a request is read once, then offered to one transport after another. */
export function createApp(services: Services): Server {
  const { settings, log, metrics } = services
  const trackIncomplete = createIncomplete(settings.maxIncomplete, () => metrics?.shed('incomplete'))
  const { receive, callOf } = createReader(services, trackIncomplete)
  const compiled = settings.compiled ? createCompiled(!settings.production) : undefined
  const transports: Transport[] = [
    createHealth(services),
    createReference(),
    createAuthTransport(services),
    createOAuth(services),
    createMcp(services),
    createDatastar(),
    createRest(),
    createRpc(),
  ]
  const headFor = createHeads(settings)
  const share = createSharing(settings)

  const respond = (
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    head: readonly string[],
  ) =>
    mapMaybePromise(receive(request, target), (bytes) => {
      if (bytes && !admission.admit(response)) {
        turnAway(response, head)
        return true
      }
      const call = callOf(request, target, bytes)
      attributes?.set(request, call.context.attributes)
      const answered = compiled?.({ call, response, head }) ?? false
      return mapMaybePromise(answered, (isAnswered) => isAnswered || offer(call, response, head))
    })

  async function offer(call: Call, response: ServerResponse, head: readonly string[]) {
    setHead(response, head)
    for (const transport of transports) if (await transport(call, response)) return true
    throw notFound()
  }

  function fail(error: unknown, response: ServerResponse, head: readonly string[]) {
    // The request was answered 503 after ANSWER_TIMEOUT.
    if (response.writableEnded) return
    const known = error instanceof ORPCError ? error : refusalOf(error)
    const refusal = known ?? new ORPCError('INTERNAL_SERVER_ERROR')
    if (refusal.status >= 500) log.error({ err: error }, 'a request failed')
    if (response.headersSent) return response.destroy()
    setHead(response, head)
    // The rest of the request is not read, so the connection cannot carry another one.
    if (!response.req.complete) response.setHeader('connection', 'close')
    refuse(response, refusal)
  }

  function turnAway(response: ServerResponse, head: readonly string[]) {
    metrics?.shed('full')
    setHead(response, head)
    refuseForNow(response, 'Too much is under way')
  }

  const admission = createAdmission(settings.maxRequests, settings.answerTimeout, (response) => {
    metrics?.shed('late')
    if (response.headersSent) return void response.destroy()
    refuseForNow(response, 'The answer took too long')
  })

  const isTold = Boolean(metrics ?? tracing) || log.isLevelEnabled('info')
  const attributes = isTold ? new WeakMap<IncomingMessage, RequestAttributes>() : undefined
  const attributesOf: AttributesOf = (request) => attributes?.get(request)
  const record = recorder(services, attributesOf)
  const listener = (request: IncomingMessage, response: ServerResponse, target: Target) => {
    request.id = randomUUID()
    const { method, headers } = request
    const head = ['x-request-id', request.id, ...headFor(headers.origin)]
    record(request, response)
    metrics?.request(request, response, attributesOf)
    // A request with a body is counted once the body is complete.
    const isIncomplete = hasBody(headers)
    const isAdmitted = isIncomplete ? !admission.isFull() : admission.admit(response, isHealthCheck(request))
    if (!isAdmitted) {
      turnAway(response, head)
      return
    }
    const go = () => {
      void catchMaybePromise<unknown>(
        () => respond(request, response, target, head),
        (error) => {
          fail(error, response, head)
        },
      )
    }
    if (method !== 'OPTIONS' || !settings.trustedOrigins.includes(headers.origin ?? '')) {
      atTurn(isIncomplete, tracing?.bind(go) ?? go)
      return
    }
    setHead(response, head)
    share(request, response, go)
  }
  const handle = tracing?.serve(listener, attributesOf) ?? listener
  const server = createServer({ ...LIMITS }, (request, response) => {
    closeWithConnection(request, response)
    const target = readTarget(request, settings.baseUrl)
    // Nothing after this line sees another path, or the query, by the request.
    request.url = target.path
    handle(request, response, target)
  })
  // Node would refuse an expectation that it does not know, in a shape of its own.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', refuseUnreadable)
  return server
}

/** Limits for sending a request, in milliseconds and bytes, and for keeping an idle connection. */
const LIMITS = {
  maxHeaderSize: MAX_HEADERS,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  // Longer than balancers keep theirs, so that this side never closes a connection as a request is sent.
  keepAliveTimeout: 75_000,
  // src/http/target.ts requires it.
  requireHostHeader: false,
  // Node would keep the first of two, where a proxy may have acted on the second: two hosts are no host.
  joinDuplicateHeaders: true,
}

/** Closes the connection too: it may hold the rest of a request, which is not read. */
function refuseForNow(response: ServerResponse, message: string) {
  response.setHeader('connection', 'close')
  refuse(response, unavailable(message))
}

function setHead(response: ServerResponse, head: readonly string[]) {
  for (let index = 0; index < head.length; index += 2)
    response.setHeader(head[index] ?? '', head[index + 1] ?? '')
}

/** Logs one line for each request, by an id that the caller is told too. Neither queries nor headers: both carry secrets. */
function recorder(
  { log }: Services,
  attributesOf: AttributesOf,
): (request: IncomingMessage, response: ServerResponse) => void {
  if (!log.isLevelEnabled('info')) return () => undefined
  const withSeen = (request: IncomingMessage, line: object) => ({ ...line, ...attributesOf(request) })
  return pinoHttp({
    logger: log,
    autoLogging: { ignore: isHealthCheck },
    customSuccessObject: (request, _, line: object) => withSeen(request, line),
    // Without the error that pino-http makes of a status: what failed has a line of its own.
    customErrorObject: (request, _, __, { err: _error, ...line }: { err?: unknown }) =>
      withSeen(request, line),
    wrapSerializers: false,
    serializers: {
      req: ({ id, method, url }: IncomingMessage) => ({ id, method, path: url?.slice(0, MAX_PATH) }),
      res: ({ statusCode }: ServerResponse) => ({ status: statusCode }),
      err: describeError,
    },
  })
}

const UNREADABLE: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }

/** A request that Node could not even parse is refused in the same shape as any other. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex) {
  // The rest of it, which is thrown away.
  if (socket.writableEnded) return
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const status = UNREADABLE[error.code ?? ''] ?? 400
  const message = STATUS_CODES[status] ?? ''
  const code = message.toUpperCase().replaceAll(' ', '_')
  const body = JSON.stringify(errorBody(new ORPCError(code, { status, message })))
  const head = `HTTP/1.1 ${status} ${message}\r\nconnection: close\r\ncontent-type: application/json`
  socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  const late = setTimeout(() => socket.destroy(), FAREWELL).unref()
  socket.once('close', () => {
    clearTimeout(late)
  })
}
