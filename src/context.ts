import type { ORPCError } from '@orpc/server'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Logger } from 'pino'

import type { Topic } from '../contract/base.ts'
import type { TaskFilter } from '../contract/tasks.ts'
import type { Database } from '../db/database.ts'
import type * as sessions from '../db/sessions.ts'
import type { AcceptedVersions } from '../db/tasks.ts'
import type { LimitName } from './rate-limits.ts'
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

/** Live updates (src/live/). */
export interface Live {
  /**
   * Announces a change that is committed, to the streams of all processes.
   *
   * @param owner The account that owns the changed data. The counter has no owner.
   */
  publish: (topic: Topic, owner?: string) => void
  /** Opens a stream. The first states are read before the promise resolves. Throws the errors of the read operations. */
  open: (call: WatchCall) => Promise<LiveStream>
  /** Ends all streams, sends the collected changes, and closes the connection to other processes. */
  stop: () => Promise<void>
}

export interface WatchCall {
  topics: readonly Topic[]
  tasks?: TaskFilter | undefined
  /** Set if one of the topics needs a caller. */
  caller?: Caller | undefined
  address?: string | undefined
  reply: Reply
  lastEventId?: string | undefined
  /** Whether notes have the first form (src/http/note-forms.ts). */
  isFirstForm: boolean
  /** Closes the stream. */
  signal?: AbortSignal | undefined
}

/** An open stream of one caller. */
export interface LiveStream {
  readonly topics: readonly Topic[]
  /**
   * Returns the next state that the client does not have, or undefined after the end of the stream. Throws UNAUTHORIZED
   * if the session or the token of the caller ends.
   */
  next: () => Promise<Delivery | undefined>
  /**
   * Calls `receive` with each result of `next`, until the end of the stream. If `receive` returns a promise, waits for it
   * before the next call.
   */
  forEach: (receive: (delivery: Delivery) => Promise<void> | undefined) => Promise<void>
  close: () => void
}

export interface Delivery {
  /** The event id: identifies the states of all topics that the client has, including this state. */
  id: string
  snapshot: {
    topic: Topic
    state: unknown
    /** Returns the data of the event in one protocol. All streams share the result. */
    frame: (format: Format) => Buffer
  }
  /** When the change was noticed, or the stream was opened, in milliseconds since the start of the process. */
  since: number
}

/** Converts a state to the data of an event in one protocol. */
export type Format = (topic: Topic, state: unknown) => string

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
  limit: LimitName,
  key: string | undefined,
) => Promise<LimitRefusal | undefined>

export interface LimitRefusal {
  error: ORPCError<'TOO_MANY_REQUESTS', undefined>
  headers: Record<string, string>
}

/**
 * The authenticated person and the session. `scopes` is set only for an OAuth app with an access token: the app may
 * call only procedures of these scopes.
 */
export type Caller = NonNullable<Awaited<ReturnType<typeof sessions.findByToken>>> & {
  scopes?: string[]
  /** When the access token expires. */
  tokenExpiresAt?: Date
}

/** Response headers that the guard and the procedures set. Each key is a header name in lower case. */
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
 * Returns the attributes of a request. The attributes are complete when the response has been sent. Undefined if the
 * request was refused before the context of its call was created.
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
  live: Live
  attributes: RequestAttributes
  /**
   * Returns the caller's IP address: the address that trusted proxies report in X-Forwarded-For, or the address of the
   * socket. Undefined for calls within this process, without HTTP.
   */
  address?: () => string | undefined
  /** Returns whether the client has closed the connection. Undefined for calls within this process, without HTTP. */
  isAbandoned?: () => boolean
  /**
   * The error (400) of a malformed body or query. The guard throws this error after its own checks, because 401, 403,
   * 404 and 429 have priority over 400.
   */
  malformed?: ORPCError<'BAD_REQUEST', unknown>
  /** The versions of a task that `If-Match` accepts. Set if the request has the header. */
  acceptedVersions?: AcceptedVersions
  /** Whether notes have the first form (src/http/note-forms.ts). Set only by Datastar pages. */
  isFirstForm?: boolean
}
