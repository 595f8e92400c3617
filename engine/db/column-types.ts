import { type AnyColumn, is, type SQL, sql } from 'drizzle-orm'
import { PgArray, PgEnumColumn, PgEnumObjectColumn } from 'drizzle-orm/pg-core'

/** Pseudo-types of `create table`. Other statements need the type of the values. */
const SERIAL_TYPES: Readonly<Record<string, string>> = {
  smallserial: 'smallint',
  serial: 'integer',
  bigserial: 'bigint',
}

/** Returns the type of a column for a cast, for example `numeric(10, 2)` or `"mood"[]`. */
export function typeOf(column: AnyColumn): SQL {
  if (is(column, PgArray)) return sql`${typeOf(column.baseColumn)}[]`
  if (is(column, PgEnumColumn) || is(column, PgEnumObjectColumn)) {
    const { enumName, schema } = column.enum
    return schema === undefined
      ? sql`${sql.identifier(enumName)}`
      : sql`${sql.identifier(schema)}.${sql.identifier(enumName)}`
  }
  const type = column.getSQLType()
  return sql.raw(SERIAL_TYPES[type] ?? type)
}

const TEXT = /^(text|(var)?char(\(\d+\))?)$/

/** Returns the value of a column as a text, for functions of texts. */
export const asText = (column: AnyColumn): SQL =>
  TEXT.test(column.getSQLType()) ? sql`${column}` : sql`${column}::text`
