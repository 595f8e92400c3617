import { AsyncLocalStorage } from 'node:async_hooks'

import type { Entry, Source } from '../../db/audit.ts'
import type { Database } from '../../db/database.ts'
import type { Context } from '../context.ts'

/** How much of a User-Agent header is kept, in characters. */
const MAX_AGENT = 256

/** Who acts in a request, and from where. Of an impersonation the actor is the administrator. */
export const sourceOf = ({
  attributes,
  headers,
  address,
}: Pick<Context, 'attributes' | 'headers' | 'address'>) => ({
  actor: attributes.actor ?? attributes.person ?? null,
  ipAddress: address?.() ?? null,
  userAgent: headers['user-agent']?.slice(0, MAX_AGENT) ?? null,
})

const requests = new AsyncLocalStorage<Context>()

/** Runs work of better-auth or OpenAuth, whose hooks know nothing of the request. */
export const withSource = <Result>(context: Context, work: () => Result) => requests.run(context, work)

const UNKNOWN: Source = { actor: null, ipAddress: null, userAgent: null }

export function currentSource() {
  const context = requests.getStore()
  return context ? sourceOf(context) : UNKNOWN
}

interface Transaction {
  db: Database
  adapter: object
  /** What an endpoint or a hook knows better than the request shows. */
  known: Partial<Entry>
}

const transactions = new AsyncLocalStorage<Transaction>()

/** The transaction under way, or else the database. */
export const currentDatabase = (db: Database) => transactions.getStore()?.db ?? db

/** Completes the entry of the transaction under way. */
export const note = (known: Partial<Entry>) => Object.assign(transactions.getStore()?.known ?? {}, known)

/**
 * An adapter of better-auth whose transactions hooks find by `currentDatabase`. Some functions of better-auth keep the
 * adapter that they were made with. Inside a transaction that adapter uses the transaction too: another connection would
 * wait for this one, for ever in the embedded database.
 */
export function transactional<Adapter extends object>(db: Database, open: (db: Database) => Adapter) {
  const outside = open(db)
  const transaction = <Result>(work: (adapter: Adapter) => Promise<Result>) =>
    db.transaction((tx) => {
      const adapter = open(tx)
      return transactions.run({ db: tx, adapter, known: {} }, () => work(adapter))
    })
  const routed = new Proxy(outside, {
    get: (_, name): unknown => Reflect.get(transactions.getStore()?.adapter ?? outside, name),
  })
  return Object.assign(routed, { transaction })
}

/** The transaction under way. Throws where there is none. */
export function underWay() {
  const transaction = transactions.getStore()
  if (!transaction) throw new Error('The adapter of better-auth has no transaction under way')
  return transaction
}
