import type { ORPCError } from '@orpc/server'
import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'

import type { Database } from '../db/database.ts'
import type { AcceptedVersions } from '../db/tasks.ts'
import type { Caller, Reply } from './caller.ts'
import type { Live } from './live-stream.ts'
import type { ConsumeRateLimit, Identity, RequestAttributes } from './services.ts'
import type { Settings } from './settings.ts'

/** The context of one call, for the guard and the procedures. */
export interface Context {
  db: Database
  identity: Identity
  settings: Settings
  log: Logger
  headers: IncomingHttpHeaders
  /** The headers of the answer. */
  reply: Reply
  /** Authenticates by the bearer token if one is sent, otherwise by the cookie. */
  caller: () => Promise<Caller | undefined>
  /** Authenticates by the cookie, even if a bearer token is sent. */
  cookieCaller: () => Promise<Caller | undefined>
  consumeRateLimit: ConsumeRateLimit
  live: Live
  /** What log, metrics, traces and audit trail record about the request. */
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
  /** Whether the live states of notes have the first form (src/http/note-forms.ts). Set only for Datastar pages. */
  isFirstForm?: boolean
}
