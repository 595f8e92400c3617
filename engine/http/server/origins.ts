import { ORPCError } from '@orpc/client'
import { parse as parseType } from 'content-type'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

import { isBearer } from '../../guard/authentication.ts'
import { PAGES } from './body.ts'
import type { FoundEndpoint } from './endpoint-routes.ts'
import { MCP, type Target } from './protocol.ts'

const SAFE = ['GET', 'HEAD', 'OPTIONS']

/**
 * Prevents cross-site request forgery: returns whether a page of an untrusted origin sent a request with an unsafe
 * method. Clients other than browsers usually send neither `Origin` nor `Sec-Fetch-Site`, so requests without these
 * headers are accepted.
 */
export function isCrossSite(
  { method = 'GET', headers }: IncomingMessage,
  { path }: Target,
  origins: string[],
) {
  // The pages of the sign-in for apps have a stricter check, and answer a refused request with a page
  // (engine/http/endpoints/sign-in-pages.ts). MCP ignores cookies.
  if (SAFE.includes(method) || PAGES.includes(path) || path === MCP) return false
  const { cookie, origin, 'sec-fetch-site': site } = headers
  if (cookie === undefined) return false
  if (site === 'same-origin') return false
  return origin === undefined ? site !== undefined && site !== 'none' : !origins.includes(origin)
}

/**
 * Prevents cross-site request forgery at endpoints, which receive other bodies than JSON: returns whether a request with a cookie does
 * not prove that it comes from a trusted page. Browsers send forms and texts to other sites without a preflight request, and old
 * browsers send them without `Origin`.
 */
export function isUnproven(
  { method = 'GET', headers }: IncomingMessage,
  endpoint: FoundEndpoint | undefined,
  origins: string[],
) {
  const { cookie, origin, 'sec-fetch-site': site, 'content-type': type = '' } = headers
  const isByCookie = cookie !== undefined && !isBearer(headers)
  if (!endpoint?.declaration.access || !isByCookie || SAFE.includes(method)) return false
  if (parseType(type).type === 'application/json' || site === 'same-origin') return false
  return origin === undefined || !origins.includes(origin)
}

/** Maximum length of an origin in a message. */
const MAX_ORIGIN = 200

/** Creates the error for a cross-site request. The settings in the message make the service accept the origin. */
export const untrustedOrigin = ({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders) =>
  new ORPCError('FORBIDDEN', {
    message:
      origin === undefined
        ? `A request with ${site === undefined ? 'a cookie' : `Sec-Fetch-Site: ${site.slice(0, MAX_ORIGIN)}`} must have the header Origin`
        : `The origin ${JSON.stringify(origin.slice(0, MAX_ORIGIN))} is neither BASE_URL nor one of TRUSTED_ORIGINS of the service`,
  })
