import { AsyncLocalStorage } from 'node:async_hooks'

import type { Database } from './database.ts'

export interface OpenTransaction {
  /** The connection of the transaction. */
  db: Database
  /** False after the end: code that outlives the transaction may use other connections. */
  isOpen: boolean
  /** Runs after the end of the outermost transaction, also after a rollback. */
  afterEnd: { name: string; run: () => Promise<unknown> }[]
}

/** The transaction in which the current code runs. */
const transactions = new AsyncLocalStorage<OpenTransaction>()
let openCount = 0

/** Returns the transaction of `runInTransaction` in which the current code runs. */
export function currentTransaction() {
  const transaction = openCount === 0 ? undefined : transactions.getStore()
  return transaction?.isOpen ? transaction : undefined
}

/** Runs `work` in a transaction. Within `work`, statements on an outer connection are refused: see `withTransactionChecks`. */
export async function runInTransaction<Result>(db: Database, work: (tx: Database) => Promise<Result>) {
  if (currentTransaction()) return db.transaction(work)
  const afterEnd: OpenTransaction['afterEnd'] = []
  try {
    return await db.transaction((tx) => runWithin({ db: tx, isOpen: true, afterEnd }, () => work(tx)))
  } finally {
    for (const { run } of afterEnd) await run()
  }
}

async function runWithin<Result>(transaction: OpenTransaction, work: () => Promise<Result>) {
  openCount++
  try {
    return await transactions.run(transaction, work)
  } finally {
    transaction.isOpen = false
    openCount--
    // An enabled storage makes every promise of the process slower.
    if (openCount === 0) transactions.disable()
  }
}

/**
 * Code in a transaction has sent a statement on another connection. The statement would not be part of the transaction, and on the
 * embedded database it would wait for the end of the transaction, forever.
 */
const createOuterError = (subject: string) =>
  new Error(
    `${subject} runs outside of the transaction. Use the \`db\`, \`enqueue\`, \`mail\` and \`transaction\` that the function of \`transaction\` receives`,
  )

/**
 * Refuses statements and transactions of a database within `runInTransaction`. Replaces methods of the given database object, and
 * returns the object.
 */
export function withTransactionChecks<Checked extends Database>(db: Checked): Checked {
  const { session } = db._
  const prepareQuery = session.prepareQuery.bind(session)
  session.prepareQuery = (query, fields, name, ...rest) => {
    const prepared = prepareQuery(query, fields, name, ...rest)
    const execute = prepared.execute.bind(prepared)
    // No async function, because a further promise for each statement would cost time.
    prepared.execute = (values) =>
      currentTransaction()
        ? Promise.reject(createOuterError(`The statement ${name ?? query.sql.split(' ', 1).join()}`))
        : execute(values)
    return prepared
  }
  const transaction = db.transaction.bind(db)
  db.transaction = async (work, config) => {
    if (currentTransaction()) throw createOuterError('A transaction')
    return transaction((tx) => work(withSerialInner(tx)), config)
  }
  return db
}

/**
 * Runs the inner transactions of a transaction one after the other: two savepoints of a connection that are open at the same time would
 * undo and release the statements of each other. Replaces a method of the given transaction, and returns the transaction.
 */
function withSerialInner<Outer extends Database>(tx: Outer): Outer {
  const transaction = tx.transaction.bind(tx)
  let openInner = 0
  let last: Promise<unknown> = Promise.resolve()
  tx.transaction = (work, config) => {
    const current = currentTransaction()
    // Code in an inner transaction would wait for its own end.
    if (openInner > 0 && current?.db !== tx) return Promise.reject(createOuterError('An inner transaction'))
    openInner++
    const run = (inner: Parameters<typeof work>[0]) => {
      const runWork = () => work(withSerialInner(inner))
      return current ? runWithin({ ...current, db: inner }, runWork) : runWork()
    }
    const result = last
      .then(() => transaction(run, config))
      .finally(() => {
        openInner--
      })
    last = result.catch(() => undefined)
    return result
  }
  return tx
}
