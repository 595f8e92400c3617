import { AsyncLocalStorage } from 'node:async_hooks'

import type { Database } from './database.ts'
import type { StatementObserver } from './observer.ts'

/** The transaction in which the current code runs. Code that outlives the transaction may use other connections. */
const transactions = new AsyncLocalStorage<{ isOpen: boolean }>()
let isChecked = false
let openCount = 0

/** Runs `work` in a transaction. Within `work`, outer statements are refused if `checkOuterStatements` was called. */
export const runInTransaction = <Result>(db: Database, work: (tx: Database) => Promise<Result>) =>
  db.transaction((tx) => (isChecked ? runChecked(() => work(tx)) : work(tx)))

async function runChecked<Result>(work: () => Promise<Result>) {
  const transaction = { isOpen: true }
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
 * Throws if code in a transaction sends a statement on another connection. The statement would not be part of the transaction, and
 * on the embedded database it would wait for the end of the transaction, forever.
 */
function refuseOuterConnection(subject: string) {
  if (transactions.getStore()?.isOpen)
    throw new Error(
      `${subject} runs outside of the transaction. Use the \`db\`, \`enqueue\`, \`mail\` and \`transaction\` that the function of \`transaction\` receives`,
    )
}

/** Refuses statements outside of the transaction in which the code runs, from now on. For development and tests. */
export function checkOuterStatements(): StatementObserver {
  isChecked = true
  return async ({ name, isInTransaction }, run) => {
    if (!isInTransaction) refuseOuterConnection(`The statement ${name}`)
    return run()
  }
}

/** Refuses further transactions of a database within `runInTransaction`. Replaces a method of the database. For development and tests. */
export function refuseOuterTransactions(db: Database) {
  const transaction = db.transaction.bind(db)
  db.transaction = async (...parameters) => {
    refuseOuterConnection('A transaction')
    return transaction(...parameters)
  }
}
