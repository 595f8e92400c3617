import { inArray } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

import type { Database } from './connection/database.ts'

/** Returns which of these texts a column contains, in the rows of all people. */
export async function findStored(db: Database, column: PgColumn, texts: readonly string[]) {
  const found = await db
    .select({ text: column })
    .from(column.table)
    .where(inArray(column, [...texts]))
  return found.map(({ text }) => String(text))
}
