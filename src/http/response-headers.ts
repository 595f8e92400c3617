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

type Cors = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/** Time for which a browser caches a preflight, in seconds: the maximum of Chromium. */
const PREFLIGHT_TTL = 7200

/** CORS: pages of TRUSTED_ORIGINS may read answers. Answers for other origins have no `Access-Control-Allow-Origin`. */
export const createCors = ({ trustedOrigins }: Settings): Cors =>
  cors<IncomingMessage>({
    origin: trustedOrigins,
    credentials: true,
    maxAge: PREFLIGHT_TTL,
    exposedHeaders: [
      'link',
      'x-request-id',
      'etag',
      'content-language',
      'retry-after',
      'ratelimit',
      'ratelimit-policy',
      'www-authenticate',
    ],
  })

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
 * Returns the function that finds the response headers for the `Origin` of a request, as a flat list of names and
 * values. The headers depend only on the origin. Therefore, helmet and cors compute the headers of each trusted origin
 * once: computing the headers for each request would cost more than the rest of an answer.
 */
export function createResponseHeaders(settings: Settings): (origin: string | undefined) => readonly string[] {
  const setCorsHeaders = createCors(settings)
  const protection = createSecurityHeaders(settings)
  const headersFor = (origin: string) => {
    const request = new IncomingMessage(new Socket())
    request.headers = { origin }
    const response = new ServerResponse(request)
    response.setHeader('vary', VARY)
    response.setHeader('cache-control', 'no-store')
    for (const protect of protection) protect(request, response, () => undefined)
    if (origin !== '') setCorsHeaders(request, response, () => undefined)
    return Object.entries(response.getHeaders()).flatMap(([name, value]) => [name, String(value)])
  }
  const known = new Map(settings.trustedOrigins.map((origin) => [origin, headersFor(origin)]))
  const other = headersFor('')
  return (origin = '') => known.get(origin) ?? other
}
