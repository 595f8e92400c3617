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
