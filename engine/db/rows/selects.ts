import {
  aliasedTable,
  aliasedTableColumn,
  Column,
  getTableColumns,
  getTableName,
  is,
  SQL,
  sql,
  Subquery,
} from 'drizzle-orm'
import { PgColumn, type PgTable, type SubqueryWithSelection } from 'drizzle-orm/pg-core'
import type { PgSelectConfig } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/pg-proxy'

import { isLarge } from '../column-types.ts'
import { casing, type Database } from '../connection/database.ts'
import { decoderOf } from '../connection/row-reader.ts'
import type { Branch } from './visibility.ts'

/** The name of the visible rows in a select. The compiler compares the name, too. */
const VISIBLE = 'visible'

/** The rows of a table that a person may see. A select uses them like the table. */
export type VisibleRows<Table extends PgTable> = SubqueryWithSelection<
  Table['_']['columns'] & { relation: SQL.Aliased<string> },
  typeof VISIBLE
>

/** A select of Drizzle: `db.select({ … }).from(…)`, with joins, conditions and groups. */
export interface AnySelect {
  _: { result: { id: string | number }[]; config: PgSelectConfig }
  getSQL: () => SQL
}

/** A select whose rows are those of the visible rows: a left or an inner join keeps this, a right or a full join does not. */
export interface SelectOfVisible extends AnySelect {
  _: AnySelect['_'] & { tableName: typeof VISIBLE; nullabilityMap: Record<typeof VISIBLE, 'not-null'> }
}

/** A database without a connection, which only builds statements. */
export const offline: Database = drizzle(() => Promise.reject(new Error('Nothing runs here')), { casing })

/** Separates fields by commas. */
const joined = (fields: readonly SQL[]) => sql.join([...fields], sql`, `)

const columnsOf = (table: PgTable): Record<string, PgColumn> => getTableColumns(table)

/** Returns the visible rows as a table of a select. */
export function createVisibleRows<Table extends PgTable>(table: Table, rows: SQL): VisibleRows<Table> {
  const fields = {
    ...Object.fromEntries(
      Object.entries(columnsOf(table)).map(([field, column]) => [field, aliasedTableColumn(column, VISIBLE)]),
    ),
    relation: sql<string>`${sql.identifier(VISIBLE)}.relation`,
  }
  // Drizzle knows the types of these fields only if Drizzle builds the subquery.
  return Object.assign(new Subquery(rows, fields, VISIBLE), fields) as unknown as VisibleRows<Table>
}

/** Selects the rows of the branches of a list, each with the relation of the person. */
export const selectBranches = (table: PgTable, branches: readonly Branch[]) =>
  sql.join(
    branches.map(({ from, condition, relation, parents }) => {
      const fields = joined([
        ...Object.values(columnsOf(table)).map((column) => sql`${column}`),
        sql`${relation} as relation`,
      ])
      return parents
        ? sql`select ${fields} from (${parents}) as _parents join ${from} on ${condition}`
        : sql`select ${fields} from ${from} where ${condition}`
    }),
    sql` union all `,
  )

/** The name of the rows of a select in the statements of a list. */
export const PAGE = 'page'

/** A field of the rows of a list: a column of the select, or an expression. */
export type Field = PgColumn | SQL

/** The rows of a select, as a table whose columns have the names of the fields: for statements in SQL, and for Drizzle. */
export interface SelectedRows {
  fields: Readonly<Record<string, Field>>
  from: SQL
  rows: Subquery
}

/** What the list adds to a select, and the option that declares it. */
const ADDED_BY_LIST = { orderBy: '`orders`', limit: '`limit` in the input', offset: '`cursor` in the input' }

/** Returns the rows of a select as a table. Throws if a field has no name, or if the select contains a part of the list. */
export function createSelectedRows(name: string, select: AnySelect): SelectedRows {
  const { config } = select._
  for (const [part, option] of Object.entries(ADDED_BY_LIST))
    if (Reflect.get(config, part) !== undefined)
      throw new Error(`The list ${name}: remove ${part} from the select. The list adds it: use ${option}`)
  if (config.setOperators.length > 0)
    throw new Error(
      `The list ${name}: a union would hide who may see a row. Use it in a subquery that the select joins`,
    )
  const isNullable = createNullability(config)
  const fields = Object.fromEntries(
    Object.entries(config.fields).map(([field, value]): [string, Field] => {
      if (is(value, PgColumn)) return [field, columnOfPage(value, field, isNullable(value))]
      if (is(value, SQL) || is(value, SQL.Aliased)) return [field, expressionOfPage(value, field)]
      throw new Error(
        `The list ${name}: the field ${field} must be a column or an expression, not an object of them`,
      )
    }),
  )
  const names = joined(Object.keys(fields).map((field) => sql`${sql.identifier(field)}`))
  const from = sql`(${select.getSQL()}) as ${sql.identifier(PAGE)} (${names})`
  return { fields, from, rows: new Subquery(sql`select * from ${from}`, fields, PAGE) }
}

/** Returns whether an outer join can make the columns of a table null. */
function createNullability({ joins = [] }: PgSelectConfig) {
  const isBaseNullable = joins.some(({ joinType }) => joinType === 'right' || joinType === 'full')
  const nullable = new Set(
    joins.flatMap(({ joinType, alias }) => (joinType === 'left' && alias ? [alias] : [])),
  )
  return ({ table }: Column) => isBaseNullable || nullable.has(getTableName(table))
}

/** The column of a select under the name of its field. */
const columnOfPage = (column: PgColumn, name: string, isNullable: boolean): PgColumn =>
  // The prototype keeps the type and the conversions of the column.
  Object.create(column, {
    name: { value: name },
    keyAsName: { value: false },
    table: { value: aliasedTable(column.table, PAGE) },
    notNull: { value: column.notNull && !isNullable },
  }) as PgColumn

const expressionOfPage = (expression: SQL | SQL.Aliased, name: string): SQL =>
  sql`${sql.identifier(PAGE)}.${sql.identifier(name)}`.mapWith(
    decoderOf(expression) ?? ((value: unknown) => value),
  )

/** The fields that limit the bytes of a page: texts and the like, and expressions, whose size is unknown. */
export const largeFieldsOf = (fields: SelectedRows['fields']) =>
  Object.entries(fields).flatMap(([name, field]) => (is(field, Column) && !isLarge(field) ? [] : [name]))
