import { OPERATOR } from '../../db/accounts/audit.ts'
import * as query from '../../db/accounts/sessions.ts'
import { getPersonByEmail } from './people.ts'
import { withDatabase, type CommandContext } from '../command-context.ts'
import type { CommandInput } from '../command-input.ts'

/** Prints one line for each session, latest activity first: id, time of the latest activity, IP address, user agent. */
export const list = (context: CommandContext, address: string) =>
  withDatabase(context, async (db) => {
    const { id } = await getPersonByEmail(db, address)
    for (const { id: sessionId, updatedAt, ipAddress, userAgent } of await query.listAll(db, id))
      context.print([sessionId, updatedAt.toISOString(), ipAddress || '-', userAgent || '-'].join('  '))
  })

export const revoke = (
  context: CommandContext,
  address: string,
  selection: Pick<CommandInput, 'id' | 'all'>,
) =>
  withDatabase(context, async (db) => {
    const { id, email } = await getPersonByEmail(db, address)
    const ended = selection.all
      ? await query.endAll(db, id, OPERATOR)
      : await query.endById(db, id, selection.id ?? '', OPERATOR)
    if (!selection.all && ended.length === 0) {
      const problem =
        selection.id === undefined
          ? 'Use --id ID or --all.'
          : `${email} has no session with the id ${selection.id}.`
      throw new Error(`${problem} For the ids, run: tallystick sessions list ${email}`)
    }
    context.print(`Sessions ended: ${ended.length}`)
  })
