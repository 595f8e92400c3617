import { randomBytes } from 'node:crypto'

import { sql } from 'drizzle-orm'

import { readOnly } from './catalogue.ts'
import type { Database } from './connection/database.ts'
import { query } from './copy/catalogue.ts'

/**
 * Returns the plan of a statement with placeholders, one line of the plan for each item. Statements that write are safe too:
 * `explain` without `analyze` executes nothing, `prepare` accepts only select, insert, update, delete, merge and values, and the
 * transaction is read-only. The plan is generic, so that the values of the placeholders, null, have no influence.
 */
export async function explain(db: Database, text: string): Promise<string[]> {
  // The driver could send several statements at once, and the first could end the read-only transaction.
  if (text.includes(';')) throw new Error('Only a statement without a semicolon can be explained')
  const name = `console_${randomBytes(8).toString('hex')}`
  const statement = sql.identifier(name)
  return readOnly(
    db,
    async (tx) => {
      await tx.execute(sql`set local plan_cache_mode = force_generic_plan`)
      await tx.execute(sql`prepare ${statement} as ${sql.raw(text)}`)
      try {
        // In a savepoint: otherwise `deallocate` would fail after an error, and the statement would stay in the connection.
        return await tx.transaction(async (inner) => {
          const [row] = await inner
            .select({ count: sql`cardinality(parameter_types)`.mapWith(Number) })
            .from(sql`pg_prepared_statements where name = ${name}`)
          const values = Array.from({ length: row?.count ?? 0 }, () => sql`null`)
          const list = values.length > 0 ? sql`(${sql.join(values, sql`, `)})` : sql``
          const lines = await query<{ 'QUERY PLAN': string }>(inner, sql`explain execute ${statement}${list}`)
          return lines.map((line) => line['QUERY PLAN'])
        })
      } finally {
        await tx.execute(sql`deallocate ${statement}`)
      }
    },
    '1s',
  )
}
