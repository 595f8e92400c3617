import cors from 'cors'
import {
  contentSecurityPolicy,
  crossOriginOpenerPolicy,
  crossOriginResourcePolicy,
  originAgentCluster,
  referrerPolicy,
  strictTransportSecurity,
  xContentTypeOptions,
  xFrameOptions,
} from 'helmet'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

import type { Settings } from '../settings.ts'
import { MCP } from './target.ts'

type Cors = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

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
 * CORS: pages of TRUSTED_ORIGINS may read answers, and send cookies. Pages of every origin may call /mcp, which ignores
 * cookies, with an access token. Returns undefined if the browser must hide the answer from the page.
 */
export function createCors({ trustedOrigins }: Settings): (origin: string, path: string) => Cors | undefined {
  const shared = { maxAge: PREFLIGHT_TTL, exposedHeaders }
  const trusted = cors<IncomingMessage>({ ...shared, origin: trustedOrigins, credentials: true })
  const open = cors<IncomingMessage>({ ...shared, origin: '*', methods: 'POST' })
  return (origin, path) =>
    trustedOrigins.includes(origin) ? trusted : path === MCP && origin !== '' ? open : undefined
}

/** Security headers of every answer. */
const createSecurityHeaders = ({ baseUrl }: Settings) => [
  contentSecurityPolicy({
    useDefaults: false,
    directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
  }),
  crossOriginResourcePolicy(),
  xContentTypeOptions(),
  ...(baseUrl.startsWith('https:') ? [strictTransportSecurity()] : []),
]

const pageHeaders = [
  crossOriginOpenerPolicy(),
  originAgentCluster(),
  referrerPolicy(),
  xFrameOptions({ action: 'deny' }),
]

/**
 * Sets the security headers of a page. Other answers omit these headers, because the headers would have no effect, and
 * setting the headers costs 1 µs for each answer.
 */
export function setPageHeaders(response: ServerResponse) {
  for (const protect of pageHeaders) protect(response.req, response, () => undefined)
}

/** The request headers that select the CORS headers, the media type and the content coding of an answer. */
const VARY = 'Origin, Accept, Datastar-Request, Accept-Encoding'

/**
 * Returns the function that finds the response headers for the `Origin` and the path of a request. Helmet and cors compute each list once: computing the headers for each request would cost more than the rest
 * of an answer.
 */
export function createResponseHeaders(
  settings: Settings,
): (origin: string | undefined, path: string) => readonly (readonly [string, string])[] {
  const corsFor = createCors(settings)
  const protection = createSecurityHeaders(settings)
  const headersFor = (origin: string, path = '/') => {
    const request = new IncomingMessage(new Socket())
    request.headers = { origin }
    const response = new ServerResponse(request)
    response.setHeader('vary', VARY)
    response.setHeader('cache-control', 'no-store')
    for (const protect of protection) protect(request, response, () => undefined)
    corsFor(origin, path)?.(request, response, () => undefined)
    return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)] as const)
  }
  const known = new Map(settings.trustedOrigins.map((origin) => [origin, headersFor(origin)]))
  const other = headersFor('')
  const open = headersFor('null', MCP)
  return (origin = '', path) => known.get(origin) ?? (path === MCP ? open : other)
}
