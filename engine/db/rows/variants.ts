import { toSnakeCase } from 'drizzle-orm/casing'

import type { Database } from '../connection/database.ts'
import { prepared } from '../statements.ts'

/** Maximum number of statements of a kind that are prepared for each table. PostgreSQL keeps the plan of each. */
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
