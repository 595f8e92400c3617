import { randomUUID } from 'node:crypto'
import { ORPCError } from '@orpc/client'
import cors from 'cors'
import helmet from 'helmet'
import { createServer, IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pinoHttp } from 'pino-http'

import { errorBody } from '../contract/errors.ts'
import type { Parts } from './access.ts'
import { createReader, MAX_HEADERS, notFound } from './request.ts'
import type { Settings } from './settings.ts'
import { createAuthTransport } from './transports/auth.ts'
import { createCompiled } from './transports/compiled.ts'
import { createDatastar } from './transports/datastar.ts'
import { createMcp } from './transports/mcp.ts'
import { createOAuth } from './transports/oauth.ts'
import { createReference } from './transports/reference.ts'
import { createRest } from './transports/rest.ts'
import { createRpc } from './transports/rpc.ts'
import { refuse, type Transport } from './transports/transport.ts'

/** The whole service as one HTTP server: a request is read once, then offered to one transport after another. */
export function createApp(parts: Parts): Server {
  const { settings, auth, log } = parts
  const read = createReader(parts)
  const transports: Transport[] = [
    ...(settings.compiled ? [createCompiled(!settings.production)] : []),
    createReference(),
    createAuthTransport(auth, settings),
    createOAuth(parts),
    createMcp(parts),
    createDatastar(),
    createRest(),
    createRpc(),
  ]

  async function respond(request: IncomingMessage, response: ServerResponse) {
    const call = await read(request)
    for (const transport of transports) if (await transport(call, response)) return
    throw notFound()
  }

  function fail(response: ServerResponse, error: unknown) {
    if (!(error instanceof ORPCError)) log.error({ err: error }, 'a request failed')
    if (response.headersSent) response.destroy()
    else refuse(response, error instanceof ORPCError ? error : new ORPCError('INTERNAL_SERVER_ERROR'))
  }

  const record = recorder(parts)
  const share = sharer(parts)
  const head = headOf(settings)
  const server = createServer({ maxHeaderSize: MAX_HEADERS }, (request, response) => {
    request.id = randomUUID()
    response.setHeader('x-request-id', request.id)
    for (const [name, value] of head) response.setHeader(name, value)
    record(request, response)
    share(request, response, () => {
      respond(request, response).catch((error: unknown) => {
        fail(response, error)
      })
    })
  })
  server.on('clientError', refuseUnreadable)
  return server
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** One line a request, by an id that the caller is told too. Neither queries nor headers: both carry secrets. */
function recorder({ log }: Parts): Listener {
  if (!log.isLevelEnabled('info')) return () => undefined
  return pinoHttp({
    logger: log,
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

/** The headers of every answer. Helmet is asked once: it says the same each time. Legacy browsers' are left out. */
function headOf({ baseUrl }: Settings): Map<string, string> {
  const protect = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    frameguard: { action: 'deny' },
    strictTransportSecurity: baseUrl.startsWith('https:'),
    dnsPrefetchControl: false,
    ieNoOpen: false,
    permittedCrossDomainPolicies: false,
    xssFilter: false,
  })
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  protect(request, response, () => undefined)
  const given = Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)] as const)
  return new Map([...given, ['vary', 'Origin'], ['cache-control', 'no-store']])
}

/** Pages of the trusted origins may read the answers; to anybody else nothing is said of sharing. */
function sharer({ settings: { trustedOrigins } }: Parts) {
  const share = cors<IncomingMessage>({
    origin: trustedOrigins,
    credentials: true,
    exposedHeaders: ['x-request-id', 'content-language', 'retry-after', 'www-authenticate'],
  })
  return (request: IncomingMessage, response: ServerResponse, next: () => void) => {
    const { origin } = request.headers
    if (origin !== undefined && trustedOrigins.includes(origin)) share(request, response, next)
    else next()
  }
}

const UNREADABLE: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }

/** A request that Node could not even parse is refused in the same shape as any other. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex) {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const status = UNREADABLE[error.code ?? ''] ?? 400
  const message = STATUS_CODES[status] ?? ''
  const code = message.toUpperCase().replaceAll(' ', '_')
  const body = JSON.stringify(errorBody(new ORPCError(code, { status, message })))
  const head = `HTTP/1.1 ${status} ${message}\r\nconnection: close\r\ncontent-type: application/json`
  socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}
