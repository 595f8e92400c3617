import { ORPCError } from '@orpc/server'

import * as catalogue from '../../db/catalogue.ts'
import type { Database } from '../../db/connection/database.ts'
import { isDataException, toErrorMessage } from '../../db/errors.ts'
import { listEngineTables } from '../../db/migrate/migration-files.ts'
import {
  MAX_EXPORTED_LENGTH,
  MAX_EXPORTED_ROWS,
  MAX_KEY,
  MAX_REFERRERS,
  MAX_TOTAL,
  MAX_VALUE,
  MAX_WHOLE_VALUE,
  PAGE_SIZE,
} from '../bounds.ts'
import type { Export, ExportRequest, Row, RowRequest, Rows, RowsRequest, Table } from './data-contract.ts'
import { isSecretName, withoutSecretFields } from '../redaction.ts'

/** Tables of the engine with secrets: sign-in codes, state and keys of OAuth, and stored answers. */
const SECRET_TABLES = ['verifications', 'oauth_records', 'device_codes', 'idempotency']

/** Columns with the ids of accounts that are no foreign keys, so that they survive the account. */
const ACCOUNT_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  audit: ['actor', 'subject'],
  sessions: ['impersonated_by'],
}

/** Describes a table for the console: which parts the console never selects, and which columns refer to accounts. */
function describeTable({ key, schema: _schema, rowEstimate: _estimate, ...table }: catalogue.CatalogueTable) {
  const isHidden = SECRET_TABLES.includes(table.name)
  const accounts = ACCOUNT_COLUMNS[table.name] ?? []
  const columns = table.columns.map(({ isBinary, isComposite, ...column }) => ({
    ...column,
    references: accounts.includes(column.name)
      ? { table: 'users', column: 'id', isKey: true }
      : column.references,
    isHidden:
      isHidden ||
      isSecretName(column.name) ||
      // Nobody can read bytes.
      isBinary ||
      // Secrets in a value with fields, and in a list of JSON values, could not be removed.
      isComposite ||
      (column.isJson && column.type.endsWith('[]')),
  }))
  const isKeyHidden = columns.some(({ name, isHidden }) => isHidden && key.includes(name))
  return { ...table, isHidden, columns, key: isKeyHidden ? [] : key }
}

/** Lists the tables of the application, and then the tables of the engine. */
export async function listTables(db: Database): Promise<Table[]> {
  const engineTables = listEngineTables()
  const tables: Table[] = []
  for (const table of await catalogue.readOnly(db, catalogue.listTables)) {
    const described = describeTable(table)
    const count = described.isHidden ? null : await countUpTo(db, table, MAX_TOTAL)
    const isCut = count === MAX_TOTAL
    const rowCount = isCut ? Math.max(count, table.rowEstimate ?? 0) : count
    tables.push({ ...described, isOfEngine: engineTables.includes(table.name), rowCount })
  }
  return tables.sort((a, b) => Number(a.isOfEngine) - Number(b.isOfEngine))
}

/** Counts rows up to a limit. Null if the count needs too long, for example by a column without an index. */
const countUpTo = (
  db: Database,
  table: catalogue.CatalogueTable,
  limit: number,
  conditions: readonly catalogue.Condition[] = [],
) => catalogue.readOnly(db, (tx) => catalogue.countRows(tx, table, limit, conditions), '1s').catch(() => null)

/** In place of a JSON value. */
const TOO_LONG = '(too long to search for secrets)'

function redactJson(text: string | null, maxLength: number) {
  if (text === null) return null
  return text.length <= MAX_WHOLE_VALUE ? withoutSecretFields(text).slice(0, maxLength) : TOO_LONG
}

/** Prepares a list of rows. Throws NOT_FOUND for a name that is not shown. */
async function openTable(tx: Database, { table: name, filters, sort }: ExportRequest) {
  const table = (await catalogue.listTables(tx)).find((each) => each.name === name)
  const visible = table ? describeTable(table).columns.filter(({ isHidden }) => !isHidden) : []
  // Filters and the order would tell the values of a hidden column, and the secrets in JSON.
  const comparable = visible.filter(({ isJson }) => !isJson)
  const hidden = [...filters, ...(sort ? [sort] : [])].find(
    ({ column }) => !comparable.some(({ name }) => name === column),
  )
  if (!table || visible.length === 0 || hidden)
    throw new ORPCError('NOT_FOUND', {
      message: `${[name, hidden?.column].filter(Boolean).join('.')} does not exist, or is not shown`,
    })
  return {
    table,
    columns: visible.map(({ name }) => name),
    /** Selects a page, and one row more, which tells whether there are more pages. `maxLength`: of a value. */
    select: async (page: number, maxLength: number) => {
      const rows = await catalogue.listRows(tx, {
        table,
        // A part of a JSON value could not be parsed to remove its secrets. One character more tells that the value is too long.
        columns: visible.map(({ name, isJson }) => ({
          name,
          maxLength: isJson ? MAX_WHOLE_VALUE + 1 : maxLength,
        })),
        conditions: filters,
        sort,
        limit: PAGE_SIZE + 1,
        offset: page * PAGE_SIZE,
      })
      return {
        rows: rows
          .slice(0, PAGE_SIZE)
          .map((row) =>
            row.map((value, index) => (visible[index]?.isJson ? redactJson(value, maxLength) : value)),
          ),
        hasMore: rows.length > PAGE_SIZE,
      }
    },
  }
}

/** Reads rows. Throws BAD_REQUEST for a filter with a text that is no value of its column. */
const read = <Result>(db: Database, work: (tx: Database) => Promise<Result>) =>
  catalogue.readOnly(db, work).catch((error: unknown) => {
    throw isDataException(error) ? new ORPCError('BAD_REQUEST', { message: toErrorMessage(error) }) : error
  })

/** Lists a page of rows. Throws NOT_FOUND for a name that is not shown. */
export const listRows = (db: Database, { page, ...request }: RowsRequest): Promise<Rows> =>
  read(db, async (tx) => {
    const { table, columns, select } = await openTable(tx, request)
    const { rows, hasMore } = await select(page, MAX_VALUE)
    // A count with filters could read the whole table.
    const count = () => (request.filters.length === 0 ? catalogue.countRows(tx, table, MAX_TOTAL) : null)
    return { columns, rows, hasMore, total: page === 0 && !hasMore ? rows.length : await count() }
  })

/** Exports the first rows, as one state of the table. Throws NOT_FOUND for a name that is not shown. */
export const exportRows = (db: Database, request: ExportRequest): Promise<Export> =>
  read(db, async (tx) => {
    const { columns, select } = await openTable(tx, request)
    const exported: Export = { columns, rows: [], isCut: false }
    let length = 0
    for (let page = 0; ; page++) {
      // One character more than is exported tells that a value is cut.
      const { rows, hasMore } = await select(page, MAX_WHOLE_VALUE + 1)
      for (const row of rows) {
        exported.isCut ||= row.some((value) => value === TOO_LONG || (value?.length ?? 0) > MAX_WHOLE_VALUE)
        exported.rows.push(row.map((value) => value?.slice(0, MAX_WHOLE_VALUE) ?? null))
        length += row.reduce((sum, value) => sum + (value?.length ?? 0), 0)
      }
      const isFull = exported.rows.length >= MAX_EXPORTED_ROWS || length > MAX_EXPORTED_LENGTH
      if (hasMore && !isFull) continue
      return { ...exported, isCut: exported.isCut || hasMore }
    }
  })

/** Returns a row with its whole values. Throws NOT_FOUND for a table, a row or a key that is not shown. */
export async function getRow(db: Database, { table: name, key }: RowRequest): Promise<Row> {
  const tables = await catalogue.readOnly(db, catalogue.listTables)
  const table = tables.find((each) => each.name === name)
  const described = table && describeTable(table)
  const notFound = () => new ORPCError('NOT_FOUND', { message: `${name} has no row ${key.join(', ')}` })
  if (!table || !described || described.key.length === 0 || described.key.length !== key.length)
    throw notFound()
  const columns = described.columns.filter(({ isHidden }) => !isHidden)
  const [row] = await catalogue
    .readOnly(db, (tx) =>
      catalogue.listRows(tx, {
        table,
        // One character more than is shown tells that a value is cut.
        columns: columns.map(({ name }) => ({ name, maxLength: MAX_WHOLE_VALUE + 1 })),
        conditions: described.key.map((column, index) => ({
          column,
          operator: 'equals',
          value: key[index] ?? '',
        })),
        limit: 1,
        offset: 0,
      }),
    )
    .catch((error: unknown) => {
      if (isDataException(error)) return []
      throw error
    })
  if (!row) throw notFound()
  const valueOf = (column: string) => row[columns.findIndex(({ name }) => name === column)] ?? null
  return {
    values: columns.map(({ name: column, isJson }) => {
      const value = valueOf(column)
      const isCut = (value?.length ?? 0) > MAX_WHOLE_VALUE
      return {
        column,
        value: isJson ? redactJson(value, MAX_WHOLE_VALUE) : (value?.slice(0, MAX_WHOLE_VALUE) ?? null),
        isCut,
      }
    }),
    referrers: await countReferrers(db, tables, name, valueOf),
  }
}

/** Counts the rows that refer to a row of a table, by each column that refers to the table. */
async function countReferrers(
  db: Database,
  tables: readonly catalogue.CatalogueTable[],
  name: string,
  valueOf: (column: string) => string | null,
) {
  const referrers: Row['referrers'] = []
  for (const table of tables)
    for (const { name: column, references, isHidden } of describeTable(table).columns) {
      const value = references?.table === name && !isHidden ? valueOf(references.column) : null
      if (value === null || value.length > MAX_KEY) continue
      const count = await countUpTo(db, table, MAX_REFERRERS, [{ column, operator: 'equals', value }])
      referrers.push({ table: table.name, column, value, count })
    }
  return referrers
}
