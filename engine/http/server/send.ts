import { ORPCError } from '@orpc/client'
import cors from 'cors'
import fresh from 'fresh'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { unavailable } from 'tallystick-contract/internal'

import type { Reply } from '../../call/caller.ts'
import type { LimitRefusal } from '../../call/context.ts'
import type { Settings } from '../../settings/settings.ts'
import { type Coding, firstElements, preferredCoding } from './accept.ts'
import { endAfterRequest, enqueueAnswer } from './connection.ts'
import { encodeError, type PublicError } from './errors.ts'
import { type Call, type Exchange, MCP } from './protocol.ts'

/** Returns whether `If-None-Match` contains the entity tag of the answer, so that the status must be 304. Compares the first tags only. */
export function isNotModified({ method, request: { headers }, context: { reply } }: Call) {
  const condition = headers['if-none-match']
  if (condition === undefined || method !== 'GET') return false
  const etag = reply.get('etag')
  // Ignores the request's Cache-Control. Browsers add `no-cache` to every `fetch` with If-None-Match; the header is
  // addressed to caches between the browser and the service.
  return etag !== undefined && fresh({ 'if-none-match': firstElements(condition) }, { etag })
}

/** Sends a complete answer, `application/json` by default, with the headers that are set on the response. */
export function sendBody(response: ServerResponse, status: number, body: string | Buffer, type?: string) {
  const { req: request } = response
  response.writeHead(status, {
    'content-type': type ?? response.getHeader('content-type') ?? 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  if (request.complete) enqueueAnswer(() => response.end(body))
  else {
    response.write(body)
    endAfterRequest(response)
  }
  return true
}

/**
 * Sends an error in the representation for the client (engine/http/server/errors.ts). 503 includes `Retry-After: 1`.
 */
export function sendError(response: ServerResponse, error: PublicError) {
  const { status, type, text, headers } = encodeError(response.req, error)
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  return sendBody(response, status, text, type)
}

/**
 * Sends an error. Does nothing after a complete answer, and closes the connection after the start of an answer. `isRead`: whether the
 * complete body has arrived.
 */
export function sendFailure(response: ServerResponse, error: PublicError, isRead = response.req.complete) {
  // If the response has already ended, ANSWER_TIMEOUT has passed and the service has sent 503.
  if (response.writableEnded) return
  if (response.headersSent) return void response.destroy()
  // The service does not read the rest of the request, so the connection cannot be reused.
  if (!isRead) response.setHeader('connection', 'close')
  sendError(response, error)
}

/**
 * Sends 503 and closes the connection, because the client may still send the rest of the request, which the service
 * does not read.
 */
export function sendUnavailable(response: ServerResponse, message: string) {
  response.setHeader('connection', 'close')
  sendError(response, unavailable(message))
}

export function sendLimitRefusal(response: ServerResponse, { error, headers }: LimitRefusal) {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  return sendError(response, error)
}

/** Answers OPTIONS with the supported methods of the path, and an unsupported method with 405. */
export function sendAllowedMethods({ method }: Call, response: ServerResponse, methods: readonly string[]) {
  const allowed = methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]))
  response.setHeader('allow', [...allowed, 'OPTIONS'].join(', '))
  if (method !== 'OPTIONS') return sendError(response, new ORPCError('METHOD_NOT_SUPPORTED'))
  response.writeHead(204).end()
  return true
}

/**
 * Sends the answer of a procedure with the headers of its reply. A successful answer is compressed if it is large, see
 * `selectCoding`. If `sendsNotModified`, sends 304 if the client already has the answer.
 */
export function sendOutput(
  { call, response }: { call: Call; response: ServerResponse },
  { status, text, type }: { status: number; text: string; type?: string | undefined },
  sendsNotModified = false,
) {
  const { request, context } = call
  const isLarge = status === 200 && Buffer.byteLength(text) >= MIN_COMPRESSED
  const coding = isLarge ? selectCoding(request, context.reply) : undefined
  setReplyHeaders(response, context.reply)
  const sentStatus = sendsNotModified && status === 200 && isNotModified(call) ? 304 : status
  if (sentStatus === 304 || sentStatus === 204) {
    response.writeHead(sentStatus).end()
    return true
  }
  return coding ? sendCompressed(response, text, coding, type) : sendBody(response, status, text, type)
}

async function sendCompressed(response: ServerResponse, text: string, coding: Coding, type?: string) {
  const compressed = await compressors[coding](text)
  // ANSWER_TIMEOUT has passed, and the service has sent 503.
  if (response.headersSent) return true
  response.setHeader('content-encoding', coding)
  return sendBody(response, 200, compressed, type)
}

/** The headers of a reply that extend the header with the same name that the response already has. */
const EXTENDING = ['vary', 'cache-control']

export function setReplyHeaders(response: ServerResponse, reply: Reply) {
  for (const [name, value] of reply)
    if (EXTENDING.includes(name)) response.appendHeader(name, value)
    else response.setHeader(name, value)
}

/** Minimum size of a compressed answer, in bytes. A smaller answer fits in one network packet. */
export const MIN_COMPRESSED = 1024

/** Level 4 of Brotli compresses 200 KiB in 2 ms, to less than gzip in the same time. Level 11 needs 300 ms. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 4 }
const brotli = promisify(brotliCompress)

/** Compresses in the thread pool of Node, so that the event loop is not blocked. */
export const compressors: Record<Coding, (bytes: Buffer | string) => Promise<Buffer>> = {
  br: (bytes) => brotli(bytes, { params }),
  gzip: promisify(gzip),
}

/**
 * Selects the content coding of a procedure's answer of at least MIN_COMPRESSED bytes. Undefined if the client accepts
 * no coding, or the answer has `Cache-Control: no-transform`: the guard sets this header on answers that contain tokens
 * (`secrets` in the contract), because the size of a compressed answer can reveal its content to an attacker who
 * controls a part of the answer (BREACH).
 *
 * Makes the entity tag of the reply weak, because the tag of the uncompressed answer is strong, and a compressed answer
 * has other bytes (RFC 9110, section 8.8.3.3).
 */
export function selectCoding({ headers }: IncomingMessage, reply: Reply): Coding | undefined {
  const coding = preferredCoding(headers['accept-encoding'] ?? '')
  if (!coding || reply.get('cache-control') === NO_TRANSFORM) return undefined
  const etag = reply.get('etag')
  if (typeof etag === 'string') reply.set('etag', `W/${etag}`)
  return coding
}

const NO_TRANSFORM = 'no-transform'

/** Names and values of headers. */
type HeaderLines = readonly (readonly [name: string, value: string])[]

/** Time for which a browser caches a preflight, in seconds: the maximum of Chromium. */
const PREFLIGHT_TTL = 7200

const exposedHeaders = [
  'link',
  'x-request-id',
  'etag',
  'content-language',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'www-authenticate',
  'mcp-protocol-version',
  'mcp-session-id',
]

/**
 * Creates the step that answers preflight requests. All other answers have the CORS headers of `createResponseHeaders`.
 *
 * Pages of TRUSTED_ORIGINS may read answers, and send cookies. Pages of every origin may call /mcp, which ignores
 * cookies, with an access token. If the browser must hide the answer from the page, the step does not answer.
 */
export function createPreflights({ trustedOrigins }: Settings) {
  const shared = { maxAge: PREFLIGHT_TTL, exposedHeaders }
  const trusted = cors<IncomingMessage>({ ...shared, origin: trustedOrigins, credentials: true })
  const open = cors<IncomingMessage>({ ...shared, origin: '*', methods: 'POST' })
  return ({ request, response, target: { path } }: Pick<Exchange, 'request' | 'response' | 'target'>) => {
    if (request.method !== 'OPTIONS') return false
    const { origin = '' } = request.headers
    const answer = trustedOrigins.includes(origin)
      ? trusted
      : path === MCP && origin !== ''
        ? open
        : undefined
    // Answers every OPTIONS request, and calls no next handler.
    answer?.(request, response, () => undefined)
    return answer !== undefined
  }
}

/**
 * The headers of every answer. `vary` names the request headers that select the CORS headers, the media type and the
 * content coding of an answer.
 */
const COMMON: HeaderLines = [
  ['vary', 'Origin, Accept, Datastar-Request, Accept-Encoding'],
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none';frame-ancestors 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
  ['x-content-type-options', 'nosniff'],
]

/** Browsers use only https for this host and its subdomains, for one year. */
const HSTS: HeaderLines = [['strict-transport-security', 'max-age=31536000; includeSubDomains']]

/** Security headers of a page. Other answers omit these headers, because the headers would have no effect. */
const PAGE: HeaderLines = [
  ['cross-origin-opener-policy', 'same-origin'],
  ['origin-agent-cluster', '?1'],
  ['referrer-policy', 'no-referrer'],
  ['x-frame-options', 'DENY'],
]

export function setPageHeaders(response: ServerResponse) {
  for (const [name, value] of PAGE) response.setHeader(name, value)
}

/** Creates the step that sets the headers of every answer, for the `Origin` and the path of the request. */
export function createResponseHeaders({ baseUrl, trustedOrigins }: Settings) {
  const common = [...COMMON, ...(baseUrl.startsWith('https:') ? HSTS : [])]
  const readableBy = (origin: string): HeaderLines => [
    ...common,
    ['access-control-allow-origin', origin],
    ['access-control-expose-headers', exposedHeaders.join(',')],
  ]
  const trusted = new Map(
    trustedOrigins.map((origin): [string, HeaderLines] => [
      origin,
      [...readableBy(origin), ['access-control-allow-credentials', 'true']],
    ]),
  )
  const open = readableBy('*')
  return ({ request, response, target }: Pick<Exchange, 'request' | 'response' | 'target'>) => {
    const { origin = '' } = request.headers
    const lines = trusted.get(origin) ?? (target.path === MCP ? open : common)
    for (const [name, value] of lines) response.setHeader(name, value)
    return false
  }
}
