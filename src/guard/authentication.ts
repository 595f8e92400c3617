import type { ORPCError } from '@orpc/server'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Logger } from 'pino'

import type { Database } from '../../db/database.ts'
import * as sessions from '../../db/sessions.ts'
import type { Auth, createTokenReader } from '../identity/auth.ts'
import type { Spend } from './rate-limits.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { askingAuth } from '../outages.ts'
import type { Settings } from '../settings.ts'
import type { createVerifier } from '../identity/tokens.ts'

/** What the service is made of. */
export interface Parts {
  settings: Settings
  db: Database
  auth: Auth
  readToken: Awaited<ReturnType<typeof createTokenReader>>
  verifyToken: ReturnType<typeof createVerifier>
  log: Logger
  /** Whether the database answers. */
  isReachable: () => Promise<boolean>
  spend: Spend
  /** Where they are asked for. */
  metrics?: Metrics | undefined
  state: {
    /** Whether the process is about to end, and should be sent no more requests. */
    stopping: boolean
  }
}

/** Who calls, by which session; and, where an app calls for them, what that may do. */
export type Caller = NonNullable<Awaited<ReturnType<typeof sessions.findByToken>>> & { scopes?: string[] }

export type Reply = Map<string, string | string[]>

/** What the log and the figures say of a request: what was called, by whom, and whether a code that was tried was right. */
export interface Seen {
  operation?: string
  person?: string
  /** The administrator who impersonates the person. */
  actor?: string
  signedIn?: boolean
}

/** Known in full only once a request has been answered; nothing of one that was turned away at the door. */
export type SeenOf = (request: IncomingMessage) => Seen | undefined

/** What a procedure knows of the call it answers. */
export interface Context {
  db: Database
  auth: Auth
  settings: Settings
  log: Logger
  headers: IncomingHttpHeaders
  /** Headers of the answer, by name in lower case. */
  reply: Reply
  /** By the bearer token where one is sent, else by the cookie. */
  caller: () => Promise<Caller | undefined>
  /** By the cookie, whatever token is sent. */
  cookieCaller: () => Promise<Caller | undefined>
  spend: Spend
  seen: Seen
  /** The caller's address, if they call over a network, true through trusted proxies. */
  address?: () => string | undefined
  /** A body that could not be read: refused after the guard, so that a stranger learns nothing from it. */
  malformed?: ORPCError<'BAD_REQUEST', unknown>
}

interface Received extends Pick<Context, 'malformed' | 'address'>, Partial<Pick<Context, 'seen' | 'reply'>> {
  /** What a token must have been issued for to be taken: the service, unless told otherwise. */
  audience?: string
}

export function createContext(
  parts: Parts,
  headers: IncomingHttpHeaders,
  { audience, malformed, address, seen = {}, reply = new Map<string, string | string[]>() }: Received = {},
): Context {
  const { db, auth, settings, log } = parts
  const once = (identified: () => Promise<Caller | undefined>) => {
    let found: Promise<Caller | undefined> | undefined
    return () =>
      (found ??= identified().then((caller) => {
        seen.person = caller?.user.id
        if (caller?.session.impersonatedBy) seen.actor = caller.session.impersonatedBy
        return caller
      }))
  }
  const cookieCaller = once(() => identify(parts, headers.cookie, reply))
  const tokenCaller = once(() => identifyApp(parts, headers.authorization, audience ?? settings.baseUrl))
  return {
    db,
    auth,
    settings,
    log,
    headers,
    reply,
    malformed,
    seen,
    address,
    spend: parts.spend,
    caller: isBearer(headers) ? tokenCaller : cookieCaller,
    cookieCaller,
  }
}

const MINUTE = 60_000

async function identify({ auth, db, readToken, log }: Parts, cookie: string | undefined, reply: Reply) {
  const token = await readToken(cookie)
  if (token === undefined) return undefined
  const caller = await sessions.findByToken(db, token)
  if (!caller || isBanned(caller.user)) return undefined
  const { session } = caller
  noteActivity(db, caller, log)
  if (session.impersonatedBy === null) await renew(auth, session.expiresAt, cookie, reply)
  return caller
}

function noteActivity(db: Database, { session, user }: Caller, log: Logger) {
  if (Date.now() - session.updatedAt.getTime() <= MINUTE) return
  sessions.touch(db, user.id, session.id).catch((error: unknown) => {
    log.error({ err: error }, 'activity could not be noted')
  })
}

/** Another scheme says nothing about the caller: a proxy in front of the service may ask for a password of its own. */
export const isBearer = ({ authorization = '' }: IncomingHttpHeaders) =>
  /^bearer(?![\w-])/i.test(authorization)

/** A bearer token alone decides who calls: a bad token never falls back to the cookie. */
async function identifyApp({ db, verifyToken, log }: Parts, authorization = '', audience: string) {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  const claims = token === undefined ? undefined : await verifyToken(token, audience)
  const caller = claims && (await sessions.findGrant(db, claims.properties.sessionId))
  if (!caller || isBanned(caller.user)) return undefined
  noteActivity(db, caller, log)
  return { ...caller, scopes: (caller.session.scope ?? '').split(' ') }
}

const isBanned = ({ banned, banExpires }: Caller['user']) =>
  banned === true && (banExpires === null || banExpires > new Date())

/** A session in use is prolonged by better-auth, once a day; the browser hears of it. */
async function renew(auth: Auth, expiresAt: Date, cookie = '', reply: Reply) {
  const { expiresIn, updateAge } = (await auth.$context).sessionConfig
  if (expiresAt.getTime() - (expiresIn - updateAge) * 1000 > Date.now()) return
  const request = { method: 'POST', headers: new Headers({ cookie }), returnHeaders: true } as const
  const { headers } = await askingAuth(() => auth.api.getSession(request))
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) reply.set('set-cookie', cookies)
}

/** Ends the session that the cookie stands for, and has the browser forget it. */
export async function signOut({ auth, headers: { cookie = '' }, reply }: Context) {
  const request = { headers: new Headers({ cookie }), returnHeaders: true } as const
  const { headers } = await askingAuth(() => auth.api.signOut(request))
  reply.set('set-cookie', headers.getSetCookie())
}
