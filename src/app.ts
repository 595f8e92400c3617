import { ORPCError } from '@orpc/client'
import cors from 'cors'
import helmet from 'helmet'
import { createServer, type IncomingMessage, type Server, STATUS_CODES, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { pinoHttp } from 'pino-http'
import { v7 } from 'uuid'

import { errorBody } from '../contract/errors.ts'
import type { Parts } from './access.ts'
import { createReader, MAX_HEADERS, notFound } from './request.ts'
import { createAuthTransport } from './transports/auth.ts'
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

  const record = recorder(parts)
  const protect = protector(parts)
  const share = sharer(parts)
  const server = createServer({ maxHeaderSize: MAX_HEADERS }, (request, response) => {
    response.setHeader('vary', 'Origin')
    response.setHeader('cache-control', 'no-store')
    const fail = (error: unknown) => {
      if (!(error instanceof ORPCError)) log.error({ err: error }, 'a request failed')
      if (response.headersSent) response.destroy()
      else refuse(response, error instanceof ORPCError ? error : new ORPCError('INTERNAL_SERVER_ERROR'))
    }
    record(request, response)
    protect(request, response, () => {
      share(request, response, () => void respond(request, response).catch(fail))
    })
  })
  server.on('clientError', refuseUnreadable)
  return server
}

/** One line a request, by an id that the caller is told too. Neither queries nor headers: both carry secrets. */
const recorder = ({ log }: Parts) =>
  pinoHttp({
    logger: log,
    genReqId: (_, response) => {
      const id = v7()
      response.setHeader('x-request-id', id)
      return id
    },
    serializers: {
      req: ({ id, method, url }: { id: string; method: string; url: string }) => ({
        id,
        method,
        path: url.split('?', 1)[0],
      }),
      res: ({ statusCode }: { statusCode: number }) => ({ status: statusCode }),
    },
  })

const protector = ({ settings }: Parts) =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    frameguard: { action: 'deny' },
    strictTransportSecurity: settings.baseUrl.startsWith('https:'),
  })

/** Pages of the trusted origins may read the answers; to anybody else nothing is said of sharing. */
const sharer = ({ settings: { trustedOrigins } }: Parts) =>
  cors<IncomingMessage>(({ headers: { origin = '' } }, respond) => {
    respond(null, {
      origin: trustedOrigins.includes(origin) && origin,
      credentials: true,
      exposedHeaders: ['x-request-id', 'content-language', 'retry-after', 'www-authenticate'],
    })
  })

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
