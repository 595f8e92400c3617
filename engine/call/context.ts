import type { ORPCError } from '@orpc/server'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { RateLimit } from 'tallystick-contract'

import type { AcceptedVersions } from '../db/columns.ts'
import type { Database } from '../db/connection/database.ts'
import type { PersonalData } from '../db/accounts/personal-data.ts'
import type { Caller, Reply } from './caller.ts'
import type { CallConnection } from './connection.ts'
import type { GuardedResource } from './items.ts'
import type { Announce, Live } from './live-stream.ts'

type Write = (...entry: [fields: object, message?: string] | [message: string]) => void

/** Writes lines of JSON to the log of the service: a message, and fields such as `err` with an error. */
export type Log = Record<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace', Write>

/**
 * The context of one call, for the guard and the procedures.
 *
 * @example
 * const os = implement(loans.procedures).$context<Context>().use(withCaller)
 */
export interface Context extends CallConnection {
  identity: Identity
  /** What procedures may know of the settings. */
  settings: { baseUrl: string; service: string; release: string }
  resources: Readonly<Record<string, GuardedResource>>
  log: Log
  /** The time for rules of the application, which tests set. Timestamps of rows are the database's. */
  now: () => Date
  /** The value of `X-Request-Id`, for log lines. Undefined for calls within this process, without HTTP. */
  requestId?: string | number | object | undefined
  headers: IncomingHttpHeaders
  /** The headers of the answer. */
  reply: Reply
  /** Authenticates by the bearer token if one is sent, otherwise by the cookie. */
  caller: () => Promise<Caller | undefined>
  /** Authenticates by the cookie, even if a bearer token is sent. */
  cookieCaller: () => Promise<Caller | undefined>
  consumeRateLimit: ConsumeRateLimit
  live: Pick<Live, 'open'>
  /**
   * Announces a change of a topic to open streams. The topics in `updates` are announced to the owner of the data without
   * this function, so procedures call it for other people only:
   *
   *     announce(ticketsTopic, { parent: project.id }) // everybody whose list contains tickets of the project
   *     announce(projectsTopic, { address: email }) // a new member, also without an account
   *
   * The announcement is sent after the procedure has committed. It is dropped after a rollback or a defined error, and kept
   * after an unexpected error, because the database may have committed before the error.
   */
  announce: Announce
  /**
   * Finds out why the statement of a procedure found no row: checks the permissions that the contract declares, and the version of
   * `If-Match`, with the current data. Throws 404, 403 or 412. Set only if the statement contains these conditions. `db` must be the
   * transaction of the call, because on the embedded database another connection would wait for its end.
   */
  checkPermissions?: (db: Database) => Promise<void>
  /**
   * Names the e-mail address that a change affects, for the entry in the audit trail. The entry contains the account with this
   * address, if there is one. Set for procedures that declare an action (`meta.audit`).
   */
  affects?: (address: string) => void
  /** What the resources store about a person. */
  personalData: PersonalData
  /** What log, metrics, traces and audit trail record about the request. */
  attributes: RequestAttributes
  /**
   * Returns the caller's IP address: the address that trusted proxies report in X-Forwarded-For, or the address of the
   * socket. Undefined for calls within this process, without HTTP.
   */
  ipAddress?: () => string | undefined
  /** Returns whether the client has closed the connection. Undefined for calls within this process, without HTTP. */
  isAbandoned?: () => boolean
  /**
   * The error (400) of a malformed body or query. The guard throws this error after its own checks, because 401, 403,
   * 404 and 429 have priority over 400.
   */
  malformed?: ORPCError<'BAD_REQUEST', unknown>
  /** The versions that `If-Match` accepts. Set if the request has the header, and the statement checks the version. */
  acceptedVersions?: AcceptedVersions
  /** Whether a Datastar page sent the request. */
  isDatastar?: boolean
}

/** Authentication by cookies and access tokens, for the guard (engine/guard/) and the HTTP protocols (engine/http/). */
export interface Identity {
  /** Sends a request to better-auth and returns its response. Throws if the database is not available. */
  handle: (request: Request) => Promise<Response>
  /** Returns the session token from a `Cookie` header. Undefined if no session cookie has a valid signature. */
  readToken: (cookie: string | undefined) => Promise<string | undefined>
  /**
   * Extends the session of a cookie if renewal is due. Returns the `Set-Cookie` values for the response. The list may be empty.
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

/**
 * Counts one call against a rate limit. Each `key` (for example, a user id or an IP network) has its own count. Returns
 * the error (429) if the limit is exceeded, otherwise undefined.
 */
export type ConsumeRateLimit = (
  limit: RateLimit,
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
  /** The name of the person, or else the e-mail address. Only terminals show it: logs are kept. */
  personName?: string
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
