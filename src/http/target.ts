import { type HTTPPath, ORPCError } from '@orpc/client'
import type { IncomingMessage } from 'node:http'

const MAX_TARGET = 8 * 1024
/** Parameters and opening brackets of a query: the depth of a value in bracket notation cannot be larger. */
const MAX_QUERY_ITEMS = 100

/** The address of a request in its one normal form. Routing, admission, log and traces read the same one. */
export interface Target {
  path: string
  /** The path, if it consists of plain segments and has no query: no URL needs to be parsed. */
  plainPath: HTTPPath | undefined
  url: () => URL
  /** Thrown before the body is read. */
  refusal?: ORPCError<string, unknown>
  /** A query that is too complex. The URL has no query then, and the guard refuses the call: 400. */
  malformed?: ORPCError<'BAD_REQUEST', unknown>
}

/** Stands in the log for an address that is not logged. */
const UNREADABLE = '(unreadable)'

const badRequest = (message: string) => new ORPCError('BAD_REQUEST', { message })

export const notFound = () => new ORPCError('NOT_FOUND', { message: 'There is nothing at this address' })

const isPlain = (target: string): target is HTTPPath => target.length <= 256 && /^(\/[\w-]+)+$/.test(target)

/** RFC 9112, section 3.2: one host, without user information. */
const HOST = /^([\w.~-]+|\[[\da-f:.]+\])(:\d*)?$/i
/** RFC 3986, section 3.3. The URL parser keeps such a path as it is, except for dot segments. */
const PATH = /^\/(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})*$/i
/** What some server or proxy takes for the end of a segment, percent-encoded any number of times. */
const END = '[/;]|%(?:25)*(?:2f|5c|3b)'
const DOT_SEGMENT = new RegExp(`(?:${END})(?:\\.|%(?:25)*2e){1,2}(?=$|${END})`, 'i')
const EMPTY_SEGMENT = /\/(\/|$)/
const QUERY_ITEM = /[&[]|%5b/gi

/** Reads the address of a request, which is its target and its `Host`. Anything ambiguous is refused. */
export function readTarget(
  { url = '/', headers: { host }, httpVersion }: Pick<IncomingMessage, 'url' | 'headers' | 'httpVersion'>,
  baseUrl: string,
): Target {
  const refuse = (refusal: ORPCError<string, unknown>, path = UNREADABLE): Target => ({
    path,
    plainPath: undefined,
    url: () => new URL(baseUrl),
    refusal,
  })
  if (host === undefined ? httpVersion === '1.1' : !HOST.test(host))
    return refuse(badRequest('One Host header is needed, with a host and a port alone'))
  if (isPlain(url)) return { path: url, plainPath: url, url: () => new URL(baseUrl + url) }
  if (url.length > MAX_TARGET)
    return refuse(new ORPCError('URI_TOO_LONG', { status: 414, message: 'The address is too long' }))
  const local = localOf(url, host)
  const [path = '', query = ''] = local?.split(/\?(.*)/s) ?? []
  if (!PATH.test(path) || path.includes('%00') || /%00|#/.test(query))
    return refuse(badRequest('The address cannot be read'))
  if (DOT_SEGMENT.test(path) || EMPTY_SEGMENT.test(path)) return refuse(notFound(), path)
  const isComplex = (query.match(QUERY_ITEM)?.length ?? 0) > MAX_QUERY_ITEMS
  const parsed = new URL(baseUrl + (isComplex || query === '' ? path : `${path}?${query}`))
  const malformed = badRequest(`A query may have at most ${MAX_QUERY_ITEMS} parameters and brackets`)
  return { path, plainPath: undefined, url: () => parsed, ...(isComplex && { malformed }) }
}

/** A proxy may be asked by the whole address (RFC 9112, section 3.2.2), of the host that `Host` names. */
function localOf(url: string, host: string | undefined) {
  const [, authority, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url) ?? []
  if (authority === undefined) return url
  if (authority.toLowerCase() !== host?.toLowerCase()) return undefined
  return rest?.startsWith('/') ? rest : `/${rest ?? ''}`
}
