import type PgBoss from 'pg-boss'

import type { Database } from '../db/connection/database.ts'

/**
 * Runs the statements of pg-boss on a connection or in a transaction of the service, so that pg-boss opens no connection. `name` is
 * the name of the statement in metrics and traces.
 */
export const executorOn = (db: Database, name: string): PgBoss.Db => ({
  async executeSql(text, values: unknown[] = []) {
    const query = { sql: text, params: values.map(toParameter) }
    const result = await db._.session.prepareQuery(query, undefined, name, false).execute()
    return { rows: rowsOf(result) }
  },
})

/** Both drivers accept JSON and arrays as texts. The arrays of pg-boss have only ids and names of queues, which need no quotes. */
function toParameter(value: unknown) {
  if (Array.isArray(value)) return `{${value.join(',')}}`
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null)
}

/** The drivers return rows in different forms. */
const rowsOf = (result: unknown): unknown[] =>
  Array.isArray(result) ? result : (result as { rows: unknown[] }).rows
