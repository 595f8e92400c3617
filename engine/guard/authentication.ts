import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import { tokenClientIds } from 'tallystick-contract/internal'

import type { Database } from '../db/connection/database.ts'
import * as grants from '../db/accounts/grants.ts'
import * as personalTokens from '../db/accounts/personal-tokens.ts'
import { findByToken } from '../db/accounts/caller-lookup.ts'
import * as sessions from '../db/accounts/sessions.ts'
import type { Caller, Reply } from '../call/caller.ts'
import { createConnection, type Inserts } from '../call/connection.ts'
import type { Context } from '../call/context.ts'
import type { App } from '../app/resource.ts'
import type { Live } from '../call/live-stream.ts'

interface CallOptions
  extends
    Pick<Context, 'malformed' | 'ipAddress' | 'isAbandoned' | 'requestId'>,
    Partial<Pick<Context, 'attributes' | 'reply'>> {
  /** The audience that an access token must have. By default, the base URL of the service. */
  audience?: string
}

/** The components that a context needs. */
export interface ContextParts
  extends Inserts, Pick<Context, 'db' | 'identity' | 'settings' | 'consumeRateLimit' | 'now'> {
  app: Pick<App, 'resources' | 'personalData'>
  log: Logger
  live: Live
}

/**
 * Creates the context of one call. The functions `caller` and `cookieCaller` authenticate when they are first called,
 * and cache the result.
 */
export function createContext(
  parts: ContextParts,
  headers: IncomingHttpHeaders,
  {
    audience,
    malformed,
    ipAddress,
    isAbandoned,
    requestId,
    attributes = {},
    reply = new Map<string, string | string[]>(),
  }: CallOptions = {},
): Context {
  const { db, identity, settings, app, log, now, consumeRateLimit, live } = parts
  /** Authenticates once, and records the caller for the log and the audit trail. */
  const once = (authenticate: () => Promise<Caller | undefined>) => {
    let caller: Promise<Caller | undefined> | undefined
    return () =>
      (caller ??= authenticate().then((found) => {
        attributes.person = found?.user.id
        attributes.personName = found && (found.user.name || found.user.email)
        if (found?.session.impersonatedBy) attributes.actor = found.session.impersonatedBy
        return found
      }))
  }
  const cookieCaller = once(() => authenticateCookie(parts, headers.cookie, reply))
  const tokenCaller = once(() =>
    authenticateToken(parts, headers.authorization, audience ?? settings.baseUrl),
  )
  // A spread at the start of a literal of this size is slow: it doubled the time of a small request.
  const { enqueue, mail, transaction } = createConnection(db, parts, {
    attributes,
    headers,
    reply,
    ipAddress,
  })
  return {
    db,
    enqueue,
    mail,
    transaction,
    identity,
    settings,
    resources: app.resources,
    log,
    now,
    requestId,
    headers,
    reply,
    malformed,
    attributes,
    ipAddress,
    isAbandoned,
    consumeRateLimit,
    live,
    announce: live.announce,
    personalData: app.personalData,
    caller: isBearer(headers) ? tokenCaller : cookieCaller,
    cookieCaller,
  }
}

async function authenticateCookie(
  { identity, db, log }: Pick<ContextParts, 'identity' | 'db' | 'log'>,
  cookie: string | undefined,
  reply: Reply,
): Promise<Caller | undefined> {
  const token = await identity.readToken(cookie)
  if (cookie === undefined || token === undefined) return undefined
  const caller = await findByToken(db, token)
  if (!caller || isBanned(caller.user)) return undefined
  const { session } = caller
  recordActivity(db, caller, log)
  // An impersonation lasts one hour, and is never extended.
  if (session.impersonatedBy === null) {
    const cookies = await identity.renew(cookie, session.expiresAt)
    if (cookies.length > 0) reply.set('set-cookie', cookies)
  }
  return caller
}

const MINUTE = 60_000

/** Stores the time of the last activity of a session, at most once a minute. The call does not wait for the update. */
function recordActivity(db: Database, { session, user }: Caller, log: Logger) {
  if (Date.now() - session.updatedAt.getTime() <= MINUTE) return
  sessions.touch(db, user.id, session.id).catch((error: unknown) => {
    log.error({ err: error }, 'the last activity of a session could not be stored')
  })
}

/**
 * Returns whether a request has a bearer token. Other authentication schemes are ignored, because they may be
 * credentials for a proxy.
 */
export const isBearer = ({ authorization = '' }: IncomingHttpHeaders) =>
  /^bearer(?![\w-])/i.test(authorization)

/**
 * Authenticates the caller with the bearer token. If the token is invalid, the call has no caller, even if the request
 * has a valid cookie.
 */
async function authenticateToken(
  { db, identity, log, settings }: Pick<ContextParts, 'db' | 'identity' | 'log' | 'settings'>,
  authorization = '',
  audience: string,
): Promise<Caller | undefined> {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  if (token === undefined) return undefined
  const found = await (personalTokens.isPersonalToken(token)
    ? findPersonal(db, token, audience, settings.baseUrl)
    : findGrant({ db, identity }, token, audience))
  if (!found || isBanned(found.user)) return undefined
  recordActivity(db, found, log)
  return { ...found, scopes: scopesOf(found) }
}

const scopesOf = ({ session }: Pick<Caller, 'session'>) => (session.scope ?? '').split(' ')

async function findGrant(
  { db, identity }: Pick<ContextParts, 'db' | 'identity'>,
  token: string,
  audience: string,
) {
  const claims = await identity.verifyToken(token, audience)
  const caller = claims && (await grants.find(db, claims.properties.sessionId))
  return caller && { ...caller, tokenExpiresAt: new Date(claims.exp * 1000) }
}

async function findPersonal(db: Database, token: string, audience: string, baseUrl: string) {
  const caller = await personalTokens.find(db, token)
  // A personal token has no claims: its client id tells whether it is for the service or for MCP.
  const clientId = tokenClientIds[audience === baseUrl ? 'service' : 'mcp']
  if (caller?.session.clientId !== clientId) return undefined
  return { ...caller, tokenExpiresAt: caller.session.expiresAt }
}

/** Returns a caller with current data. Undefined if the session, the grant or the token has ended, or after a ban. */
export async function findCurrentCaller(db: Database, { session, scopes, tokenExpiresAt }: Caller) {
  if (tokenExpiresAt && tokenExpiresAt <= new Date()) return undefined
  // Only a caller with a token has scopes: the session of this caller is a grant.
  const caller = await (scopes ? grants.find(db, session.id) : findByToken(db, session.token))
  if (!caller || isBanned(caller.user)) return undefined
  return { ...caller, ...(scopes && { scopes: scopesOf(caller) }), ...(tokenExpiresAt && { tokenExpiresAt }) }
}

const isBanned = ({ banned, banExpires }: Caller['user']) =>
  banned === true && (banExpires === null || banExpires > new Date())

/** Ends the session of the cookie and deletes the cookie in the browser. */
export async function signOut({ identity, headers: { cookie = '' }, reply }: Context) {
  reply.set('set-cookie', await identity.signOut(cookie))
}
