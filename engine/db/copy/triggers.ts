import { sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import { query, type Table } from './catalogue.ts'
import { rethrowFor } from './error.ts'
import { sortByReferences } from './order.ts'

/**
 * Runs `work` with the tables in the order of their references, without triggers of the application, and checks the foreign
 * keys of cycles afterwards. Needs only the owner of the tables: `session_replication_role` would need a superuser.
 */
export async function withoutTriggers(
  to: Database,
  tables: readonly Table[],
  work: (sorted: Table[]) => Promise<void>,
) {
  const run = (statement: string) => query(to, sql.raw(statement))
  const { sorted, forward } = sortByReferences(tables)
  const triggers = sorted.flatMap((table) =>
    table.triggers.map((trigger) => ({ ...trigger, table: table.name })),
  )
  const alterations = new Set(
    forward
      .filter(({ isDeferrable }) => !isDeferrable)
      .map(({ table, key }) => `alter table ${table} alter constraint ${key}`),
  )
  for (const { table, name } of triggers) await run(`alter table ${table} disable trigger ${name}`)
  for (const alter of alterations) await run(`${alter} deferrable initially deferred`)
  await run('set constraints all deferred')
  await work(sorted)
  await run('set constraints all immediate').catch(rethrowFor('The foreign keys'))
  for (const alter of alterations) await run(`${alter} not deferrable`)
  for (const { table, name, mode } of triggers) await run(`alter table ${table} ${mode} trigger ${name}`)
}
