import type { Database } from './database.ts'

export interface Statement {
  /** What it is prepared as, else what it does to which tables: `tasks_find`, `update tasks`. One of few. */
  name: string
  /** Without its values: placeholders stand where they go. */
  text: string
}

/** Runs a statement, and sees how it goes. */
export type StatementObserver = <Result>(statement: Statement, run: () => Promise<Result>) => Promise<Result>

/** Has every statement of a database watched, and those of its transactions. A database that nobody watches pays nothing. */
export function observed<Watched extends Database>(db: Watched, watch: StatementObserver): Watched {
  const { session } = db._
  const prepare = session.prepareQuery.bind(session)
  session.prepareQuery = (query, fields, name, ...rest) => {
    const prepared = prepare(query, fields, name, ...rest)
    const [, , made] = rest
    const summary = [...query.sql.split(' ', 1), ...(made?.tables ?? [])].join(' ')
    const statement = { name: name ?? summary, text: query.sql }
    const execute = prepared.execute.bind(prepared)
    prepared.execute = (values) => watch(statement, () => execute(values))
    return prepared
  }
  const begin = db.transaction.bind(db)
  db.transaction = (work, config) => begin((tx) => work(observed(tx, watch)), config)
  return db
}
