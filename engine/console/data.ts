import { ORPCError } from '@orpc/server'
import { type SQL, sql } from 'drizzle-orm'

import type { Database } from '../db/database.ts'
import { searchPattern } from '../db/search.ts'
import type { Filter, Rows, Table } from './contract.ts'
import { isSecretName, withoutSecretFields } from './redaction.ts'

const PAGE = 50

/** Maximum length of a value, in characters. */
const MAX_VALUE = 500

/** Maximum length of a JSON value, in characters. A part of the value could not be parsed to remove its secrets. */
const MAX_JSON = 65_536

/** Length of the part of a value that a filter searches, in characters. */
const MAX_SEARCHED = 10_000

/** Tables of the engine with secrets: sign-in codes, state and keys of OAuth, and stored answers. */
const SECRET_TABLES = ['verifications', 'oauth_records', 'device_codes', 'idempotency']

interface Catalogue extends Omit<Table, 'isHidden'> {
  schema: string
  /** The columns of the primary key. */
  key: string[]
}

/**
 * Lists the tables of the schema. A name without a schema could mean a table of pg_catalog. Binary values are hidden, also in
 * lists and in other names of the type (domains). A statement can contain only names from this list.
 */
async function readCatalogue(tx: Database): Promise<Catalogue[]> {
  const [row] = await tx
    .select({ tables: sql`coalesce(json_agg(listed order by listed.name), '[]')::text`.mapWith(String) })
    .from(
      sql`(select relname as name, nspname as schema, nullif(greatest(reltuples, -1), -1)::float8 as "rowEstimate",
        (select coalesce(json_agg(json_build_object(
          'name', attname,
          'type', format_type(atttypid, atttypmod),
          'isHidden', exists (select from pg_type
            where pg_type.oid = atttypid and 'bytea'::regtype in (pg_type.oid, typbasetype, typelem)),
          'references', (select json_build_object('table', target.relname, 'column',
              (select attname from pg_attribute where attrelid = confrelid and attnum = confkey[1]))
            from pg_constraint join pg_class as target on target.oid = confrelid
            where conrelid = attrelid and contype = 'f' and conkey = array[attnum]
              and target.relnamespace = pg_class.relnamespace limit 1)
          ) order by attnum), '[]') from pg_attribute
          where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns,
        (select coalesce(json_agg(attname), '[]') from pg_constraint, pg_attribute
          where conrelid = pg_class.oid and contype = 'p' and attrelid = conrelid and attnum = any(conkey)) as key
        from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where relkind in ('r', 'p') and nspname = current_schema()) as listed`,
    )
  return JSON.parse(row?.tables ?? '[]') as Catalogue[]
}

const isSecretTable = ({ name }: Pick<Catalogue, 'name'>) => SECRET_TABLES.includes(name)

const visibleColumns = ({ columns }: Catalogue) =>
  columns.filter(({ name, isHidden }) => !isHidden && !isSecretName(name))

/**
 * Runs `work` in a transaction that can change nothing, with a time limit for each statement. The embedded database ignores
 * the limit.
 */
const reading = <Result>(db: Database, work: (tx: Database) => Promise<Result>) =>
  db.transaction(
    async (tx) => {
      await tx.execute(sql`set local statement_timeout = '5s'`)
      return work(tx)
    },
    { accessMode: 'read only' },
  )

export const listTables = (db: Database): Promise<Table[]> =>
  reading(db, async (tx) =>
    (await readCatalogue(tx)).map(({ key: _key, schema: _schema, columns, ...table }) => ({
      ...table,
      isHidden: isSecretTable(table),
      columns: columns.map((column) => ({
        ...column,
        isHidden: column.isHidden || isSecretTable(table) || isSecretName(column.name),
      })),
    })),
  )

interface Request {
  table: string
  filters: Filter[]
  page: number
}

/** Lists a page of rows, the highest primary keys first. Throws NOT_FOUND for a name that is not shown. */
export const listRows = (db: Database, request: Request): Promise<Rows> =>
  reading(db, async (tx) => {
    const table = (await readCatalogue(tx)).find(({ name }) => name === request.table)
    if (!table || isSecretTable(table)) throw notShown(request.table)
    const visible = visibleColumns(table)
    const columns = visible.map(({ name }) => name)
    const conditions = request.filters.map(({ column, operator, value }) => {
      if (!columns.includes(column)) throw notShown(`${table.name}.${column}`)
      return operator === 'is'
        ? sql`${asText(column)} = ${value}`
        : sql`left(${asText(column)}, ${sql.raw(String(MAX_SEARCHED))}) ilike ${searchPattern(value)}`
    })
    const values = visible.map(({ name, type }) => {
      const limit = sql.raw(String(isJson(type) ? MAX_JSON : MAX_VALUE))
      return sql`left(${asText(name)}, ${limit})`
    })
    const order =
      table.key.length > 0 ? table.key.map((column) => sql`${sql.identifier(column)} desc`) : [sql`ctid`]
    const inner = sql`(select json_build_array(${join(values)}) as "values" from ${sql.identifier(table.schema)}.${sql.identifier(table.name)}
      where ${sql.join([sql`true`, ...conditions], sql` and `)} order by ${join(order)}
      limit ${PAGE + 1} offset ${request.page * PAGE}) as listed`
    const [row] = await tx
      .select({ rows: sql`coalesce(json_agg(listed."values"), '[]')::text`.mapWith(String) })
      .from(inner)
    const rows = JSON.parse(row?.rows ?? '[]') as (string | null)[][]
    const shown = rows
      .slice(0, PAGE)
      .map((cells) => cells.map((cell, index) => (isJson(visible[index]?.type) ? showJson(cell) : cell)))
    return { columns, rows: shown, hasMore: rows.length > PAGE }
  })

const isJson = (type = '') => type === 'json' || type === 'jsonb'

function showJson(text: string | null) {
  if (text === null) return null
  return text.length < MAX_JSON
    ? (withoutSecretFields(text)?.slice(0, MAX_VALUE) ?? null)
    : '(too long to search for secrets)'
}

const asText = (column: string) => sql`${sql.identifier(column)}::text`

const join = (parts: SQL[]) => sql.join(parts, sql`, `)

const notShown = (name: string) =>
  new ORPCError('NOT_FOUND', { message: `${name} does not exist, or is not shown` })
