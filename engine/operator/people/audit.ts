import { auditActions, auditOutcomes, metaOf } from 'tallystick-contract/internal'
import { z } from 'zod'

import * as query from '../../db/accounts/audit.ts'
import { findEmails } from '../../db/accounts/users.ts'
import type { Position } from '../../db/pagination.ts'
import { queuesOf } from '../../app/resource.ts'
import { connectionActions } from '../../app/sign-in.ts'
import { RETRY_ACTION } from '../jobs.ts'
import { getPersonByEmail } from './people.ts'
import { withDatabase, type CommandContext } from '../command-context.ts'
import type { CommandInput } from '../command-input.ts'

const Limit = z.coerce.number().int().min(1).max(1000)
const Outcome = z.enum(auditOutcomes).optional()

/** Prints one line for each entry: time, action, outcome, actor, subject, IP address, detail, user agent. */
export async function list(context: CommandContext, { person, before, ...options }: CommandInput) {
  const limit = parse(Limit, '--limit', options.limit, 'a whole number from 1 to 1000')
  const actions = [...auditActions, ...(await listDeclaredActions(context))]
  const action = parse(z.enum(actions).optional(), '--action', options.action, `one of ${actions.join(', ')}`)
  const outcome = parse(Outcome, '--outcome', options.outcome, `one of ${auditOutcomes.join(', ')}`)
  // The newest entry is first, so that the entries before a time are after its position in the list.
  const after = before === undefined ? undefined : parsePosition(before)
  await withDatabase(context, async (db) => {
    const personId = person === undefined ? undefined : (await getPersonByEmail(db, person)).id
    // One entry more than the limit, to know whether older entries exist.
    const page = { limit: limit + 1, ...(after && { after }) }
    const rows = await query.list(db, { person: personId, action, outcome }, page)
    const shown = rows.slice(0, limit)
    const emails = await findEmails(
      db,
      shown.flatMap(({ actor, subject }) => [actor, subject]),
    )
    const nameOf = (id: string | null) => (id === null ? '-' : (emails.get(id) ?? id))
    for (const { createdAt, action, outcome, ...row } of shown)
      context.print(
        [
          createdAt.toISOString(),
          action,
          outcome,
          nameOf(row.actor),
          nameOf(row.subject),
          row.ipAddress ?? '-',
          row.detail ?? '-',
          row.userAgent ?? '-',
        ].join('  '),
      )
    const last = shown.at(-1)
    if (last && rows.length > limit)
      context.print(`Older entries: --before ${last.createdAt.toISOString()}/${last.id}`)
  })
}

/** Lists the actions that only some applications record: on their procedures, endpoints, jobs and providers of sign-in. */
async function listDeclaredActions({ loadApp }: CommandContext) {
  const app = await loadApp()
  const procedures = Object.values(app.resources).flatMap((resource) => Object.values(resource.procedures))
  return [
    ...new Set([
      ...procedures.flatMap((procedure) => metaOf(procedure).audit ?? []),
      ...Object.values(app.endpoints).flatMap(({ audit }) => audit ?? []),
      ...(queuesOf(app).length > 0 ? [RETRY_ACTION] : []),
      ...(app.signIn ? Object.values(connectionActions) : []),
    ]),
  ]
}

/** Returns the value of an option. Throws an error if the value is not `expected`. */
function parse<Value>(schema: z.ZodType<Value>, option: string, text: string | undefined, expected: string) {
  const { success, data } = schema.safeParse(text)
  if (!success) throw new Error(`${option} ${text}: must be ${expected}`)
  return data
}

function parsePosition(before: string): Position {
  const [at = '', id = ''] = before.split('/')
  if (Number.isNaN(Date.parse(at)) || !/^\d{1,15}$/.test(id))
    throw new Error(`--before ${before}: must be the value in the last line of the previous output`)
  return { at: new Date(at), id: Number(id) }
}
