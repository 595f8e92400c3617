import { OPERATOR } from '../../db/audit.ts'
import * as query from '../../db/sessions.ts'
import { getPersonByEmail } from './people.ts'
import { withDatabase, type CommandContext } from './command-context.ts'

/** One line a session, latest activity first: its id, then when, where and what was active. */
export const list = (shell: CommandContext, address: string) =>
  withDatabase(shell, async (db) => {
    const { id } = await getPersonByEmail(db, address)
    for (const { id: session, updatedAt, ipAddress, userAgent } of await query.listAll(db, id))
      shell.print([session, updatedAt.toISOString(), ipAddress || '-', userAgent || '-'].join('  '))
  })

export const revoke = (shell: CommandContext, address: string, which: { id?: string; all?: true }) =>
  withDatabase(shell, async (db) => {
    const { id, email } = await getPersonByEmail(db, address)
    const ended = which.all
      ? await query.endAll(db, id, OPERATOR)
      : await query.end(db, id, which.id ?? '', OPERATOR)
    if (!which.all && ended.length === 0)
      throw new Error(
        `Say which session of ${email}: --all, or --id with one of: tallystick sessions list ${email}`,
      )
    shell.print(`Sessions ended: ${ended.length}`)
  })
