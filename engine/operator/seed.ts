import { v7 } from 'uuid'
import { z } from 'zod'

import { remove as removeAccount } from '../db/accounts/account.ts'
import * as audit from '../db/accounts/audit.ts'
import { findByEmail, findOrCreate } from '../db/accounts/users.ts'
import type { Connection, Database } from '../db/connection/database.ts'
import { announce } from '../live/bus.ts'
import { keyOf } from '../live/keys.ts'
import { normalizeAddress } from '../values/mail-address.ts'
import type { App, SampleName, Samples } from '../app/resource.ts'
import { withDatabase, readCommandSettings, type CommandContext } from './command-context.ts'

export interface SampleAccount {
  email: string
  name: string
}

const CHARLES = 'charles@example.com'

/** Returns the sample accounts, which are different accounts. `ada` is the e-mail address of the first account. */
export const sampleAccounts = (ada: string): Record<SampleName, SampleAccount> => ({
  ada: { email: ada, name: 'Ada Lovelace' },
  charles: { email: ada === CHARLES ? 'ada@example.com' : CHARLES, name: 'Charles Babbage' },
})

/**
 * Adds the sample accounts with the samples of all resources. Skips accounts and samples that already exist, so that an
 * operator can repeat the command.
 */
export async function seed(context: CommandContext, address: string, { force = false }: { force?: boolean }) {
  const { production, smtpUrl, outbox } = await readCommandSettings(context)
  if (production && !force)
    throw new Error(
      'NODE_ENV is production, and seed adds sample accounts. To add them nevertheless, use --force.',
    )
  const { success, data: email } = z.email().toLowerCase().safeParse(normalizeAddress(address))
  if (!success) throw new Error(`${address} is not an e-mail address.`)
  const samples = await importSamples(await context.loadApp())
  await withDatabase(context, (db, _, notifications) => addSamples({ db, notifications }, email, samples))
  const delivery =
    smtpUrl === undefined ? `is in the log of the service, and in ${outbox}` : 'is sent to this address'
  context.print(describeSamples(email, samples))
  context.print(`Start the service, and sign in as ${email}: npx tallystick login. The code ${delivery}.`)
}

type SamplesByName = Readonly<Record<string, Samples>>

/** Says what an account has after `addSamples`. */
export function describeSamples(email: string, samples: SamplesByName) {
  const names = new Intl.ListFormat('en-GB').format(Object.keys(samples))
  const result = names === '' ? 'an account. No resource has samples' : `sample ${names}`
  const remarks = Object.values(samples).flatMap(({ remark }) => remark ?? [])
  return [`${email} has ${result}.`, ...remarks].join(' ')
}

/** Adds the sample accounts with all samples, and announces the changes. `email` is the address of the first account. */
export async function addSamples(
  { db, notifications }: Pick<Connection, 'db' | 'notifications'>,
  email: string,
  samples: SamplesByName,
) {
  const ids = await db.transaction((tx) => addAccounts(tx, email, Object.values(samples)))
  const topics = Object.values(samples).flatMap(({ topics }) => topics)
  await announce(
    notifications,
    ids.flatMap((id) => topics.map((topic) => keyOf(topic, { person: id }))),
  )
}

/**
 * Deletes the sample accounts with all their rows, also rows that are no samples, and adds the sample data again. Only for `email` at a
 * reserved domain: the account has no other owner.
 */
export async function resetSamples(
  { db, notifications }: Pick<Connection, 'db' | 'notifications'>,
  email: string,
  app: Pick<App, 'resources' | 'personalData'>,
) {
  const samples = await importSamples(app)
  await db.transaction(async (tx) => {
    for (const { email: address } of Object.values(sampleAccounts(email))) {
      const person = await findByEmail(tx, address)
      if (!person) continue
      const subject = await removeAccount(tx, person, app.personalData)
      await audit.insert(tx, {
        ...audit.OPERATOR,
        action: 'admin.remove-user',
        outcome: 'accepted',
        subject,
        detail: 'seed',
      })
    }
  })
  await addSamples({ db, notifications }, email, samples)
  return samples
}

export async function importSamples({ resources }: Pick<App, 'resources'>): Promise<SamplesByName> {
  const samples: Record<string, Samples> = {}
  for (const [name, { importSamples }] of Object.entries(resources))
    if (importSamples) samples[name] = (await importSamples()).samples
  return samples
}

/** Adds the accounts with their samples. Returns the ids of the accounts. */
async function addAccounts(db: Database, email: string, samples: readonly Samples[]) {
  const { ada, charles } = sampleAccounts(email)
  // In the order of the addresses, so that concurrent calls do not lock the rows in opposite orders.
  const isInOrder = ada.email < charles.email
  const first = await addAccount(db, isInOrder ? ada : charles)
  const second = await addAccount(db, isInOrder ? charles : ada)
  const people = isInOrder ? { ada: first, charles: second } : { ada: second, charles: first }
  for (const { add } of samples) for (const name of ['ada', 'charles'] as const) await add(db, name, people)
  return Object.values(people).map(({ id }) => id)
}

/** Returns the person of a sample account, or creates the person. */
export async function addAccount(db: Database, account: SampleAccount) {
  const id = v7()
  // The lock of the row lets concurrent samples wait.
  const user = await findOrCreate(db, { ...account, id })
  if (user.id !== id) return user
  await audit.insert(db, {
    ...audit.OPERATOR,
    action: 'admin.create-user',
    outcome: 'accepted',
    subject: user.id,
    detail: 'seed',
  })
  return user
}
