import { z } from 'zod'

import {
  responseSchemas,
  sensitive,
  Page,
  requestSchemas,
  signedIn,
  Success,
  text,
  Timestamp,
} from './base.ts'

export const SessionInfo = z
  .object({
    id: z.string(),
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
  .register(responseSchemas, { id: 'SessionInfo' })
export const SessionList = z
  .object({ sessions: z.array(SessionInfo), sessionCount: z.int() })
  .register(responseSchemas, { id: 'SessionList' })
export const RevokeSession = z
  .object({ revokeSessionToken: text({ min: 1 }) })
  .register(requestSchemas, { id: 'RevokeSession' })

export const sessions = {
  list: signedIn
    .route({ method: 'GET', path: '/api/sessions', summary: 'List your sessions on every device' })
    .input(Page.optional())
    .output(SessionList),
  revoke: sensitive
    .errors({
      CURRENT_SESSION: { status: 400, message: 'The current session cannot be revoked; sign out instead' },
      SESSION_NOT_FOUND: { status: 400, message: 'Session not found or already revoked' },
    })
    .route({ method: 'POST', path: '/api/sessions/revoke', summary: 'End another of your sessions' })
    .input(RevokeSession)
    .output(Success),
}
