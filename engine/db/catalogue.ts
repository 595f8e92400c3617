import { type SQL, sql } from 'drizzle-orm'

import type { Database } from './connection/database.ts'
import { searchPattern } from './search.ts'

// Reads tables that are known only at run time, for the console for developers (engine/console/). All names of statements
// come from the catalogue of the database.

/** Length of the part of a value that a condition searches, in characters. */
const MAX_SEARCHED = 10_000

/** A table of the current schema, as the catalogue of PostgreSQL describes the table. */
export interface CatalogueTable {
  schema: string
  name: string
  /** Null without statistics. */
  rowEstimate: number | null
  columns: {
    name: string
    type: string
    isBinary: boolean
    isJson: boolean
    /** Whether a value has fields, whose names can be those of secrets. */
    isComposite: boolean
    /** `isKey`: the column is the primary key of the table. */
    references: { table: string; column: string; isKey: boolean } | null
  }[]
  /** The columns of the primary key. */
  key: string[]
}

/**
 * Lists the tables of the current schema. Binary values and JSON can also be in lists, and in types with other names (domains). The
 * statement of `listRows` has the schema, because a name without a schema could mean a table of pg_catalog.
 */
export async function listTables(db: Database): Promise<CatalogueTable[]> {
  const [row] = await db
    .select({ tables: sql`coalesce(json_agg(listed order by listed.name), '[]')::text`.mapWith(String) })
    .from(
      sql`(select relname as name, nspname as schema, nullif(greatest(reltuples, -1), -1)::float8 as "rowEstimate",
        (select coalesce(json_agg(json_build_object(
          'name', attname,
          'type', format_type(atttypid, atttypmod),
          'isBinary', exists (select from pg_type
            where pg_type.oid = atttypid and 'bytea'::regtype in (pg_type.oid, typbasetype, typelem)),
          'isJson', exists (select from pg_type
            where pg_type.oid = atttypid and array[pg_type.oid, typbasetype, typelem] && array['json'::regtype, 'jsonb'::regtype]::oid[]),
          'isComposite', exists (select from pg_type join pg_type as part
            on part.oid in (pg_type.oid, pg_type.typbasetype, pg_type.typelem)
            where pg_type.oid = atttypid and part.typtype = 'c'),
          'references', (select json_build_object('table', target.relname, 'column',
              (select attname from pg_attribute where attrelid = confrelid and attnum = confkey[1]),
              'isKey', exists (select from pg_constraint as keys
                where keys.conrelid = pg_constraint.confrelid and keys.contype = 'p' and keys.conkey = pg_constraint.confkey))
            from pg_constraint join pg_class as target on target.oid = confrelid
            where conrelid = attrelid and contype = 'f' and conkey = array[attnum]
              and target.relnamespace = pg_class.relnamespace limit 1)
          ) order by attnum), '[]') from pg_attribute
          where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns,
        (select coalesce(json_agg(attname order by attnum), '[]') from pg_constraint, pg_attribute
          where conrelid = pg_class.oid and contype = 'p' and attrelid = conrelid and attnum = any(conkey)) as key
        from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where relkind in ('r', 'p') and nspname = current_schema()) as listed`,
    )
  return JSON.parse(row?.tables ?? '[]') as CatalogueTable[]
}

/**
 * Runs `work` in a transaction that can change nothing, and that sees one state of the database, with a time limit for each statement.
 * The embedded database ignores the limit.
 */
export const readOnly = <Result>(
  db: Database,
  work: (tx: Database) => Promise<Result>,
  timeout: '1s' | '5s' = '5s',
) =>
  db.transaction(
    async (tx) => {
      await tx.execute(sql`set local statement_timeout = ${sql.raw(`'${timeout}'`)}`)
      return work(tx)
    },
    { accessMode: 'read only', isolationLevel: 'repeatable read' },
  )

/**
 * A condition of a row. `greater than` and `less than` compare values of the column's type, or texts if the type has no order. `equals`
 * uses an index. All three fail for a text that is no value of the type.
 */
export interface Condition {
  column: string
  operator: 'is' | 'is not' | 'contains' | 'greater than' | 'less than' | 'is empty' | 'equals'
  value: string
}

interface RowsQuery {
  table: CatalogueTable
  /** The selected columns. Each value is a text of at most `maxLength` characters. */
  columns: readonly { name: string; maxLength: number }[]
  conditions: readonly Condition[]
  /** Before the primary key, which orders equal values. */
  sort?: { column: string; isDescending: boolean } | undefined
  limit: number
  offset: number
}

/** Lists rows, by default the highest primary keys first. */
export async function listRows(db: Database, { table, columns, conditions, sort, limit, offset }: RowsQuery) {
  const values = columns.map(({ name, maxLength }) => sql`left(${asText(name)}, ${maxLength}::int)`)
  const key =
    table.key.length > 0 ? table.key.map((column) => sql`${sql.identifier(column)} desc`) : [sql`ctid`]
  const order = sort
    ? [
        sql`${sortable(table, sort.column)} ${sort.isDescending ? sql`desc nulls last` : sql`asc nulls last`}`,
        ...key,
      ]
    : key
  const [row] = await db
    .select({ rows: sql`coalesce(json_agg(listed."values"), '[]')::text`.mapWith(String) })
    .from(
      sql`(select json_build_array(${join(values)}) as "values"
        from ${nameOf(table)} where ${matching(table, conditions)} order by ${join(order)}
        limit ${limit} offset ${offset}) as listed`,
    )
  return JSON.parse(row?.rows ?? '[]') as (string | null)[][]
}

/** Counts the rows of a table up to a limit, which bounds the time of a count without conditions. */
export async function countRows(
  db: Database,
  table: CatalogueTable,
  limit: number,
  conditions: readonly Condition[] = [],
) {
  const [row] = await db
    .select({ count: sql`count(*)`.mapWith(Number) })
    .from(sql`(select from ${nameOf(table)} where ${matching(table, conditions)} limit ${limit}) as counted`)
  return row?.count ?? 0
}

const nameOf = ({ schema, name }: CatalogueTable) => sql`${sql.identifier(schema)}.${sql.identifier(name)}`

const matching = (table: CatalogueTable, conditions: readonly Condition[]) =>
  sql.join(
    [sql`true`, ...conditions.map((condition) => toSql[condition.operator](condition, table))],
    sql` and `,
  )

const toSql: Record<Condition['operator'], (condition: Condition, table: CatalogueTable) => SQL> = {
  is: ({ column, value }) => sql`${asText(column)} = ${value}`,
  'is not': ({ column, value }) => sql`${asText(column)} is distinct from ${value}`,
  'is empty': ({ column }) => sql`${sql.identifier(column)} is null`,
  contains: ({ column, value }) =>
    sql`left(${asText(column)}, ${MAX_SEARCHED}::int) ilike ${searchPattern(value)}`,
  'greater than': ({ column, value }, table) =>
    sql`${sortable(table, column)} > ${valueOf(table, column, value)}`,
  'less than': ({ column, value }, table) =>
    sql`${sortable(table, column)} < ${valueOf(table, column, value)}`,
  equals: ({ column, value }, table) =>
    sql`${sql.identifier(column)} = ${cast(value, typeOf(table, column))}`,
}

/** The catalogue quotes the name of the type. An explicit cast would cut a text to the length of the type. */
const cast = (value: string, type: string) => sql`${value}::text::${sql.raw(withoutLength(type))}`

/** Returns a value to compare with `sortable`. */
const valueOf = (table: CatalogueTable, column: string, value: string) =>
  hasOrder(table, column) ? cast(value, typeOf(table, column)) : sql`${value}::text`

/** Returns the name of a type without a length. `character` and `bit` alone would have the length 1. */
function withoutLength(type: string) {
  const name = type.replace(/\([\d,]+\)/, '')
  return { character: 'bpchar', bit: '"bit"' }[name] ?? name
}

const typeOf = ({ columns }: CatalogueTable, column: string) =>
  columns.find(({ name }) => name === column)?.type ?? 'text'

/** Types whose values have an order. Columns of other types are sorted as texts. */
const SORTED =
  /^(smallint|integer|bigint|numeric|real|double precision|boolean|text|character|name|uuid|date|time|timestamp|interval|inet|oid)\b/

const hasOrder = (table: CatalogueTable, column: string) => SORTED.test(typeOf(table, column))

const sortable = (table: CatalogueTable, column: string) =>
  hasOrder(table, column) ? sql`${nameOf(table)}.${sql.identifier(column)}` : asText(column)

const asText = (column: string) => sql`${sql.identifier(column)}::text`

const join = (parts: SQL[]) => sql.join(parts, sql`, `)
