import { type SQL, sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import { requireRow } from '../statements.ts'
import { query, type Table } from './catalogue.ts'

/** Maximum number of rows and of bytes of a batch. A row above the limit is a batch of its own. */
const BATCH_ROWS = 1000
const BATCH_BYTES = 8 * 1024 * 1024

const list = (parts: string[]) => sql.raw(parts.join(', '))

/**
 * Returns the number of rows, a checksum that does not depend on their order, and the bytes of the longest row as a text.
 * The checksum is the sum of a part of the SHA-256 of each row.
 */
export async function measureTable(db: Database, { name, columns }: Table) {
  const row = sql`row(${list(columns.map((column) => column.name))})::text`
  const hash = sql`('x' || encode(substr(sha256(convert_to(row, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint`
  return requireRow(
    await query<{ rows: number; checksum: string; maxBytes: number }>(
      db,
      sql`select count(*)::float8 as rows, coalesce(sum(${hash}), 0)::text as checksum,
        coalesce(max(octet_length(row)), 0) as "maxBytes"
        from (select ${row} as row from only ${sql.raw(name)}) as measured`,
    ),
  )
}

/** Copies the rows in batches. Each value is the text that PostgreSQL writes and reads for its type. */
export async function copyRows(from: Database, to: Database, table: Table, maxBytes: number) {
  const size = Math.max(1, Math.min(BATCH_ROWS, Math.floor(BATCH_BYTES / Math.max(1, maxBytes))))
  const texts = list(table.columns.map(({ name }) => `${name}::text`))
  await query(
    from,
    sql`declare copied_rows no scroll cursor for
      select to_json(array[${texts}]::text[])::text as row from only ${sql.raw(table.name)}`,
  )
  const insert = insertInto(table)
  for (;;) {
    const rows = await query<{ row: string }>(from, sql.raw(`fetch forward ${size} from copied_rows`))
    if (rows.length === 0) break
    await query(to, insert(`[${rows.map(({ row }) => row).join(',')}]`))
  }
  await query(from, sql`close copied_rows`)
}

function insertInto({ name, columns }: Table): (rows: string) => SQL {
  const names = columns.length > 0 ? sql`(${list(columns.map((column) => column.name))})` : sql``
  const values = list(columns.map(({ type }, index) => `(copied ->> ${index})::${type}`))
  return (rows) =>
    sql`insert into ${sql.raw(name)} ${names} overriding system value
      select ${values} from json_array_elements(${rows}::text::json) as copied`
}
