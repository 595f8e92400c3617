import { ORPCError } from '@orpc/client'
import type { IncomingMessage } from 'node:http'

/** Maximum length of a target, in characters. */
const MAX_TARGET = 8 * 1024
/**
 * Maximum number of parameters and opening brackets in a query. Also limits the depth of nested keys, such as
 * `a[b][c]`.
 */
const MAX_QUERY_ITEMS = 100

/** The path of the endpoint for AI agents. A slash at the end is ignored, because people often add one to the address. */
export const MCP = '/mcp'

/** The normalized target of a request, which routing, admission, log and traces use. */
export interface Target {
  path: string
  url: () => URL
  /** The error of an invalid target. The server throws this error before it reads the body. */
  refusal?: ORPCError<string, unknown>
  /** Path and query without the slash at the end of the path, for a path that is refused because of this slash. */
  withoutSlash?: string
  /** The error of a query that is too complex. In this case, `url()` has no query, and the guard answers 400. */
  malformed?: ORPCError<'BAD_REQUEST', unknown>
}

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

/**
 * Normalizes the request target, and checks `Host`. Refuses a target that two servers or proxies could interpret
 * differently.
 */
export function readTarget(
  { url = '/', headers: { host }, httpVersion }: Pick<IncomingMessage, 'url' | 'headers' | 'httpVersion'>,
  baseUrl: string,
): Target {
  const refuse = (refusal: ORPCError<string, unknown>, path = UNREADABLE): Target => ({
    path,
    url: () => new URL(baseUrl),
    refusal,
  })
  if (host === undefined ? httpVersion === '1.1' : !HOST.test(host))
    return refuse(badRequest('Send exactly one Host header, with a host and an optional port'))
  if (url.length > MAX_TARGET)
    return refuse(new ORPCError('URI_TOO_LONG', { status: 414, message: 'The address is too long' }))
  const originForm = originFormOf(url, host)
  const [given = '', query = ''] = originForm?.split(/\?(.*)/s) ?? []
  // The check precedes the decoding, which could otherwise create an escape: `%%33%30` would become `%30`.
  if (!PATH.test(given) || given.includes('%00') || /%00|#/.test(query))
    return refuse(badRequest('The address cannot be read'))
  const decoded = decodeUnreserved(given)
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
