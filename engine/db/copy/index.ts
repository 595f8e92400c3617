import { type SQL, sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import { type Catalogue, findFilledTable, query, readCatalogue, type Table } from './catalogue.ts'
import { CopyError, filledError, rethrowFor } from './error.ts'
import { copyRows, measureTable } from './rows.ts'
import { withoutTriggers } from './triggers.ts'

/** Settings of both transactions: values have the same texts on both sides, and no limit of time ends the copy. */
const SETTINGS = {
  datestyle: 'ISO, YMD',
  timezone: 'UTC',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  bytea_output: 'hex',
  lc_monetary: 'C',
  // Refuses to read a table with hidden rows, instead of leaving them out.
  row_security: 'off',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  transaction_timeout: '0',
}

export interface CopiedTable {
  name: string
  rows: number
}

interface CopyOptions {
  /** Whether this copy has applied the migrations. Then all rows of the target come from migrations, and are deleted before the copy. */
  isFresh: boolean
  onCopied?: (table: CopiedTable) => void
}

/**
 * Copies all rows and the state of all sequences to a migrated database, in one transaction. Compares the number of rows and
 * a checksum of each table on both sides. If they differ, throws CopyError and copies nothing.
 */
export const copyData = (source: Database, target: Database, options: CopyOptions) =>
  source
    .transaction(
      (from) =>
        target.transaction(async (to) => {
          for (const tx of [from, to]) await configure(tx)
          await copyInTransactions(from, to, options)
        }),
      { isolationLevel: 'repeatable read', accessMode: 'read only' },
    )
    .catch(rethrowFor('The database'))

const configure = (tx: Database) =>
  // Older versions of PostgreSQL lack some settings.
  query(
    tx,
    sql`select set_config(name, value, true) from json_each_text(${JSON.stringify(SETTINGS)}::text::json) as wanted (name, value)
      join pg_settings using (name)`,
  )

async function copyInTransactions(from: Database, to: Database, { isFresh, onCopied }: CopyOptions) {
  const source = await readCatalogue(from)
  const target = await readCatalogue(to)
  requireSameTables(source, target)
  const sourceTables = new Set(source.tables.map(({ name }) => name))
  await withoutTriggers(to, target.tables, async (sorted) => {
    await emptyTables(to, sorted, isFresh)
    for (const table of sorted.filter(({ name }) => sourceTables.has(name))) {
      const rows = await copyTable(from, to, table).catch(rethrowFor(table.name))
      onCopied?.({ name: table.name, rows })
    }
    for (const sequence of source.sequences) await copySequence(from, to, sequence)
  })
  for (const view of source.materializedViews)
    await query(to, sql`refresh materialized view ${sql.raw(view)}`).catch(rethrowFor(view))
}

const describe = ({ columns }: Table) => columns.map(({ name, type }) => `${name} ${type}`)

/** Throws if the target lacks a table, a column or a sequence of the source. The target may have more tables, which stay empty. */
function requireSameTables(source: Catalogue, target: Catalogue) {
  if (source.hasLargeObjects)
    throw new CopyError('The database has large objects (lo_create), which this command does not copy.')
  const tables = new Map(target.tables.map((table) => [table.name, table]))
  for (const table of source.tables) {
    const other = tables.get(table.name)
    if (!other)
      throw new CopyError(
        `The table ${table.name} is not in the migrations of this release: drop it, or write a migration.`,
      )
    const [columns, others] = [describe(table), describe(other)]
    const difference = [
      ...columns.filter((column) => !others.includes(column)),
      ...others.filter((column) => !columns.includes(column)),
    ]
    if (difference.length > 0)
      throw new CopyError(
        `The columns of ${table.name} are not those of the migrations of this release: ${difference.join(', ')}.`,
      )
  }
  const missing = source.sequences.find((name) => !target.sequences.includes(name))
  if (missing !== undefined)
    throw new CopyError(`The sequence ${missing} is not in the migrations of this release.`)
}

/** Locks the tables, and deletes the rows that migrations have inserted: the source has these rows too. Throws if there are other rows. */
async function emptyTables(to: Database, tables: readonly Table[], isFresh: boolean) {
  const names = sql.raw(tables.map(({ name }) => name).join(', '))
  await query(to, sql`lock table ${names} in access exclusive mode`)
  const filled = await findFilledTable(to, tables)
  if (filled === undefined) return
  if (!isFresh) throw filledError(filled)
  await query(to, sql`truncate ${names} cascade`)
}

async function copyTable(from: Database, to: Database, table: Table) {
  const before = await measureTable(from, table)
  await copyRows(from, to, table, before.maxBytes)
  const after = await measureTable(to, table)
  if (before.rows !== after.rows || before.checksum !== after.checksum)
    throw new CopyError(
      `${table.name} differs after the copy (${before.rows} and ${after.rows} rows). Nothing was copied.`,
    )
  return before.rows
}

async function copySequence(from: Database, to: Database, name: string) {
  const [state] = await query<{ last: string; isCalled: boolean }>(
    from,
    sql`select last_value::text as last, is_called as "isCalled" from ${sql.raw(name)}`,
  )
  const set: SQL = sql`select setval(${name}::text::regclass, ${state?.last}::text::bigint, ${state?.isCalled}::boolean)`
  await query(to, set).catch(rethrowFor(name))
}
