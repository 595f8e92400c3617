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

type Sharing = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/** Pages of the trusted origins may read the answers; to anybody else nothing is said of sharing. */
export const createSharing = ({ trustedOrigins }: Settings): Sharing =>
  cors<IncomingMessage>({
    origin: trustedOrigins,
    credentials: true,
    exposedHeaders: ['link', 'x-request-id', 'etag', 'content-language', 'retry-after', 'www-authenticate'],
  })

/** What guards any answer. */
const createProtection = ({ baseUrl }: Settings) => [
  contentSecurityPolicy({
    useDefaults: false,
    directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
  }),
  crossOriginResourcePolicy(),
  xContentTypeOptions(),
  ...(baseUrl.startsWith('https:') ? [strictTransportSecurity()] : []),
]

const pageProtection = [
  crossOriginOpenerPolicy(),
  originAgentCluster(),
  referrerPolicy(),
  xFrameOptions({ action: 'deny' }),
]

/** Sets what guards a page besides: of data no browser heeds it, and there it would cost each answer 1 µs. */
export function protectPage(response: ServerResponse) {
  for (const protect of pageProtection) protect(response.req, response, () => undefined)
}

/** What decides who may read an answer; whether it is JSON, and of which form, or events. */
const VARY = 'Origin, Accept, Datastar-Request'

/**
 * The headers of every answer, name after value, by the origin that asks. Helmet and cors say the same each time, so
 * they are asked once: to be asked for each request would cost more than the rest of an answer.
 */
export function createHeads(settings: Settings): (origin: string | undefined) => readonly string[] {
  const share = createSharing(settings)
  const protection = createProtection(settings)
  const headFor = (origin: string) => {
    const request = new IncomingMessage(new Socket())
    request.headers = { origin }
    const response = new ServerResponse(request)
    response.setHeader('vary', VARY)
    response.setHeader('cache-control', 'no-store')
    for (const protect of protection) protect(request, response, () => undefined)
    if (origin !== '') share(request, response, () => undefined)
    return Object.entries(response.getHeaders()).flatMap(([name, value]) => [name, String(value)])
  }
  const known = new Map(settings.trustedOrigins.map((origin) => [origin, headFor(origin)]))
  const other = headFor('')
  return (origin = '') => known.get(origin) ?? other
}
