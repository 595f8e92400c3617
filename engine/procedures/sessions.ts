import { implement } from '@orpc/server'
import { sessions as sessionsContract, sessionsTopic } from 'tallystick-contract/internal'

import * as query from '../db/accounts/sessions.ts'
import type { Caller } from '../call/caller.ts'
import { auditSourceOf } from '../call/audit-source.ts'
import type { Context } from '../call/context.ts'
import { withCaller } from '../guard/index.ts'
import { type Order, readPage } from './lists/pagination.ts'
import { toUnixSeconds } from '../values/unix-time.ts'
import type { Resource } from '../app/resource.ts'
import { parseUserAgent, UNKNOWN } from './user-agent.ts'

const os = implement(sessionsContract).$context<Context>().use(withCaller)

const procedures = os.router({
  list: os.list.handler(async (call) => {
    const { db, user, session } = call.context
    const { rows, total } = await readPage(
      call,
      latestFirst,
      (page) => query.list(db, user.id, page),
      () => query.countAll(db, user.id),
    )
    return { sessions: rows.map((row) => view(row, session)), sessionCount: total }
  }),

  revoke: os.revoke.handler(async ({ context, input, errors }) => {
    const { db, user, session } = context
    const { revokeSessionToken: token } = input
    if (token === session.token) throw errors.CURRENT_SESSION()
    if (!(await query.endByToken(db, user.id, token, auditSourceOf(context))))
      throw errors.SESSION_NOT_FOUND()
    return { success: true }
  }),

  revokeOthers: os.revokeOthers.handler(async ({ context }) => {
    const { db, user, session } = context
    const ended = await query.endOthers(db, user.id, session.id, auditSourceOf(context))
    return { revokedCount: ended.length }
  }),
})

export const sessions = {
  description: 'The sessions of a person on all devices.',
  procedures,
  watch: { topic: sessionsTopic, variantOf: ({ session }) => session.id },
} satisfies Resource

export const latestFirst: Order<query.SessionRow> = {
  positionOf: ({ updatedAt, id }) => ({ at: updatedAt, id }),
  cursorPattern: /^(\d{1,13})\.([\w-]{1,100})$/,
  textsOf: ({ userAgent }) => [userAgent],
}

/**
 * Converts a session to an entry of `sessions.list`. For an impersonation, omits the IP address and the user agent,
 * because both belong to the administrator. If the current session is an impersonation, omits all tokens, because the
 * administrator must not receive tokens of the person.
 */
function view({ impersonatedBy, ...row }: query.SessionRow, current: Caller['session']) {
  const isImpersonation = impersonatedBy !== null
  const userAgent = isImpersonation ? null : row.userAgent || null
  // The session of an OAuth grant stores the name of the app in place of a user agent.
  const device =
    row.clientId === null ? parseUserAgent(userAgent) : { browser: userAgent ?? UNKNOWN, os: UNKNOWN }
  return {
    id: row.id,
    token: current.impersonatedBy === null ? row.token : '',
    ipAddress: isImpersonation ? null : row.ipAddress || null,
    userAgent,
    ...device,
    lastActive: toUnixSeconds(row.updatedAt),
    createdAt: toUnixSeconds(row.createdAt),
    isCurrent: row.id === current.id,
  }
}
