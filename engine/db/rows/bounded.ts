import { type AnyColumn, is } from 'drizzle-orm'
import { getTableConfig, IndexedColumn, type PgTable } from 'drizzle-orm/pg-core'

type IndexColumn = Pick<IndexedColumn, 'name' | 'indexConfig'>

/**
 * Returns whether an index of the table has the rows with the same values in the columns `equal` together, in the order of the columns
 * `order`, all ascending or all descending. The limit of a list then bounds the number of rows that PostgreSQL reads.
 */
export function isIndexed(table: PgTable, equal: readonly AnyColumn[], order: readonly AnyColumn[]) {
  const names = new Set(equal.map(({ name }) => name))
  return getTableConfig(table).indexes.some(({ config: { columns, method = 'btree', where } }) => {
    if (method !== 'btree' || where) return false
    const indexed: readonly IndexColumn[] = columns.filter((column) => is(column, IndexedColumn))
    if (indexed.length < columns.length || indexed.some(({ indexConfig: { opClass } }) => opClass))
      return false
    const first = indexed.slice(0, names.size)
    const next = indexed.slice(names.size, names.size + order.length)
    return (
      first.every(({ name }) => name !== undefined && names.has(name)) &&
      next.length === order.length &&
      next.every(({ name }, index) => name === order[index]?.name) &&
      (next.every(isIn('asc', 'last')) || next.every(isIn('desc', 'first')))
    )
  })
}

/** PostgreSQL reads an index in both directions, with nulls at the other end. */
const isIn =
  (order: 'asc' | 'desc', nulls: 'first' | 'last') =>
  ({ indexConfig }: IndexColumn) =>
    indexConfig.order === order && indexConfig.nulls === nulls
