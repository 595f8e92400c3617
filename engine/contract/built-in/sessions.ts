import * as z from 'zod'

import { sensitive, signedIn } from '../builders.ts'
import { topic } from './live.ts'
import { Page, requestSchemas, responseSchemas, Success, text, Timestamp } from '../schemas.ts'

const example = {
  id: 'vN2sXq8LrTe5WcYb0KfJ7uHgZdPm4A1o',
  token: 'q3DkWz7VbXn1RsTg9YhLc5Mf0PeJa2Uo',
  ipAddress: '203.0.113.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  browser: 'Firefox',
  os: 'Linux',
  lastActive: 1767261600,
  createdAt: 1767175200,
  isCurrent: false,
}

const SessionInfo = z
  .object({
    id: z.string(),
    // The interface fixes that a session is revoked by its token, which is its credential. So a person's tokens stay hidden from an
    // administrator who impersonates the person.
    token: z
      .string()
      .meta({ description: 'Identifies the session for its revocation. Empty during an impersonation' }),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    browser: z.string(),
    os: z.string(),
    lastActive: Timestamp,
    createdAt: Timestamp,
    isCurrent: z.boolean(),
  })
  .register(responseSchemas, { id: 'SessionInfo', example })
export const SessionList = z
  .object({ sessions: z.array(SessionInfo), sessionCount: z.int() })
  .register(responseSchemas, { id: 'SessionList', example: { sessions: [example], sessionCount: 1 } })
const RevokeSession = z
  .object({ revokeSessionToken: text({ min: 1 }) })
  .register(requestSchemas, { id: 'RevokeSession', example: { revokeSessionToken: example.token } })

const OtherSessionsRevoked = z
  .object({ revokedCount: z.int() })
  .register(responseSchemas, { id: 'OtherSessionsRevoked', example: { revokedCount: 2 } })

export const sessionsTopic = topic('sessions', { access: 'signedIn', state: SessionList })

export const sessions = {
  list: signedIn
    .meta({ secrets: true, reads: sessionsTopic })
    .route({
      method: 'GET',
      path: '/api/sessions',
      summary: 'List your sessions on every device',
      description:
        'Returns the sessions that have not ended, with their last activity, network address and browser. `token` identifies a session for `sessions.revoke`.',
    })
    .input(Page.optional())
    .output(SessionList),
  revoke: sensitive
    .meta({ updates: [sessionsTopic] })
    .errors({
      CURRENT_SESSION: { status: 400, message: 'The current session cannot be revoked; sign out instead' },
      SESSION_NOT_FOUND: { status: 400, message: 'Session not found or already revoked' },
    })
    .route({
      method: 'POST',
      path: '/api/sessions/revoke',
      summary: 'End another of your sessions',
      description:
        'The session ends immediately, with its streams. The current session cannot be revoked: sign out instead.',
    })
    .input(RevokeSession)
    .output(Success),
  revokeOthers: sensitive
    .meta({ updates: [sessionsTopic] })
    .route({
      method: 'POST',
      path: '/api/sessions/revoke-others',
      summary: 'End all of your sessions except the current one; apps keep their access',
      description: 'Returns the number of ended sessions.',
    })
    .output(OtherSessionsRevoked),
}
