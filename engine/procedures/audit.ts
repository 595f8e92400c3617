import { implement } from '@orpc/server'
import { badRequest, type EngineContract } from 'tallystick-contract/internal'

import * as query from '../db/accounts/audit.ts'
import { findEmails, findIdByEmail } from '../db/accounts/users.ts'
import type { Context } from '../call/context.ts'
import { withCaller } from '../guard/index.ts'
import { auditSourceOf } from '../call/audit-source.ts'
import { newestFirst, type Order, readPage } from './lists/pagination.ts'
import { toUnixSeconds } from '../values/unix-time.ts'
import type { Resource } from '../app/resource.ts'
import { parseUserAgent } from './user-agent.ts'

/** The order of a page. The entries have no long texts, so no byte limit is needed: `textsOf` is empty, and `bytes` is 0. */
const order: Order<query.AuditRow> = { ...newestFirst, textsOf: () => [] }

/** Creates the procedures of the audit trail. The contract is a parameter, because its actions depend on the application. */
export function createAudit(contract: EngineContract['audit']) {
  const os = implement(contract).$context<Context>().use(withCaller)
  const procedures = os.router({
    list: os.list.handler(async (call) => {
      const { context, input } = call
      const { db } = context
      const entry = { ...auditSourceOf(context), action: 'admin.list-audit' } as const
      // Undefined without a filter, and null if no account has the address.
      const person = input?.person === undefined ? undefined : await findIdByEmail(db, input.person)
      const outcome = person === null ? 'refused' : 'accepted'
      await query.insert(db, { ...entry, outcome, subject: person ?? null })
      if (person === null) throw badRequest([{ path: ['person'], message: 'No account has this address' }])
      const filter = { person, action: input?.action, outcome: input?.outcome }
      const { rows } = await readPage(call, order, async (page) =>
        (await query.list(db, filter, page)).map((row) => ({ ...row, bytes: 0 })),
      )
      const emails = await findEmails(
        db,
        rows.flatMap(({ actor, subject }) => [actor, subject]),
      )
      return { entries: rows.map((row) => view(row, emails)) }
    }),
  })
  return {
    description: 'The audit trail, for administrators.',
    procedures,
  } satisfies Resource
}

const view = (
  { id, createdAt, action, outcome, actor, subject, ...row }: query.AuditRow,
  emails: Emails,
) => ({
  id,
  at: toUnixSeconds(createdAt),
  action,
  outcome,
  actor: partyView(actor, emails),
  subject: partyView(subject, emails),
  ipAddress: row.ipAddress,
  userAgent: row.userAgent,
  ...parseUserAgent(row.userAgent),
  detail: row.detail,
})

/** The e-mail addresses of accounts by id. */
type Emails = ReadonlyMap<string, string>

const partyView = (id: string | null, emails: Emails) =>
  id === null ? null : { id, email: emails.get(id) ?? null }
