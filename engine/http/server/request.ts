import { ORPCError } from '@orpc/client'
import { parse } from 'content-type'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from 'proxy-addr'

import { createContext } from '../../guard/authentication.ts'
import type { Services } from '../../services.ts'
import {
  type Body,
  checkSize,
  malformed,
  parseCalls,
  parseForm,
  parseMessages,
  parseObject,
  readBody,
} from './body.ts'
import { networkOf } from '../../guard/networks.ts'
import { weightOf } from './body-limits.ts'
import type { createIncompleteLimit } from './admission.ts'
import { isBatch, RPC } from '../protocols/rpc-format.ts'
import { MCP, type Target } from './target.ts'
import type { Call } from './protocol.ts'

export const MAX_HEADERS = 16 * 1024
/** Maximum number of header lines. Browsers and proxies send about thirty. */
const MAX_HEADER_LINES = 200

const SAFE = ['GET', 'HEAD', 'OPTIONS']

/**
 * Creates the functions that read a request and convert it to a call. They throw an error only if the request must be
 * refused in every protocol.
 */
export function createRequestReader(
  services: Services,
  trackIncomplete: ReturnType<typeof createIncompleteLimit>,
) {
  const { baseUrl, trustedOrigins, trustedProxies } = services.settings
  const isTrustedProxy = proxyAddr.compile(trustedProxies)
  const origins = [baseUrl, ...trustedOrigins]
  const addressOf = (request: IncomingMessage) => readAddress(request, isTrustedProxy)
  const networkOfRequest = (request: IncomingMessage) => networkOf(addressOf(request))

  return {
    networkOfRequest,

    /** Checks the target, the number of header lines, the origin and the declared size of a request. */
    check(request: IncomingMessage, target: Target, limit: number) {
      if (target.refusal) throw target.refusal
      if (request.rawHeaders.length > 2 * MAX_HEADER_LINES)
        throw new ORPCError('REQUEST_HEADER_FIELDS_TOO_LARGE', {
          status: 431,
          message: `A request may have at most ${MAX_HEADER_LINES} header lines`,
        })
      if (isCrossSite(request, target, origins)) throw untrustedOrigin(request.headers)
      checkSize(request.headers, limit)
    },

    readBody: (request: IncomingMessage, limit: number) =>
      readBody(request, limit, (abort) =>
        trackIncomplete(networkOfRequest(request) ?? 'unknown', abort, weightOf(request.headers, limit)),
      ),

    createCall(request: IncomingMessage, target: Target, bytes: Buffer | undefined, limit: number): Call {
      const { method = 'GET', headers } = request
      const { body, malformed, refusal } = parseBody(request, target, bytes, limit)
      return {
        method: method === 'HEAD' ? 'GET' : method,
        path: target.path,
        url: target.url,
        request,
        body,
        refusal,
        context: createContext(services, headers, {
          malformed: target.malformed ?? malformed,
          address: () => addressOf(request),
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

/**
 * Prevents cross-site request forgery: returns whether a page of an untrusted origin sent a request with an unsafe
 * method. Clients other than browsers usually send neither `Origin` nor `Sec-Fetch-Site`, so requests without these
 * headers are accepted.
 */
function isCrossSite({ method = 'GET', headers }: IncomingMessage, { path }: Target, origins: string[]) {
  // The pages for apps have a stricter check (engine/http/endpoints/sign-in-pages.ts), and refuse a request with a
  // page. MCP ignores cookies.
  if (SAFE.includes(method) || PAGES.includes(path) || path === MCP) return false
  const { cookie, origin, 'sec-fetch-site': site } = headers
  if (cookie === undefined) return false
  if (site === 'same-origin') return false
  return origin === undefined ? site !== undefined && site !== 'none' : !origins.includes(origin)
}

/** Maximum length of an origin in a message. */
const MAX_ORIGIN = 200

/** Creates the error for a cross-site request. The settings in the message make the service accept the origin. */
const untrustedOrigin = ({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders) =>
  new ORPCError('FORBIDDEN', {
    message:
      origin === undefined
        ? `A request with Sec-Fetch-Site: ${String(site).slice(0, MAX_ORIGIN)} must have the header Origin`
        : `The origin ${JSON.stringify(origin.slice(0, MAX_ORIGIN))} is neither BASE_URL nor one of TRUSTED_ORIGINS of the service`,
  })

/** Paths of pages with forms. */
const PAGES = ['/authorize', '/device']
/** Paths that accept form bodies. The OAuth standards require forms for the paths without pages. */
const FORMS = [...PAGES, '/token', '/revoke', '/device_authorization']
/** Paths with error responses of their own format, also for a body of an unsupported type. */
const OAUTH = [...FORMS, '/register']

function parseBody(
  { headers }: IncomingMessage,
  { path }: Target,
  bytes: Buffer | undefined,
  limit: number,
): Body & Pick<Call, 'refusal'> {
  if (bytes === undefined || bytes.length === 0) return { body: undefined }
  const refuse = OAUTH.includes(path) ? malformed : unsupported
  const { 'content-encoding': coding = 'identity' } = headers
  if (coding.toLowerCase() !== 'identity') return refuse('A body must not be compressed')
  const { type, parameters } = parse(headers['content-type'] ?? '')
  const { charset = 'utf-8' } = parameters
  if (!/^utf-?8$/i.test(charset)) return refuse('The charset of a body must be UTF-8')
  const isForm = FORMS.includes(path)
  if (isForm && type === 'application/x-www-form-urlencoded') return parseForm(bytes)
  if (type === 'application/json') return parserFor(path, headers)(bytes, limit)
  return refuse(`A body must be ${isForm ? 'application/x-www-form-urlencoded' : 'application/json'}`)
}

function parserFor(path: string, headers: IncomingHttpHeaders): typeof parseObject {
  if (path === MCP) return parseMessages
  return path.startsWith(RPC) && isBatch(headers) ? parseCalls : parseObject
}

const unsupported = (message: string) => ({
  body: undefined,
  refusal: new ORPCError('UNSUPPORTED_MEDIA_TYPE', { message }),
})
