import { type HTTPPath, ORPCError } from '@orpc/client'
import { isObject, type Promisable } from '@orpc/shared'
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from 'proxy-addr'
import getRawBody from 'raw-body'

import { type Context, createContext, type Parts } from './access.ts'
import { after } from './after.ts'
import type { Call } from './transports/transport.ts'

const KIB = 1024
const MAX_URL = 8 * KIB
const MAX_BODY = 1024 * KIB
export const MAX_HEADERS = 16 * KIB

const SAFE = ['GET', 'HEAD', 'OPTIONS']

/** Reads requests into calls. What no protocol of ours would take is refused here, by an error thrown. */
export function createReader(parts: Parts) {
  const { baseUrl, trustedOrigins, trustedProxies } = parts.settings
  const isTrustedProxy = proxyAddr.compile(trustedProxies)
  const origins = [baseUrl, ...trustedOrigins]

  return (request: IncomingMessage): Promisable<Call> => {
    const { method = 'GET', headers } = request
    if (headers.host === undefined && request.httpVersion === '1.1')
      throw new ORPCError('BAD_REQUEST', { message: 'A Host header is needed' })
    const path = request.url ?? '/'
    const plainPath = isPlain(path) ? path : undefined
    let url = plainPath === undefined ? readUrl(path, baseUrl) : undefined
    // No getter: V8 would keep a shape of its own for every call that is made with one.
    if (isForeign(request, origins))
      throw new ORPCError('FORBIDDEN', { message: 'This origin may not act for you' })
    const callWith = ({ body, malformed }: Body): Call => ({
      method: method === 'HEAD' ? 'GET' : method,
      plainPath,
      url: () => (url ??= readUrl(path, baseUrl)),
      request,
      body,
      context: createContext(parts, headers, {
        malformed,
        address: () => readAddress(request, isTrustedProxy),
      }),
    })
    // Without a body there is nothing to wait for.
    return hasBody(headers) ? after(readBody(request), callWith) : callWith({ body: undefined })
  }
}

type Body = Pick<Call, 'body'> & Pick<Context, 'malformed'>

const isPlain = (path: string): path is HTTPPath => path.length <= 256 && /^(\/[\w-]+)+$/.test(path)

/** RFC 9112, section 6.3. */
export const hasBody = (headers: IncomingHttpHeaders) =>
  (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined

function readUrl(path: string, baseUrl: string) {
  if (path.length > MAX_URL)
    throw new ORPCError('URI_TOO_LONG', { status: 414, message: 'The address is too long' })
  // A proxy may be asked by the whole address (RFC 9112); whose it is does not matter here.
  const local = path.replace(/^https?:\/\/[^/?]+(?=\/)/i, '')
  if (!local.startsWith('/') || local.includes('%00') || !URL.canParse(baseUrl + local))
    throw new ORPCError('BAD_REQUEST', { message: 'The address cannot be read' })
  const url = new URL(baseUrl + local)
  // The documented paths, exactly: an empty step, or one at the end, would be some other path's.
  if (/\/(\/|$)/.test(url.pathname)) throw notFound()
  return url
}

/** What a trusted proxy says of the caller, if that is an address, else the socket's. */
function readAddress(request: IncomingMessage, isTrustedProxy: ReturnType<typeof proxyAddr.compile>) {
  const claimed = [proxyAddr(request, isTrustedProxy), request.socket.remoteAddress ?? '']
  return claimed.map((address) => address.replace(/^::ffff:/i, '')).find((address) => isIP(address) !== 0)
}

export const notFound = () => new ORPCError('NOT_FOUND', { message: 'There is nothing at this address' })

/** A browser that acts with its cookie for a page of somebody else's. Callers that are no browsers say nothing. */
function isForeign({ method = 'GET', url, headers }: IncomingMessage, origins: string[]) {
  if (SAFE.includes(method)) return false
  const { cookie, origin, 'sec-fetch-site': site } = headers
  // The sign-in page too: nobody is to be signed in as somebody else by another page.
  if (cookie === undefined && pathOf(url) !== '/authorize') return false
  if (site === 'same-origin') return false
  return origin === undefined ? site !== undefined && site !== 'none' : !origins.includes(origin)
}

/** A body is a JSON object. One that only turns out unreadable is refused later, when the guard has spoken. */
const readBody = (request: IncomingMessage) => after(readBytes(request), (bytes) => bodyOf(request, bytes))

function bodyOf(request: IncomingMessage, bytes: Buffer): Body {
  if (bytes.length === 0) return { body: undefined }
  if (request.headers['content-encoding'] !== undefined)
    throw new ORPCError('UNSUPPORTED_MEDIA_TYPE', { message: 'A body must not be compressed' })
  const type = request.headers['content-type'] ?? ''
  if (takesForms(request.url) && /^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    return formOf(new URLSearchParams(bytes.toString()))
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new ORPCError('UNSUPPORTED_MEDIA_TYPE', { message: 'A body must be application/json' })
  const body = parse(bytes)
  if (isObject(body)) return { body }
  const message = body === undefined ? 'The body is not valid JSON' : 'The body must be a JSON object'
  return { body: {}, malformed: new ORPCError('BAD_REQUEST', { message }) }
}

/** A form has each field once (RFC 6749, section 3.1). */
function formOf(fields: URLSearchParams): Body {
  const body = Object.fromEntries(fields)
  if (Object.keys(body).length === fields.size) return { body }
  return { body: {}, malformed: new ORPCError('BAD_REQUEST', { message: 'A parameter is repeated' }) }
}

/** The token service speaks in forms, as its standards have it, and its pages too. */
const takesForms = (url?: string) => ['/authorize', '/token', '/revoke'].includes(pathOf(url))

const pathOf = (url = '/') => url.split('?', 1)[0] ?? ''

function readBytes(request: IncomingMessage): Promisable<Buffer> {
  // Of a small one all is here already, and can be taken as it is.
  const isHere = request.readableLength === Number(request.headers['content-length'])
  const bytes: unknown = isHere ? request.read() : undefined
  return Buffer.isBuffer(bytes) ? bytes : awaitBytes(request)
}

async function awaitBytes(request: IncomingMessage) {
  try {
    return await getRawBody(request, { limit: MAX_BODY, length: request.headers['content-length'] ?? null })
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 413)
      throw new ORPCError('PAYLOAD_TOO_LARGE', { message: `A body may have at most ${MAX_BODY} bytes` })
    throw new ORPCError('BAD_REQUEST', { message: 'The body broke off' })
  }
}

function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return undefined
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
