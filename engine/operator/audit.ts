import { z } from 'zod'

import * as query from '../db/audit.ts'
import { findEmails } from '../db/users.ts'
import type { Position } from '../db/pagination.ts'
import { getPersonByEmail } from './people.ts'
import { withDatabase, type CommandContext } from './command-context.ts'

const Limit = z.coerce.number().int().min(1).max(1000)

interface Options {
  person?: string
  limit: string
  before?: string
}

/** Prints one line for each entry: time, action, outcome, actor, subject, IP address, detail, user agent. */
export async function list(context: CommandContext, { person, limit: limitOption, before }: Options) {
  const { data: limit } = Limit.safeParse(limitOption)
  if (limit === undefined) throw new Error(`--limit ${limitOption}: must be a whole number from 1 to 1000`)
  const after = before === undefined ? undefined : parsePosition(before)
  await withDatabase(context, async (db) => {
    const id = person === undefined ? undefined : (await getPersonByEmail(db, person)).id
    const rows = await query.list(db, id, { limit: limit + 1, ...(after && { after }) })
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

function parsePosition(before: string): Position {
  const [at = '', id = ''] = before.split('/')
  if (Number.isNaN(Date.parse(at)) || !/^\d{1,15}$/.test(id))
    throw new Error(`--before ${before}: must be the value in the last line of the previous output`)
  return { at: new Date(at), id: Number(id) }
}
