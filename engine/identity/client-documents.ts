import CachePolicy from 'http-cache-semantics'
import { LRUCache } from 'lru-cache'
import type { IncomingMessage } from 'node:http'
import dns from 'node:dns/promises'
import { get } from 'node:https'
import type { LookupFunction } from 'node:net'
import getRawBody from 'raw-body'
import { RequestFilteringHttpsAgent } from 'request-filtering-agent'
import { z } from 'zod'

import type { Settings } from '../settings/settings.ts'
import type { ConsumeRateLimit } from '../call/context.ts'
import { rateLimits } from '../app/rate-limits.ts'
import { canReceiveTokens, clientMetadata, MISSING_REDIRECT_URI, usesDeviceFlow } from './client-metadata.ts'
import { type Client } from '../settings/oauth-clients.ts'

/** Maximum size of a document, in bytes. */
const MAX_DOCUMENT = 10 * 1024
/** Timeout of a fetch, in milliseconds. */
const TIMEOUT = 5_000
/** Maximum number of concurrent fetches of this process. */
const MAX_FETCHES = 20

/** Lifetime of a cached document (minimum and maximum) and of a cached failure, in milliseconds. */
const MIN_TTL = 60_000
const MAX_TTL = 24 * 3600_000
const FAILURE_TTL = 10_000

/** Maximum number of cached documents and failures. */
const MAX_CACHED = 500

/**
 * Thrown if the service does not fetch the document of an app: the rate limit of the caller is exceeded (429), or too
 * many fetches are running (503).
 */
export class FetchRefused extends Error {
  readonly status: number
  readonly headers: Record<string, string>

  constructor(status: number, message: string, headers: Record<string, string>) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

/**
 * Creates the function that finds an app by its client id, if the client id is the URL of a client metadata document
 * (draft-ietf-oauth-client-id-metadata-document). The function fetches the document from this URL. Any caller can send
 * any URL, so a cache and a rate limit restrict the number of fetches. States of a URL:
 *
 * - cached: the function returns the app without a fetch. Cache headers of the document set the lifetime, from MIN_TTL
 *   to MAX_TTL.
 * - not cached: the call counts against the rate limit of its network, then fetches the document. If MAX_FETCHES
 *   fetches are already running, the call is refused with 503.
 * - being fetched: the call counts against the rate limit, then waits for the running fetch.
 * - cached as a failure, for FAILURE_TTL: the function returns undefined.
 *
 * Trade-off: a changed document takes effect only after its cached copy expires, which takes up to MAX_TTL.
 */
export function createDocumentClients({
  settings,
  consumeRateLimit,
}: {
  settings: Settings
  consumeRateLimit: ConsumeRateLimit
}) {
  const ClientDocument = clientMetadata(settings.redirectSchemes)
    .extend({
      client_id: z.string(),
      token_endpoint_auth_method: z.literal('none').nullish(),
    })
    .refine(canReceiveTokens, MISSING_REDIRECT_URI)
  let fetching = 0
  const cache = new LRUCache<string, { client?: Client }>({
    max: MAX_CACHED,
    ignoreFetchAbort: true,
    fetchMethod: async (id, _, { options }) => {
      if (fetching >= MAX_FETCHES)
        throw new FetchRefused(503, 'Too many apps are being looked up; try again in a second', {
          'retry-after': '1',
        })
      fetching++
      try {
        const { text, freshFor } = await fetchDocument(id, settings.production)
        const document = ClientDocument.parse(JSON.parse(text))
        const { client_id, client_name, redirect_uris } = document
        if (client_id !== id) throw new Error('client_id differs from the URL of the document')
        options.ttl = Math.min(Math.max(freshFor, MIN_TTL), MAX_TTL)
        return {
          client: {
            id,
            name: client_name,
            redirectUris: redirect_uris,
            usesDeviceFlow: usesDeviceFlow(document),
            trusted: false,
          },
        }
      } catch {
        options.ttl = FAILURE_TTL
        return {}
      } finally {
        fetching--
      }
    },
  })

  return async (id: string, network: string | undefined) => {
    if (!isDocumentUrl(id) || new URL(id).origin === settings.baseUrl) return undefined
    const cached = cache.get(id)
    if (cached) return cached.client
    const exceeded = await consumeRateLimit(rateLimits.documents, network)
    if (exceeded) throw new FetchRefused(exceeded.error.status, exceeded.error.message, exceeded.headers)
    return (await cache.fetch(id))?.client
  }
}

/** Maximum length of a client id that is a URL, in characters. */
const MAX_ID = 2000

/**
 * Returns whether a client id is an https URL with a path, in normalized form: without dot segments, default port, user
 * information or fragment.
 */
function isDocumentUrl(id: string) {
  // The cache keeps the ids.
  if (id.length > MAX_ID || !URL.canParse(id)) return false
  const { href, protocol, username, password, pathname } = new URL(id)
  return (
    href === id &&
    protocol === 'https:' &&
    pathname !== '/' &&
    username + password === '' &&
    !id.includes('#')
  )
}

/**
 * Resolves a host name without the thread pool of libuv. `dns.lookup` blocks one of the four threads of the pool until
 * the name server answers. Slow name servers would delay token verification and file access, because both need the same
 * threads.
 */
const resolveHost: LookupFunction = (hostname, { all }, callback) => {
  const families = [4, 6] as const
  const resolve = async (family: 4 | 6) => {
    const resolved = await (family === 4 ? dns.resolve4(hostname) : dns.resolve6(hostname))
    return resolved.map((address) => ({ address, family }))
  }
  void Promise.allSettled(families.map(resolve)).then((results) => {
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    const [first] = addresses
    if (!first) callback(new Error(`The host name ${hostname} has no IP address`), [])
    else if (all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}

/**
 * Fetches a document. Does not follow redirects. In production, rejects host names that resolve to a private address,
 * so that callers cannot make the service send requests to internal servers (server-side request forgery).
 */
async function fetchDocument(url: string, production: boolean) {
  const agent = new RequestFilteringHttpsAgent({ allowPrivateIPAddress: !production })
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url, {
        agent,
        signal: AbortSignal.timeout(TIMEOUT),
        headers: { accept: 'application/json' },
        ...(production && { lookup: resolveHost }),
      })
        .on('response', resolve)
        .on('error', reject)
        // If the server switches to another protocol (101), the request emits only `close`. A promise that never settles would occupy one
        // of MAX_FETCHES.
        .on('close', () => {
          reject(new Error('The server closed the connection'))
        })
    })
    if (response.statusCode !== 200)
      throw new Error(`The server answers with status ${response.statusCode ?? 'unknown'}`)
    const text = await getRawBody(response, { limit: MAX_DOCUMENT, encoding: 'utf8' })
    const policy = new CachePolicy({ url, headers: {} }, { status: 200, headers: response.headers })
    return { text, freshFor: (policy.maxAge() - policy.age()) * 1000 }
  } finally {
    agent.destroy()
  }
}
