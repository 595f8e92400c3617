import { z } from 'zod'

import * as query from '../../db/audit.ts'
import { findEmails } from '../../db/auth.ts'
import type { Position } from '../../db/pages.ts'
import { getPersonByEmail } from './people.ts'
import { withDatabase, type CommandContext } from './command-context.ts'

const Limit = z.coerce.number().int().min(1).max(1000)

interface Options {
  person?: string
  limit: string
  before?: string
}

/** Prints one line an entry: time, action, outcome, actor, subject, address, detail, browser. */
export async function list(shell: CommandContext, { person, limit: given, before }: Options) {
  const { data: limit } = Limit.safeParse(given)
  if (limit === undefined) throw new Error(`--limit ${given}: must be a whole number from 1 to 1000`)
  const after = before === undefined ? undefined : readPlace(before)
  await withDatabase(shell, async (db) => {
    const id = person === undefined ? undefined : (await getPersonByEmail(db, person)).id
    const rows = await query.list(db, id, { limit: limit + 1, ...(after && { after }) })
    const shown = rows.slice(0, limit)
    const emails = await findEmails(
      db,
      shown.flatMap(({ actor, subject }) => [actor, subject]),
    )
    const nameOf = (id: string | null) => (id === null ? '-' : (emails.get(id) ?? id))
    for (const { createdAt, action, outcome, ...row } of shown)
      shell.print(
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
      shell.print(`Older entries: --before ${last.createdAt.toISOString()}/${last.id}`)
  })
}

function readPlace(before: string): Position {
  const [at = '', id = ''] = before.split('/')
  if (Number.isNaN(Date.parse(at)) || !/^\d{1,15}$/.test(id))
    throw new Error(`--before ${before}: must be a place that the command printed`)
  return { at: new Date(at), id: Number(id) }
}
