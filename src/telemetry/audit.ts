import type { Entry, Source } from '../../db/audit.ts'
import type { Database } from '../../db/database.ts'
import type { Context } from '../context.ts'
import { createStorage, disableStoragesAfter } from './async-storages.ts'

/** Maximum stored length of a `User-Agent` header, in characters. */
const MAX_AGENT = 256

/**
 * Returns the actor, IP address and user agent of a request. During an impersonation, the actor is the administrator.
 */
export const auditSourceOf = ({
  attributes,
  headers,
  address,
}: Pick<Context, 'attributes' | 'headers' | 'address'>) => ({
  actor: attributes.actor ?? attributes.person ?? null,
  ipAddress: address?.() ?? null,
  userAgent: headers['user-agent']?.slice(0, MAX_AGENT) ?? null,
})

const contexts = createStorage<Context>()

/**
 * Makes the context of a call available to `currentAuditSource`, because better-auth and OpenAuth do not pass the
 * context to the functions that they call.
 */
export const withAuditContext = <Result>(context: Context, work: () => Promise<Result>) =>
  disableStoragesAfter(() => contexts.run(context, work))

const UNKNOWN: Source = { actor: null, ipAddress: null, userAgent: null }

/** Returns the audit source of the current request. All fields are null outside a request. */
export function currentAuditSource() {
  const context = contexts.getStore()
  return context ? auditSourceOf(context) : UNKNOWN
}

/** Returns the id of the person, if an administrator impersonates a person in the current request. */
export function currentImpersonation() {
  const { actor, person } = contexts.getStore()?.attributes ?? {}
  return actor === undefined ? undefined : person
}

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
export const amendEntry = (fields: Partial<Entry>) =>
  Object.assign(transactions.getStore()?.overrides ?? {}, fields)

/**
 * Creates a database adapter for better-auth. Inside a transaction, every method of the adapter uses this transaction.
 * Reason: some functions of better-auth keep a reference to the first adapter that they receive. If this first adapter
 * used another connection, its statement would wait for the transaction (in the embedded database, forever). Hooks use
 * the same transaction through `currentDatabase`.
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
