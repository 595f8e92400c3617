import { type AnyColumn, Column, is, type SQL, sql } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'
import { PgArray, PgEnumColumn, PgEnumObjectColumn, PgUUID } from 'drizzle-orm/pg-core'

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

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The largest absolute values of the types of integers. */
const LARGEST: Readonly<Record<string, number>> = { smallint: 2 ** 15 - 1, integer: 2 ** 31 - 1 }

/**
 * Returns a value to compare with a column: null, which equals no value, for a text that is no UUID, and for a number that is too
 * large. PostgreSQL would refuse the statement.
 */
export function comparable(column: AnyColumn, value: unknown) {
  if (is(column, PgUUID)) return typeof value === 'string' && UUID.test(value) ? value : null
  return typeof value === 'number' && Math.abs(value) > (LARGEST[column.getSQLType()] ?? Infinity)
    ? null
    : value
}

/** The name of a column in the database. */
export const columnName = ({ keyAsName, name }: AnyColumn) => (keyAsName ? toSnakeCase(name) : name)

/** Returns the value of a column or of an expression as a text, for functions of texts. */
export const asText = (column: AnyColumn | SQL): SQL =>
  is(column, Column) && TEXT.test(column.getSQLType()) ? sql`${column}` : sql`${column}::text`

/** Types with values of at most some bytes. */
const SMALL_TYPE =
  /^(bigint|integer|smallint|(big|small)?serial|boolean|uuid|date|time|interval|real|double|numeric)/

/** Returns whether the values of a column can have any size, for example texts and JSON. */
export function isLarge(column: AnyColumn) {
  const isEnum =
    is(column, PgEnumColumn) || Boolean((column.enumValues as readonly string[] | undefined)?.length)
  return !isEnum && (is(column, PgArray) || !SMALL_TYPE.test(column.getSQLType()))
}
