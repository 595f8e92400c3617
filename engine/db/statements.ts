import DataLoader from 'dataloader'
import { type SQL, sql } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'

import type { Database } from './connection/database.ts'

/**
 * Builds a statement once for each database object instead of once for each call. PostgreSQL also plans a named
 * statement only once. Building and planning only once saves two thirds of the cost of a statement.
 *
 * @example
 * const selectBook = prepared((db) => db.select().from(books).where(eq(books.id, sql.placeholder('id'))).prepare('books_find'))
 */
export function prepared<Statement>(build: (db: Database) => Statement): (db: Database) => Statement {
  const built = new WeakMap<Database, Statement>()
  return (db) => {
    const statement = built.get(db) ?? build(db)
    built.set(db, statement)
    return statement
  }
}

/** Maximum number of variants of a statement that are prepared for each table. PostgreSQL keeps the plan of each. */
const MAX_PREPARED = 64

/** A query of Drizzle that can be prepared. */
interface Query<Statement> {
  prepare(name: string | undefined): Statement
}

/**
 * Prepares a statement for each combination of filters, on its first use. Further combinations are built for each call, and
 * are not named. The names are for metrics and traces: the driver identifies a statement by its text.
 */
export function createVariants(table: string) {
  const statements = new Map<string, (db: Database) => unknown>()
  return <Statement>(
    variant: string,
    build: (db: Database) => Query<Statement>,
  ): ((db: Database) => Statement) => {
    const statement = statements.get(variant)
    if (statement) return statement as (db: Database) => Statement
    if (statements.size >= MAX_PREPARED) return (db) => build(db).prepare(undefined)
    const created = prepared((db) => build(db).prepare(`${table}_${toSnakeCase(variant)}`))
    statements.set(variant, created)
    return created
  }
}

/** Loads the value of a key. Concurrent calls share a statement. */
interface Loader<Key, Value> {
  load: (key: Key) => Promise<Value>
}

/**
 * Request coalescing: concurrent callers share one statement. `execute` receives the keys of all callers in order of
 * arrival and returns one value or error for each key.
 *
 * - Idle (fewer than `maxInFlight` statements run): the statement is sent in the next microtask, without a noticeable
 *   delay.
 * - Busy (`maxInFlight` statements run): new callers wait until a running statement ends, then share the next
 *   statement. If more than `maxBatchSize` callers wait, the others share the statement after that.
 *
 * Trade-off: the throughput under load is higher, but a call may wait for a running statement. A statement starts
 * after its callers have arrived, so no caller receives a result older than its call. If `execute` rejects, every
 * caller of the statement receives the error.
 */
export const coalesced = <Key, Value>(
  maxInFlight: number,
  execute: (db: Database, keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
  maxBatchSize = Infinity,
) =>
  prepared((db) => {
    let inFlight = 0
    const waitingBatches: (() => void)[] = []
    /** DataLoader calls this function for the first key of a batch. Further keys join the batch until `send` is called. */
    const scheduleBatch = (send: () => void) => {
      if (inFlight === maxInFlight) waitingBatches.push(send)
      else {
        inFlight++
        queueMicrotask(send)
      }
    }
    const sendNextBatch = () => {
      const send = waitingBatches.shift()
      if (send) send()
      else inFlight--
    }
    const loadBatch = (keys: readonly Key[]) => {
      const values = execute(db, keys)
      values.then(sendNextBatch, sendNextBatch)
      return values
    }
    const loader: Loader<Key, Value> = new DataLoader<Key, Value>(loadBatch, {
      cache: false,
      maxBatchSize,
      batchScheduleFn: scheduleBatch,
    })
    return loader
  })

/** A table with one row, for statements that select only expressions. The query builder requires a table. */
export const dummyTable = sql`(values (1)) as one`

/**
 * Tries to lock an advisory lock until the transaction ends. Returns false, without waiting, if another transaction
 * holds the lock.
 */
export const tryAdvisoryLock = async (tx: Database, key: SQL) =>
  requireRow(await tx.select({ isLocked: sql<boolean>`pg_try_advisory_xact_lock(${key})` }).from(dummyTable))
    .isLocked

/**
 * Returns the first row of a statement that always returns a row.
 *
 * @example
 * const { count } = requireRow(await db.select({ count: count() }).from(books))
 */
export function requireRow<Row>(rows: Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new Error('The statement returned no row')
  return row
}
