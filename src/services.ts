import type { ORPCError } from '@orpc/server'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Logger } from 'pino'

import type { Database } from '../db/database.ts'
import type { Live } from './live-stream.ts'
import type { RateLimitName } from './rate-limits.ts'
import type { Settings } from './settings.ts'

/** The shared components of the service, created once for each process. */
export interface Services {
  settings: Settings
  db: Database
  identity: Identity
  log: Logger
  /** Returns whether the database answers. */
  isReachable: () => Promise<boolean>
  consumeRateLimit: ConsumeRateLimit
  /** Undefined unless METRICS_PORT is set. */
  metrics?: Metrics | undefined
  state: {
    /**
     * Whether the process is shutting down. If true, readiness checks fail, so that load balancers send no new
     * requests.
     */
    stopping: boolean
  }
  /** Aborted when the server stops accepting connections. Open event streams then end. */
  closing: AbortController
  live: Live
}

/** Authentication by cookies and access tokens, for the guard (src/guard/) and the HTTP protocols (src/http/). */
export interface Identity {
  /** Sends a request to better-auth and returns its response. Throws if the database is not available. */
  handle: (request: Request) => Promise<Response>
  /** Returns the session token from a `Cookie` header. Undefined if no session cookie has a valid signature. */
  readToken: (cookie: string | undefined) => Promise<string | undefined>
  /**
   * Extends the session of a cookie if renewal is due. Returns the `Set-Cookie` values for the response. The
   * list may be empty.
   */
  renew: (cookie: string, expiresAt: Date) => Promise<string[]>
  /** Ends the session of a cookie. Returns the `Set-Cookie` values that delete the cookie in the browser. */
  signOut: (cookie: string) => Promise<string[]>
  /** Verifies an access token for an audience, and returns its claims. Undefined if the token is not valid. */
  verifyToken: (token: string, audience: string) => Promise<TokenClaims | undefined>
}

export interface TokenClaims {
  /**
   * The OAuth grant of the token. Grants are rows of the table `sessions`. The guard rejects the token if the row no
   * longer exists.
   */
  properties: { sessionId: string; clientId: string; scope: string }
  /** When the token expires, in Unix seconds. */
  exp: number
}

/** The metrics of HTTP requests, and the server that publishes all metrics. */
export interface Metrics {
  request: (request: IncomingMessage, response: ServerResponse, attributesOf: AttributesOf) => void
  /** Counts a call of a batch. Returns the function to call with the status of the call. */
  startCall: (attributes: RequestAttributes) => (status: number) => void
  shed: (reason: 'full' | 'late' | 'incomplete') => void
  observeStreams: (count: () => number, isConnected: () => boolean) => void
  /** Counts an event of a stream. `since` is the time of the change, in milliseconds since the start of the process. */
  delivered: (since: number) => void
  serve: () => Promise<Server>
}

/**
 * Counts one call against a rate limit. Each `key` (for example, a user id or an IP network) has its own count. Returns
 * the error (429) if the limit is exceeded, otherwise undefined.
 */
export type ConsumeRateLimit = (
  limit: RateLimitName,
  key: string | undefined,
) => Promise<LimitRefusal | undefined>

export interface LimitRefusal {
  error: ORPCError<'TOO_MANY_REQUESTS', undefined>
  headers: Record<string, string>
}

/** Attributes of a request for the log, the metrics and the traces. */
export interface RequestAttributes {
  operation?: string
  /** The id of the signed-in person. */
  person?: string
  /** The id of the administrator who impersonates the person. */
  actor?: string
  /** Whether a sign-in attempt succeeded. Undefined for every other request. */
  signedIn?: boolean
}

/**
 * Returns the attributes of a request. The attributes are complete when the response has been sent. Undefined if the
 * request was refused before the context of its call was created.
 */
export type AttributesOf = (request: IncomingMessage) => RequestAttributes | undefined
