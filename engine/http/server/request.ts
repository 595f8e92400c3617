import { ORPCError } from '@orpc/client'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from 'proxy-addr'

import { type ContextParts, createContext } from '../../guard/authentication.ts'
import { networkOf } from '../../guard/networks.ts'
import type { Settings } from '../../settings/settings.ts'
import { preferredMediaType } from './accept.ts'
import { parseBody, tooLarge } from './body.ts'
import { isCrossSite, isUnproven, untrustedOrigin } from './origins.ts'
import { type Call, type Exchange, MCP, type Step, type Target } from './protocol.ts'

// Reads the target and the headers of a request: engine/http/server/body.ts reads the body.

export const MAX_HEADERS = 16 * 1024
/** Maximum number of header lines. Browsers and proxies send about thirty. */
const MAX_HEADER_LINES = 200

/** Maximum length of a target, in characters. */
const MAX_TARGET = 8 * 1024
/**
 * Maximum number of parameters and opening brackets in a query. Also limits the depth of nested keys, such as
 * `a[b][c]`.
 */
const MAX_QUERY_ITEMS = 100

/** Replaces an invalid path in the log. */
const UNREADABLE = '(unreadable)'

const badRequest = (message: string) => new ORPCError('BAD_REQUEST', { message })

export const notFound = () => new ORPCError('NOT_FOUND', { message: 'There is nothing at this address' })

/** A valid `Host` header (RFC 9112, section 3.2): one host, without user information. */
const HOST = /^([\w.~-]+|\[[\da-f:.]+\])(:\d*)?$/i
/** A valid path (RFC 3986, section 3.3). The URL parser does not change such a path, except for dot segments. */
const PATH = /^\/(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})*$/i
/**
 * What some server or proxy treats as the end of a path segment: `/` or `;`, or `/`, `\`, `;` percent-encoded one or
 * more times.
 */
const END = '[/;]|%(?:25)*(?:2f|5c|3b)'
const DOT_SEGMENT = new RegExp(`(?:${END})(?:\\.|%(?:25)*2e){1,2}(?=$|${END})`, 'i')
const QUERY_ITEM = /[&[]|%5b/gi
const TOO_COMPLEX = `A query may have at most ${MAX_QUERY_ITEMS} parameters and brackets`

const refuseTarget = (baseUrl: string, refusal: ORPCError<string, unknown>, path = UNREADABLE): Target => ({
  path,
  url: () => new URL(baseUrl),
  refusal,
})

/** Checks `Host`, and normalizes the request target. */
export function readTarget(
  { url = '/', headers: { host }, httpVersion }: Pick<IncomingMessage, 'url' | 'headers' | 'httpVersion'>,
  baseUrl: string,
): Target {
  const isMissing = host === undefined && httpVersion === '1.1'
  if (isMissing || (host !== undefined && !HOST.test(host)))
    return refuseTarget(baseUrl, badRequest('Send exactly one Host header, with a host and an optional port'))
  return normalizeTarget(url, host, baseUrl)
}

/**
 * Normalizes a target. Refuses a target that two servers or proxies could interpret differently. The authority of a target in absolute
 * form must be `host`.
 */
export function normalizeTarget(url: string, host: string | undefined, baseUrl: string): Target {
  const refuse = (refusal: ORPCError<string, unknown>, path?: string) => refuseTarget(baseUrl, refusal, path)
  if (url.length > MAX_TARGET)
    return refuse(new ORPCError('URI_TOO_LONG', { status: 414, message: 'The address is too long' }))
  const originForm = url.startsWith('/') ? url : originFormOf(url, host)
  const [given = '', query = ''] = originForm?.split(/\?(.*)/s) ?? []
  // The check precedes the decoding, which could otherwise create an escape: `%%33%30` would become `%30`.
  if (!PATH.test(given) || given.includes('%00') || /%00|#/.test(query))
    return refuse(badRequest('The address cannot be read'))
  const decoded = given.includes('%') ? decodeUnreserved(given) : given
  const path = decoded === `${MCP}/` ? MCP : decoded
  if (DOT_SEGMENT.test(path) || path.includes('//')) return refuse(notFound(), path)
  if (path.length > 1 && path.endsWith('/'))
    return {
      ...refuse(notFound(), path),
      withoutSlash: path.slice(0, -1) + (query === '' ? '' : `?${query}`),
    }
  const isComplex = (query.match(QUERY_ITEM)?.length ?? 0) > MAX_QUERY_ITEMS
  if (isComplex) return { path, url: () => new URL(baseUrl + path), malformed: badRequest(TOO_COMPLEX) }
  return { path, url: () => new URL(baseUrl + (query === '' ? path : `${path}?${query}`)) }
}

/**
 * Decodes percent-encoded letters, digits, `-`, `.`, `_` and `~`, which mean the same without encoding (RFC 3986, section
 * 6.2.2.2). Some clients encode these characters.
 */
const decodeUnreserved = (path: string) =>
  path.replace(/%(?:2d|2e|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi, decodeURIComponent)

/**
 * Converts a target in absolute form (RFC 9112, section 3.2.2) to path and query. Returns undefined if the authority of
 * the target differs from `Host`. Returns a target in another form unchanged.
 */
function originFormOf(url: string, host: string | undefined) {
  const [, authority, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url) ?? []
  if (authority === undefined) return url
  if (authority.toLowerCase() !== host?.toLowerCase()) return undefined
  return rest?.startsWith('/') ? rest : `/${rest ?? ''}`
}

/** Paths of programs, which receive errors as JSON. */
const PROGRAMS = /^\/(api|rpc|mcp|\.well-known|assets)(\/|$)/

/** Returns whether a browser opens a path. */
export const isNavigation = ({ method, headers: { accept = '' } }: IncomingMessage, path: string) =>
  (method === 'GET' || method === 'HEAD') &&
  !PROGRAMS.test(path) &&
  preferredMediaType(accept, ['application/json', 'text/html']) === 'text/html'

/** The step that redirects a browser from a path with a slash at its end. */
export const redirectBrowser: Step = ({ request, response, target: { path, withoutSlash } }) => {
  if (withoutSlash === undefined || !isNavigation(request, path)) return false
  response.writeHead(308, { location: withoutSlash }).end()
  return true
}

/**
 * Creates the functions that read a request and convert it to a call. They throw an error only if the request must be
 * refused in every protocol.
 */
export function createRequestReader(parts: ContextParts & { settings: Settings }) {
  const { baseUrl, trustedOrigins, trustedProxies } = parts.settings
  const isTrustedProxy = proxyAddr.compile(trustedProxies)
  const origins = [baseUrl, ...trustedOrigins]
  const addressOf = (request: IncomingMessage) => readAddress(request, isTrustedProxy)

  return {
    /** Returns the network of the client. Undefined if the connection is closed. */
    networkOfRequest: (request: IncomingMessage) => networkOf(addressOf(request)),

    /** Checks the target, the number of header lines, the origin and the declared size of a request. */
    check({ request, response, target, limit, endpoint }: Exchange) {
      if (target.refusal) {
        // Another server or proxy could read the rest of the connection differently.
        response.setHeader('connection', 'close')
        throw target.refusal
      }
      if (request.rawHeaders.length > 2 * MAX_HEADER_LINES)
        throw new ORPCError('REQUEST_HEADER_FIELDS_TOO_LARGE', {
          status: 431,
          message: `A request may have at most ${MAX_HEADER_LINES} header lines`,
        })
      if (isCrossSite(request, target, origins) || isUnproven(request, endpoint, origins))
        throw untrustedOrigin(request.headers)
      if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
      return false
    },

    createCall({
      request,
      target,
      bytes,
      limit,
    }: Pick<Exchange, 'request' | 'target' | 'bytes' | 'limit'>): Call {
      const { method = 'GET', headers } = request
      const { body, malformed, refusal } = bytes?.length
        ? parseBody(bytes, headers, target, limit)
        : { body: undefined }
      return {
        method: method === 'HEAD' ? 'GET' : method,
        path: target.path,
        url: target.url,
        request,
        body,
        refusal,
        context: createContext(parts, headers, {
          malformed: target.malformed ?? malformed,
          ipAddress: () => addressOf(request),
          isAbandoned: () => request.socket.destroyed,
          requestId: request.id,
        }),
      }
    },
  }
}

/** Maximum number of addresses in X-Forwarded-For that are read: the last, which the proxies of the operator append. */
const MAX_PROXIES = 50

/**
 * Returns the IP address of the client: the address that trusted proxies report in X-Forwarded-For. If no trusted proxy
 * reports a valid IP address, returns the address of the socket.
 */
function readAddress(request: IncomingMessage, isTrustedProxy: ReturnType<typeof proxyAddr.compile>) {
  const forwarded = request.headers['x-forwarded-for']
  if (typeof forwarded === 'string')
    request.headers['x-forwarded-for'] = withoutPorts(forwarded.split(',').slice(-MAX_PROXIES).join())
  // A closed socket has no address, and proxy-addr then returns undefined, although its types exclude undefined.
  const candidates: (string | undefined)[] = [
    proxyAddr(request, isTrustedProxy),
    request.socket.remoteAddress,
  ]
  return candidates
    .map((address = '') => address.replace(/^::ffff:/i, ''))
    .find((address) => isIP(address) !== 0)
}

/** Some proxies append the address with its port: `203.0.113.7:4711` or `[2001:db8::7]:4711`. */
const withoutPorts = (forwarded: string) =>
  forwarded.replace(
    /(?<=^|,)(\s*)(?:\[([^\],]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)(?=\s*(?:,|$))/g,
    (_, space: string, bracketed = '', address = '') => `${space}${bracketed}${address}`,
  )
