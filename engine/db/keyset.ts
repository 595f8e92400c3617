import { and, type AnyColumn, Column, is, or, type Placeholder, type SQL, sql } from 'drizzle-orm'

import { typeOf } from './column-types.ts'
import type { Database } from './connection/database.ts'
import { dummyTable } from './statements.ts'

/** A column by which a list is sorted. */
export interface SortKey {
  column: AnyColumn | SQL
  /** The type of an expression, for example `bigint`. */
  type?: SQL
  /** `asc` by default. */
  direction?: 'asc' | 'desc'
  /** `last` by default. A column that is never null needs no value. A column of an outer join needs one. */
  nulls?: 'first' | 'last'
}

/**
 * The position of a row: the database's own text of each sort value, so that microseconds and the digits of numeric remain exact.
 */
export type SortValues = readonly (string | null)[]

/** The values of a position, or placeholders of a prepared statement. */
type Bounds = readonly (string | null | Placeholder)[]

type Key = Required<Pick<SortKey, 'column' | 'direction'>> & Pick<SortKey, 'nulls' | 'type'>

const withDefaults = ({ column, type, direction = 'asc', nulls }: SortKey): Key => {
  const order = nulls ?? (is(column, Column) && column.notNull ? undefined : 'last')
  return { column, direction, ...(type && { type }), ...(order && { nulls: order }) }
}

/**
 * The order of a list, for keyset pagination. The last key is unique, so that no two rows have the same position. Each row
 * of the list has the field `sortValues`.
 */
export function createKeyset(...sortKeys: readonly SortKey[]) {
  const keys = sortKeys.map(withDefaults)
  const texts = keys.map(({ column }) => sql`${column}::text`)
  const boundsOf = (position: Bounds) =>
    keys.map((key, index): Bound => ({ ...key, value: position[index] ?? null }))
  const parse = (json: string) => JSON.parse(json) as SortValues
  return {
    /** The columns, if an index on them returns exactly the rows after a position: all in one direction, and never null. */
    columns: keys.every(({ direction, nulls }) => direction === keys[0]?.direction && nulls === undefined)
      ? keys.flatMap(({ column }) => (is(column, Column) ? [column] : []))
      : undefined,
    order: keys.map(({ column, direction, nulls }) =>
      sql.join([sql`${column}`, sql.raw(direction), ...(nulls ? [sql.raw(`nulls ${nulls}`)] : [])], sql` `),
    ),
    sortValues: sql`json_build_array(${sql.join(texts, sql`, `)})::text`.mapWith(parse).as('sort_values'),
    /** The field `sortValues` of a subquery that selects it. */
    selectedSortValues: sql`sort_values`.mapWith(parse),
    /** Condition: in this order, the row comes after the position. No condition without a position. */
    isAfter: (position: Bounds | undefined) => position && isAfter(boundsOf(position)),
    /** Returns whether the values can be a position. `requireTypes` checks their texts. */
    isPosition: (values: unknown): values is SortValues =>
      Array.isArray(values) &&
      values.length === keys.length &&
      keys.every(({ nulls }, index) => {
        const value: unknown = values[index]
        return typeof value === 'string' || (nulls !== undefined && value === null)
      }),
    /**
     * Throws unless each text is a value of the type of its column, which only the database knows. A list does not check this,
     * because without rows, PostgreSQL does not compute the condition.
     */
    requireTypes: async (db: Database, position: SortValues) => {
      const values = sql.join(boundsOf(position).map(valueOf), sql`, `)
      await db.select({ nulls: sql`num_nulls(${values})` }).from(dummyTable)
    },
  }
}

export type Keyset = ReturnType<typeof createKeyset>

type Bound = Key & { value: Bounds[number] }

/**
 * Modes, from the fastest:
 *
 * - Row comparison, if all keys have the same direction and nulls cannot follow the position: an index on the keys returns
 *   exactly the rows.
 * - Expanded condition, with a bound on the first key where possible, for the index.
 */
function isAfter(bounds: readonly Bound[]): SQL | undefined {
  const [first] = bounds
  if (!first) return sql`false`
  const isUniform = bounds.every(
    ({ direction, nulls, value }) => direction === first.direction && nulls !== 'last' && value !== null,
  )
  if (!isUniform) return and(boundOf(first), expanded(bounds))
  const columns = bounds.map(({ column }) => sql`${column}`)
  return sql`(${sql.join(columns, sql`, `)}) ${beyond(first)} (${sql.join(bounds.map(valueOf), sql`, `)})`
}

const beyond = ({ direction }: Key) => sql.raw(direction === 'asc' ? '>' : '<')

/** The text becomes a value in the database, because the drivers would encode a text for the type of the column. */
function valueOf({ column, type = is(column, Column) ? typeOf(column) : undefined, value }: Bound) {
  if (!type) throw new Error('An expression in an order needs a type')
  return sql`${value}::text::${type}`
}

/** Condition that all rows after the position fulfill, on the first key alone. */
function boundOf(bound: Bound): SQL | undefined {
  const { column, nulls, value } = bound
  if (value === null) return nulls === 'last' ? sql`${column} is null` : undefined
  return nulls === 'last' ? undefined : sql`${column} ${beyond(bound)}= ${valueOf(bound)}`
}

/** Condition: the first key is beyond the position, or it is equal and the other keys are beyond. */
function expanded([bound, ...others]: readonly Bound[]): SQL | undefined {
  if (!bound) return sql`false`
  const { column, nulls, value } = bound
  if (value === null) {
    const isNull = and(sql`${column} is null`, expanded(others))
    return nulls === 'first' ? or(sql`${column} is not null`, isNull) : isNull
  }
  return or(
    sql`${column} ${beyond(bound)} ${valueOf(bound)}`,
    nulls === 'last' ? sql`${column} is null` : undefined,
    and(sql`${column} = ${valueOf(bound)}`, expanded(others)),
  )
}
