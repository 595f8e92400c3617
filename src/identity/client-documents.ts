import CachePolicy from 'http-cache-semantics'
import { LRUCache } from 'lru-cache'
import type { IncomingMessage } from 'node:http'
import dns from 'node:dns/promises'
import { get } from 'node:https'
import type { LookupFunction } from 'node:net'
import getRawBody from 'raw-body'
import { RequestFilteringHttpsAgent } from 'request-filtering-agent'
import { z } from 'zod'

import type { Services } from '../context.ts'
import { type Client, Registration } from './client-metadata.ts'

/** Size and time limits of a fetch: bytes, milliseconds, and fetches of this process at the same time. */
const MAX_DOCUMENT = 10 * 1024
const TIMEOUT = 5_000
const MAX_FETCHES = 20

/** Bounds of the time for which a document is cached, and that of a failure, in milliseconds. */
const MIN_TTL = 60_000
const MAX_TTL = 24 * 3600_000
const FAILURE_TTL = 10_000

const MAX_CACHED = 500

/** The document of an app is not fetched now. */
export class FetchRefused extends Error {
  readonly status: number
  readonly headers: Record<string, string>

  constructor(status: number, message: string, headers: Record<string, string>) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

const Described = Registration.extend({ client_id: z.string() })

/**
 * Finds apps whose client id is the URL of a document (draft-ietf-oauth-client-id-metadata-document). Anyone can name any
 * URL, so fetches are cached, shared by concurrent callers, counted by `address`, and limited in number.
 */
export function createDocuments({
  settings,
  consumeRateLimit,
}: Pick<Services, 'settings' | 'consumeRateLimit'>) {
  let fetching = 0
  const cache = new LRUCache<string, { client?: Client }>({
    max: MAX_CACHED,
    ignoreFetchAbort: true,
    fetchMethod: async (id, _, { options }) => {
      if (fetching >= MAX_FETCHES)
        throw new FetchRefused(503, 'Too many apps are looked up; try again soon', { 'retry-after': '1' })
      fetching++
      try {
        const { text, freshFor } = await read(id, settings.production)
        const { client_id, client_name, redirect_uris } = Described.parse(JSON.parse(text))
        if (client_id !== id) throw new Error('The document describes another app')
        options.ttl = Math.min(Math.max(freshFor, MIN_TTL), MAX_TTL)
        return { client: { id, name: client_name, redirectUris: redirect_uris, trusted: false } }
      } catch {
        options.ttl = FAILURE_TTL
        return {}
      } finally {
        fetching--
      }
    },
  })

  return async (id: string, address: string | undefined) => {
    if (!isDocumentUrl(id) || new URL(id).origin === settings.baseUrl) return undefined
    const cached = cache.get(id)
    if (cached) return cached.client
    const exceeded = await consumeRateLimit('documents', address)
    if (exceeded) throw new FetchRefused(exceeded.error.status, exceeded.error.message, exceeded.headers)
    return (await cache.fetch(id))?.client
  }
}

/** https, with a path, and written as a parser writes it: without dot segments, a default port or other characters. */
function isDocumentUrl(id: string) {
  if (!URL.canParse(id)) return false
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
 * Resolves a name without a thread. `dns.lookup` would occupy one of the four of libuv for as long as a name server
 * keeps silent, and token checks and files wait for the same threads.
 */
const lookup: LookupFunction = (hostname, { all }, callback) => {
  const families = [4, 6] as const
  const ask = async (family: 4 | 6) => {
    const addresses = await (family === 4 ? dns.resolve4(hostname) : dns.resolve6(hostname))
    return addresses.map((address) => ({ address, family }))
  }
  void Promise.allSettled(families.map(ask)).then((results) => {
    const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    const [first] = found
    if (!first) callback(new Error(`${hostname} has no address`), [])
    else if (all) callback(null, found)
    else callback(null, first.address, first.family)
  })
}

/** In production never from a private address, whatever a name resolves to. Redirects are not followed. */
async function read(url: string, production: boolean) {
  const agent = new RequestFilteringHttpsAgent({ allowPrivateIPAddress: !production })
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url, {
        agent,
        signal: AbortSignal.timeout(TIMEOUT),
        headers: { accept: 'application/json' },
        ...(production && { lookup }),
      })
        .on('response', resolve)
        .on('error', reject)
    })
    if (response.statusCode !== 200) throw new Error('There is no document')
    const text = await getRawBody(response, { limit: MAX_DOCUMENT, encoding: 'utf8' })
    const policy = new CachePolicy({ url, headers: {} }, { status: 200, headers: response.headers })
    return { text, freshFor: (policy.maxAge() - policy.age()) * 1000 }
  } finally {
    agent.destroy()
  }
}
