import { z } from 'zod'

import * as audit from '../../db/audit.ts'
import { findOrCreate } from '../../db/auth.ts'
import type { Database } from '../../db/database.ts'
import * as notes from '../../db/notes.ts'
import * as tasks from '../../db/tasks.ts'
import { type SampleAccount, sampleAccounts } from './sample-data.ts'
import { withDatabase, readCommandSettings, type CommandContext } from './command-context.ts'

/** Adds what is missing of the demonstration, so that it can be run again. */
export async function seed(shell: CommandContext, address: string, { force = false }: { force?: boolean }) {
  const { production, smtpUrl, outbox } = readCommandSettings(shell)
  if (production && !force)
    throw new Error('Made-up people have no place among real ones. Where they do: --force')
  const { success, data: email } = z.email().toLowerCase().safeParse(address)
  if (!success) throw new Error(`${address} is no address.`)
  await withDatabase(shell, (db) =>
    db.transaction(async (tx) => {
      for (const account of sampleAccounts(email)) await add(tx, account)
    }),
  )
  const letter = smtpUrl === undefined ? `in the service's log, and in ${outbox}` : 'in a letter to them'
  shell.print(`${email} has tasks and notes, some shared with somebody else.`)
  shell.print(`Start the service, and sign in as ${email}: tallystick login. The code is ${letter}.`)
}

async function add(db: Database, account: SampleAccount) {
  const viewer = await findOrCreate(db, { email: account.email, name: account.name })
  await audit.insert(db, {
    ...audit.OPERATOR,
    action: 'admin.create-user',
    outcome: 'accepted',
    subject: viewer.id,
    detail: 'seed',
  })
  const missing = <Item extends { title: string }>(wanted: Item[], there: { title: string }[]) =>
    wanted.filter(({ title }) => !there.some((item) => item.title === title))

  for (const task of missing(account.tasks, await tasks.listTitles(db, viewer.id))) {
    const { id } = await tasks.insert(db, viewer.id, task)
    await tasks.update(db, viewer.id, id, { status: task.status })
  }
  for (const note of missing(account.notes, await notes.listTitles(db, viewer.id))) {
    const { uuid } = await notes.insert(db, viewer.id, note)
    for (const [email, role] of note.shares) await notes.share(db, viewer, uuid, email, role)
  }
}
