import type { Database } from './database.ts'

interface Statement {
  /**
   * The name of the prepared statement, such as `sessions_find`, or the verb and the tables, such as `update sessions`. The
   * number of different names is small, so that metrics can use the name as a label.
   */
  name: string
  /** The SQL with placeholders, without values. */
  text: string
  isInTransaction: boolean
}

/** Runs a statement by calling `run`, and observes its duration and outcome. Returns the result of `run`. */
export type StatementObserver = <Result>(statement: Statement, run: () => Promise<Result>) => Promise<Result>

/**
 * Passes every statement of a database and of its transactions to observers. Replaces methods of the given database
 * object and returns the object. A database without an observer therefore has no overhead.
 */
export const observedBy = <Observed extends Database>(
  db: Observed,
  observers: readonly StatementObserver[] = [],
) => observers.reduce((inner, observer) => observed(inner, observer), db)

function observed<Observed extends Database>(
  db: Observed,
  observer: StatementObserver,
  isInTransaction = false,
): Observed {
  const { session } = db._
  const prepareQuery = session.prepareQuery.bind(session)
  session.prepareQuery = (query, fields, name, isArray, mapper, metadata, ...rest) => {
    const prepared = prepareQuery(query, fields, name, isArray, mapper, metadata, ...rest)
    const [verb = ''] = query.sql.split(' ', 1)
    const tables = metadata?.tables ?? []
    const statement = { name: name ?? [verb, ...tables].join(' '), text: query.sql, isInTransaction }
    const execute = prepared.execute.bind(prepared)
    prepared.execute = (values) => observer(statement, () => execute(values))
    return prepared
  }
  const transaction = db.transaction.bind(db)
  db.transaction = (work, config) => transaction((tx) => work(observed(tx, observer, true)), config)
  return db
}
