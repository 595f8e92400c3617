import { ORPCError } from '@orpc/server'

import * as catalogue from '../db/catalogue.ts'
import type { Database } from '../db/connection/database.ts'
import { MAX_TOTAL, PAGE_SIZE } from './bounds.ts'
import type { Rows, RowsRequest, Table } from './contract.ts'
import { isSecretName, withoutSecretFields } from './redaction.ts'

/** Maximum length of a value, in characters. */
const MAX_VALUE = 500

/** Maximum length of a JSON value, in characters. A part of the value could not be parsed to remove its secrets. */
const MAX_JSON = 65_536

/** Tables of the engine with secrets: sign-in codes, state and keys of OAuth, and stored answers. */
const SECRET_TABLES = ['verifications', 'oauth_records', 'device_codes', 'idempotency']

/** Adds to a table which parts the console never selects. */
function describe({ key: _key, schema: _schema, columns, ...table }: catalogue.CatalogueTable): Table {
  const isHidden = SECRET_TABLES.includes(table.name)
  return {
    ...table,
    isHidden,
    columns: columns.map(({ isBinary, ...column }) => ({
      ...column,
      isHidden: isHidden || isBinary || isSecretName(column.name),
    })),
  }
}

export const listTables = (db: Database): Promise<Table[]> =>
  catalogue.readOnly(db, async (tx) => (await catalogue.listTables(tx)).map(describe))

/** Lists a page of rows. Throws NOT_FOUND for a name that is not shown. */
export const listRows = (db: Database, { table: name, filters, page, sort }: RowsRequest): Promise<Rows> =>
  catalogue.readOnly(db, async (tx) => {
    const table = (await catalogue.listTables(tx)).find((each) => each.name === name)
    const visible = table ? describe(table).columns.filter(({ isHidden }) => !isHidden) : []
    // A filter on a hidden column, and its order, would tell the values of the column.
    const hidden = [...filters, ...(sort ? [sort] : [])].find(({ column }) =>
      visible.every(({ name }) => name !== column),
    )
    if (!table || visible.length === 0 || hidden)
      throw new ORPCError('NOT_FOUND', {
        message: `${[name, hidden?.column].filter(Boolean).join('.')} does not exist, or is not shown`,
      })
    const rows = await catalogue.listRows(tx, {
      table,
      columns: visible.map(({ name, type }) => ({ name, maxLength: isJson(type) ? MAX_JSON : MAX_VALUE })),
      conditions: filters,
      sort,
      // One row more than a page, for `hasMore`.
      limit: PAGE_SIZE + 1,
      offset: page * PAGE_SIZE,
    })
    const hasMore = rows.length > PAGE_SIZE
    // A count with filters could read the whole table.
    const count = () => (filters.length === 0 ? catalogue.countRows(tx, table, MAX_TOTAL) : null)
    return {
      columns: visible.map(({ name }) => name),
      rows: rows
        .slice(0, PAGE_SIZE)
        .map((row) => row.map((value, index) => (isJson(visible[index]?.type) ? showJson(value) : value))),
      hasMore,
      total: page === 0 && !hasMore ? rows.length : await count(),
    }
  })

const isJson = (type = '') => type === 'json' || type === 'jsonb'

function showJson(text: string | null) {
  if (text === null) return null
  return text.length < MAX_JSON
    ? (withoutSecretFields(text)?.slice(0, MAX_VALUE) ?? null)
    : '(too long to search for secrets)'
}
