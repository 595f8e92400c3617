import bowser from 'bowser'

import * as query from '../../db/sessions.ts'
import type { Caller } from '../context.ts'
import { sourceOf } from '../telemetry/audit.ts'
import { signedIn } from '../guard/index.ts'
import { type Order, readPage } from './pages.ts'
import { toUnixSeconds } from './time.ts'

const os = signedIn.sessions

export const sessions = os.router({
  list: os.list.handler(async (call) => {
    const { db, user, session } = call.context
    const { rows, isWhole } = await readPage(call, latestFirst, (span) => query.list(db, user.id, span))
    const sessionCount = isWhole ? rows.length : await query.countAll(db, user.id)
    return { sessions: rows.map((row) => view(row, session)), sessionCount }
  }),

  revoke: os.revoke.handler(async ({ context, input, errors }) => {
    const { db, user, session } = context
    const { revokeSessionToken: token } = input
    if (token === session.token) throw errors.CURRENT_SESSION()
    if (!(await query.remove(db, user.id, token, sourceOf(context)))) throw errors.SESSION_NOT_FOUND()
    return { success: true }
  }),
})

const latestFirst: Order<query.SessionRow> = {
  placeOf: ({ updatedAt, id }) => ({ at: updatedAt, id }),
  cursor: /^(\d{1,13})\.([\w-]{1,100})$/,
}

/** The length of a user agent that is parsed: browsers send less, and the time of the patterns grows with the length. */
const PARSED = 500

/** Of an impersonation neither address nor browser: they are the administrator's. An administrator sees no tokens. */
function view({ impersonatedBy, ...row }: query.SessionRow, current: Caller['session']) {
  const isForeign = impersonatedBy !== null
  const userAgent = isForeign ? null : row.userAgent || null
  // A grant is named after its app.
  const { browser, os: system } =
    row.clientId === null
      ? bowser.parse(userAgent?.slice(0, PARSED) || ' ')
      : { browser: { name: userAgent }, os: {} }
  return {
    id: row.id,
    token: current.impersonatedBy === null ? row.token : '',
    ipAddress: isForeign ? null : row.ipAddress || null,
    userAgent,
    browser: browser.name || 'Unknown',
    os: system.name || 'Unknown',
    lastActive: toUnixSeconds(row.updatedAt),
    createdAt: toUnixSeconds(row.createdAt),
    isCurrent: row.id === current.id,
  }
}
