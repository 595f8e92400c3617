import { z } from 'zod'

import { notesTopic } from '../../contract/notes.ts'
import { tasksTopic } from '../../contract/tasks.ts'
import * as audit from '../../db/audit.ts'
import { findOrCreate } from '../../db/users.ts'
import type { Database } from '../../db/database.ts'
import * as notes from '../../db/notes.ts'
import * as shares from '../../db/shares.ts'
import * as tasks from '../../db/tasks.ts'
import { announce } from '../live/bus.ts'
import { keyOf } from '../live/topics.ts'
import { normalizeAddress } from '../mail-address.ts'
import { type SampleAccount, sampleAccounts } from './sample-data.ts'
import { withDatabase, readCommandSettings, type CommandContext } from './command-context.ts'

/**
 * Adds the sample accounts. Skips accounts, tasks and notes that already exist, so that an operator can repeat the
 * command.
 */
export async function seed(context: CommandContext, address: string, { force = false }: { force?: boolean }) {
  const { production, smtpUrl, outbox } = readCommandSettings(context)
  if (production && !force)
    throw new Error(
      'NODE_ENV is production, and seed adds sample accounts. To add them nevertheless, use --force.',
    )
  const { success, data: email } = z.email().toLowerCase().safeParse(normalizeAddress(address))
  if (!success) throw new Error(`${address} is not an e-mail address.`)
  await withDatabase(context, async (db, _, notifications) => {
    const ids: string[] = []
    await db.transaction(async (tx) => {
      for (const account of sampleAccounts(email)) ids.push(await addAccount(tx, account))
    })
    await announce(
      notifications,
      ids.flatMap((id) => [keyOf(tasksTopic, id), keyOf(notesTopic, id)]),
    )
  })
  const delivery =
    smtpUrl === undefined ? `is in the log of the service, and in ${outbox}` : 'is sent to this address'
  context.print(`${email} has sample tasks and notes. Some notes are shared with another account.`)
  context.print(`Start the service, and sign in as ${email}: tallystick login. The code ${delivery}.`)
}

/** Adds an account with tasks and notes. Returns the id of the account. */
async function addAccount(db: Database, account: SampleAccount) {
  const user = await findOrCreate(db, { email: account.email, name: account.name })
  await audit.insert(db, {
    ...audit.OPERATOR,
    action: 'admin.create-user',
    outcome: 'accepted',
    subject: user.id,
    detail: 'seed',
  })
  const missing = <Item extends { title: string }>(samples: Item[], existing: { title: string }[]) =>
    samples.filter(({ title }) => !existing.some((item) => item.title === title))

  for (const task of missing(account.tasks, await tasks.listTitles(db, user.id))) {
    const { id } = await tasks.insert(db, user.id, task)
    await tasks.update(db, user.id, id, { status: task.status })
  }
  for (const note of missing(account.notes, await notes.listTitles(db, user.id))) {
    const { uuid } = await notes.insert(db, user.id, note)
    for (const [email, role] of note.shares) await shares.put(db, user, uuid, email, role)
  }
  return user.id
}
