import { ORPCError } from '@orpc/client'
import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  STATUS_CODES,
  type ServerResponse,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { pinoHttp } from 'pino-http'

import { errorBody, unavailable } from '../contract/errors.ts'
import type { Parts, Seen, SeenOf } from './access.ts'
import { after, attempt } from './after.ts'
import { createHeads, createSharing } from './head.ts'
import { createGate } from './load.ts'
import { refusalOf } from './outages.ts'
import { createReader, hasBody, MAX_HEADERS, notFound } from './request.ts'
import { tracing } from './tracing.ts'
import { createAuthTransport } from './transports/auth.ts'
import { createCompiled } from './transports/compiled.ts'
import { createDatastar } from './transports/datastar.ts'
import { createHealth, isHealth } from './transports/health.ts'
import { createMcp } from './transports/mcp.ts'
import { createOAuth } from './transports/oauth.ts'
import { createReference } from './transports/reference.ts'
import { createRest } from './transports/rest.ts'
import { createRpc } from './transports/rpc.ts'
import { type Call, FAREWELL, refuse, type Transport } from './transports/transport.ts'
import { atTurn } from './turn.ts'

/** The whole service as one HTTP server: a request is read once, then offered to one transport after another. */
export function createApp(parts: Parts): Server {
  const { settings, auth, log, metrics } = parts
  const read = createReader(parts)
  const compiled = settings.compiled ? createCompiled(!settings.production) : undefined
  const transports: Transport[] = [
    createHealth(parts),
    createReference(),
    createAuthTransport(auth, settings),
    createOAuth(parts),
    createMcp(parts),
    createDatastar(),
    createRest(),
    createRpc(),
  ]
  const headFor = createHeads(settings)
  const share = createSharing(settings)

  const respond = (request: IncomingMessage, response: ServerResponse, head: readonly string[]) =>
    after(read(request), (call) => {
      seen?.set(request, call.context.seen)
      const answered = compiled?.({ call, response, head }) ?? false
      return after(answered, (isAnswered) => isAnswered || offer(call, response, head))
    })

  async function offer(call: Call, response: ServerResponse, head: readonly string[]) {
    setHead(response, head)
    for (const transport of transports) if (await transport(call, response)) return true
    throw notFound()
  }

  function fail(error: unknown, response: ServerResponse, head: readonly string[]) {
    // Its time was up, and it has been told so.
    if (response.writableEnded) return
    const known = error instanceof ORPCError ? error : refusalOf(error)
    const refusal = known ?? new ORPCError('INTERNAL_SERVER_ERROR')
    if (refusal.status >= 500) log.error({ err: error }, 'a request failed')
    if (response.headersSent) return response.destroy()
    setHead(response, head)
    refuse(response, refusal)
  }

  const admit = createGate(settings.maxRequests, settings.answerTimeout, (response) => {
    metrics?.shed('late')
    if (response.headersSent) return void response.destroy()
    refuseForNow(response, 'The answer took too long')
  })

  const isTold = Boolean(metrics ?? tracing) || log.isLevelEnabled('info')
  const seen = isTold ? new WeakMap<IncomingMessage, Seen>() : undefined
  const seenOf: SeenOf = (request) => seen?.get(request)
  const record = recorder(parts, seenOf)
  const listener: RequestListener = (request, response) => {
    request.id = randomUUID()
    const { method, headers } = request
    const head = ['x-request-id', request.id, ...headFor(headers.origin)]
    record(request, response)
    metrics?.request(request, response, seenOf)
    if (!admit(response, isHealth(request.url))) {
      metrics?.shed('full')
      refuseForNow(response, 'Too much is under way')
      return
    }
    const go = () => {
      void attempt<unknown>(
        () => respond(request, response, head),
        (error) => {
          fail(error, response, head)
        },
      )
    }
    if (method !== 'OPTIONS' || !settings.trustedOrigins.includes(headers.origin ?? '')) {
      atTurn(hasBody(headers), tracing?.bind(go) ?? go)
      return
    }
    setHead(response, head)
    share(request, response, go)
  }
  const server = createServer({ ...LIMITS }, tracing?.serve(listener, seenOf) ?? listener)
  // Node would refuse an expectation that it does not know, in a shape of its own.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', refuseUnreadable)
  return server
}

/** What a caller may take to send a request, in milliseconds and bytes, and how long an idle connection is kept. */
const LIMITS = {
  maxHeaderSize: MAX_HEADERS,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  // Longer than balancers keep theirs, so that it is never this side that closes one as a request is sent.
  keepAliveTimeout: 75_000,
  // src/request.ts does.
  requireHostHeader: false,
}

/** The connection goes too: it may hold the rest of a request that nobody will read. */
function refuseForNow(response: ServerResponse, message: string) {
  response.setHeader('connection', 'close')
  refuse(response, unavailable(message))
}

function setHead(response: ServerResponse, head: readonly string[]) {
  for (let index = 0; index < head.length; index += 2)
    response.setHeader(head[index] ?? '', head[index + 1] ?? '')
}

/** One line a request, by an id that the caller is told too. Neither queries nor headers: both carry secrets. */
function recorder(
  { log }: Parts,
  seenOf: SeenOf,
): (request: IncomingMessage, response: ServerResponse) => void {
  if (!log.isLevelEnabled('info')) return () => undefined
  const withSeen = (request: IncomingMessage, line: object) => ({ ...line, ...seenOf(request) })
  return pinoHttp({
    logger: log,
    // Asked every second or so, by whoever watches.
    autoLogging: { ignore: ({ url }) => isHealth(url) },
    customSuccessObject: (request, _, line: object) => withSeen(request, line),
    customErrorObject: (request, _, __, line: object) => withSeen(request, line),
    serializers: {
      req: ({ id, method, url }: { id: string; method: string; url: string }) => ({
        id,
        method,
        path: url.split('?', 1)[0],
      }),
      res: ({ statusCode }: { statusCode: number }) => ({ status: statusCode }),
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
