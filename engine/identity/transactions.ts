import { z } from 'zod'

import type { Entry } from '../db/accounts/audit.ts'
import type { Database } from '../db/connection/database.ts'
import { createStorage } from './async-storages.ts'

interface Transaction {
  db: Database
  adapter: object
  /**
   * Fields of the audit entry that an endpoint or a hook sets. They override the fields that are derived from the
   * request.
   */
  overrides: Partial<Entry>
}

const transactions = createStorage<Transaction>()

/** Returns the current transaction of better-auth. Outside a transaction, returns the given database. */
export const currentDatabase = (db: Database) => transactions.getStore()?.db ?? db

/** Overrides fields of the audit entry that the current transaction writes. Without a transaction, does nothing. */
export const amendAuditEntry = (fields: Partial<Entry>) =>
  Object.assign(transactions.getStore()?.overrides ?? {}, fields)

/**
 * Creates a database adapter for better-auth. Inside a transaction, every method of the adapter uses this transaction, and
 * hooks use it through `currentDatabase`.
 *
 * The Proxy is needed until `reserveVerificationValue` of better-auth uses the adapter of the transaction (1.7.25 uses the first
 * adapter at the first sign-in of an account that an administrator has created). The statement would need a second connection
 * while the transaction holds the first.
 */
export function createTransactionalAdapter<Adapter extends object>(
  db: Database,
  createAdapter: (db: Database) => Adapter,
) {
  const base = createAdapter(db)
  const transaction = <Result>(work: (adapter: Adapter) => Promise<Result>) =>
    db.transaction((tx) => {
      const adapter = createAdapter(tx)
      return transactions.run({ db: tx, adapter, overrides: {} }, () => work(adapter))
    })
  const routed = new Proxy(base, {
    get: (_, name): unknown => Reflect.get(transactions.getStore()?.adapter ?? base, name),
  })
  return Object.assign(routed, { transaction })
}

/** Returns the current transaction. Throws outside a transaction. */
export function currentTransaction() {
  const transaction = transactions.getStore()
  if (!transaction) throw new Error('The code runs outside a transaction of the better-auth adapter')
  return transaction
}

/** A person who has just been added to the table of people. */
const NewPerson = z.object({ id: z.string(), email: z.string(), name: z.string() })
export type NewPerson = z.infer<typeof NewPerson>

/**
 * Wraps a database adapter of better-auth, so that `hook` runs after the adapter has added a person, in the same transaction: an error
 * of the hook undoes the account. Needed until better-auth runs its own hooks before the commit (1.7.25 runs them after).
 */
export const withSignUpHook = <Call extends { model: string }, Row>(
  adapter: { create: (call: Call) => Promise<Row> },
  hook: (person: NewPerson) => Promise<void> | undefined,
) => ({
  create: async (call: Call) => {
    const row = await adapter.create(call)
    if (call.model === 'user') await hook(NewPerson.parse(row))
    return row
  },
})
