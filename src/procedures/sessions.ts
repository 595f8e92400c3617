import bowser from 'bowser'

import * as query from '../../db/sessions.ts'
import { signedIn } from '../guard.ts'
import { type Order, paged } from './pages.ts'
import { seconds } from './time.ts'

const os = signedIn.sessions

export const sessions = os.router({
  list: os.list.handler(async (call) => {
    const { db, user, session } = call.context
    const { rows, isWhole } = await paged(call, latestFirst, (span) => query.list(db, user.id, span))
    const sessionCount = isWhole ? rows.length : await query.countAll(db, user.id)
    return { sessions: rows.map((row) => view(row, session.id)), sessionCount }
  }),

  revoke: os.revoke.handler(async ({ context: { db, user, session }, input, errors }) => {
    if (input.revokeSessionToken === session.token) throw errors.CURRENT_SESSION()
    if (!(await query.remove(db, user.id, input.revokeSessionToken))) throw errors.SESSION_NOT_FOUND()
    return { success: true }
  }),
})

const latestFirst: Order<query.SessionRow> = {
  placeOf: ({ updatedAt, id }) => ({ at: updatedAt, id }),
  cursor: /^(\d{1,13})\.([\w-]{1,100})$/,
}

function view(row: query.SessionRow, currentId: string) {
  // A grant is named after its app.
  const { browser, os: system } =
    row.clientId === null ? bowser.parse(row.userAgent || ' ') : { browser: { name: row.userAgent }, os: {} }
  return {
    id: row.id,
    token: row.token,
    ipAddress: row.ipAddress || null,
    userAgent: row.userAgent || null,
    browser: browser.name || 'Unknown',
    os: system.name || 'Unknown',
    lastActive: seconds(row.updatedAt),
    createdAt: seconds(row.createdAt),
    isCurrent: row.id === currentId,
  }
}
