import type { ORPCError } from '@orpc/server'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Logger } from 'pino'

import type { Database } from '../db/database.ts'
import type * as sessions from '../db/sessions.ts'
import type { LimitName, Settings } from './settings.ts'

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
    /** Whether the process is stopping. Readiness checks then fail, so that balancers send no more requests. */
    stopping: boolean
  }
}

/** The operations on cookies and tokens that the guard and the protocols use. */
export interface Identity {
  /** Handles a request to an endpoint of better-auth. If the database fails during the request, throws the database error. */
  handle: (request: Request) => Promise<Response>
  /** Returns the session token of a `Cookie` header, if its signature is valid. */
  readToken: (cookie: string | undefined) => Promise<string | undefined>
  /** Renews the session of a cookie if renewal is due. Returns the values of `Set-Cookie`. */
  renew: (cookie: string, expiresAt: Date) => Promise<string[]>
  /** Ends the session of a cookie. Returns the values of `Set-Cookie`. */
  signOut: (cookie: string) => Promise<string[]>
  /** Returns the claims of an access token, or undefined if a check fails. */
  verifyToken: (token: string, audience: string) => Promise<TokenClaims | undefined>
}

export interface TokenClaims {
  /** The grant. The token is valid only while the session of the grant exists. */
  properties: { sessionId: string; clientId: string; scope: string }
}

/** The metrics of HTTP requests, and the server that publishes all metrics. */
export interface Metrics {
  request: (request: IncomingMessage, response: ServerResponse, attributesOf: AttributesOf) => void
  shed: (reason: 'full' | 'late' | 'incomplete') => void
  serve: () => Promise<Server>
}

/** Counts one call against a limit. `key` is a person or a network. Returns the refusal if the limit is exceeded. */
export type ConsumeRateLimit = (
  limit: LimitName,
  key: string | undefined,
) => Promise<LimitRefusal | undefined>

export interface LimitRefusal {
  error: ORPCError<'TOO_MANY_REQUESTS', undefined>
  headers: Record<string, string>
}

/** The signed-in person and the session. `scopes` is set for apps, and limits what an app may do. */
export type Caller = NonNullable<Awaited<ReturnType<typeof sessions.findByToken>>> & { scopes?: string[] }

/** The response headers that a procedure sets, by name in lower case. */
export type Reply = Map<string, string | string[]>

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
 * Returns the attributes of a request. The attributes are complete after the request has been answered. Undefined if the
 * request was refused before its call was created.
 */
export type AttributesOf = (request: IncomingMessage) => RequestAttributes | undefined

/** The context of one call, for the guard and the procedures. */
export interface Context {
  db: Database
  identity: Identity
  settings: Settings
  log: Logger
  headers: IncomingHttpHeaders
  reply: Reply
  /** Authenticates by the bearer token if one is sent, otherwise by the cookie. */
  caller: () => Promise<Caller | undefined>
  /** Authenticates by the cookie, even if a bearer token is sent. */
  cookieCaller: () => Promise<Caller | undefined>
  consumeRateLimit: ConsumeRateLimit
  attributes: RequestAttributes
  /** Returns the caller's address, as trusted proxies report it. Undefined for calls in process. */
  address?: () => string | undefined
  /** The error of a malformed body or query. The guard throws this error after its own checks. */
  malformed?: ORPCError<'BAD_REQUEST', unknown>
}
