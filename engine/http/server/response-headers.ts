import cors from 'cors'
import type { IncomingMessage, ServerResponse } from 'node:http'

import type { Settings } from '../../settings.ts'
import { MCP } from './target.ts'

/** Names and values of headers. */
type HeaderLines = readonly (readonly [name: string, value: string])[]

type Preflight = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

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
 * Answers preflight requests. All other answers have the CORS headers of `createResponseHeaders`.
 *
 * Pages of TRUSTED_ORIGINS may read answers, and send cookies. Pages of every origin may call /mcp, which ignores
 * cookies, with an access token. Returns undefined if the browser must hide the answer from the page.
 */
export function createPreflights({
  trustedOrigins,
}: Settings): (origin: string, path: string) => Preflight | undefined {
  const shared = { maxAge: PREFLIGHT_TTL, exposedHeaders }
  const trusted = cors<IncomingMessage>({ ...shared, origin: trustedOrigins, credentials: true })
  const open = cors<IncomingMessage>({ ...shared, origin: '*', methods: 'POST' })
  return (origin, path) =>
    trustedOrigins.includes(origin) ? trusted : path === MCP && origin !== '' ? open : undefined
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

/** Returns the function that finds the response headers for the `Origin` and the path of a request. */
export function createResponseHeaders({
  baseUrl,
  trustedOrigins,
}: Settings): (origin: string | undefined, path: string) => HeaderLines {
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
  return (origin = '', path) => trusted.get(origin) ?? (path === MCP ? open : common)
}
