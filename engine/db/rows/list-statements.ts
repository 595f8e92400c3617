import { and, Column, count, is, isNull, type SQL, sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import { createKeyset, type Keyset, type SortKey } from '../keyset.ts'
import { connectionForLists } from '../pagination.ts'
import { createVariants, dummyTable, prepared } from '../statements.ts'
import type { Person } from '../accounts/users.ts'
import {
  type AnyRow,
  createPages,
  type Criteria,
  criterionPlaceholder,
  parametersOf,
  suffixOf,
  usedFilters,
} from './pages.ts'
import type { ListSelection, RowsRequest } from './queries.ts'
import { type Field, largeFieldsOf, PAGE, type SelectedRows } from './selects.ts'
import { type Viewer, viewerPlaceholders, type Visibility } from './visibility.ts'

/** Which rows a list can have, and in which order. */
export interface ListFields<Name extends string> {
  /** The fields by whose values the list can be filtered. */
  filter?: readonly Name[]
  /** The fields that `q` searches. */
  search?: readonly Name[]
  /**
   * The orders by name: `{ due: [{ column: 'dueAt' }] }`. The first is the default. The id is always the last column. By default,
   * the newest row is first.
   */
  orders?: Readonly<Record<string, readonly (Omit<SortKey, 'column' | 'type'> & { column: Name })[]>>
}

/** Which part of the rows a statement selects. Without `criteria`, all rows that the viewer sees, with one of the relations. */
export interface Part {
  viewer: Viewer
  criteria?: Criteria
  relations?: readonly string[] | undefined
}

interface Options extends ListFields<string> {
  name: string
  visibility: Visibility | undefined
  /** The columns of the visible rows, with the id of a parent. */
  columns: Readonly<Record<string, unknown>>
  selectRows: (part: Part) => SelectedRows
}

const NEWEST = [{ column: 'createdAt', direction: 'desc' }] as const

/** The statements of a list from a select. Throws if the list names a field that the select does not have. */
export function createListStatements({ name, visibility, columns, selectRows, ...options }: Options) {
  const { filter = [], search = [], orders = {} } = options
  const unfiltered = selectRows({ viewer: viewerPlaceholders })
  const criteriaFields = { ...columns, ...unfiltered.fields }
  const fieldOf = (field: string): Field => {
    const found = unfiltered.fields[field]
    if (!found) throw new Error(`The list ${name} needs the field ${field} in its select`)
    return found
  }
  const searched = search.map(fieldOf)
  filter.forEach(fieldOf)
  const [defaultOrder] = Object.keys(orders)

  /** The fields of an order. The last is the id. */
  function keysOf(order = defaultOrder): readonly (SortKey & { field: string })[] {
    const declared = order === undefined ? NEWEST : orders[order]
    if (!declared) throw new Error(`The list ${name} has no order ${order}`)
    const direction = declared.at(-1)?.direction
    return [...declared, { column: 'id', ...(direction && { direction }) }].map(({ column, ...key }) => ({
      ...key,
      field: column,
      column: fieldOf(column),
    }))
  }
  for (const order of Object.keys(orders)) keysOf(order)
  const { order: defaultOrderBy } = createKeyset(...keysOf())

  /**
   * Selects the type of each field, because only the database knows the types of expressions. The join with no row returns one row of
   * nulls, and `pg_typeof` of a null is the type of its field.
   */
  const selectTypes = prepared((db) => {
    const types = Object.entries(unfiltered.fields).map(([field, value]) => [
      field,
      sql<string>`pg_typeof(${value})::text`,
    ])
    return db
      .select(Object.fromEntries(types) as Record<string, SQL<string>>)
      .from(sql`${dummyTable} left join ${unfiltered.from} on false`)
      .prepare(`${name}_types`)
  })

  const keysets = new Map<string | undefined, Keyset>()

  async function keysetOf(order: string | undefined, db: Database) {
    const cached = keysets.get(order)
    if (cached) return cached
    const keys = keysOf(order)
    const isTyped = keys.every(({ column }) => is(column, Column))
    const [types = {}] = isTyped ? [] : await selectTypes(db).execute(parametersOf({}, undefined))
    const keyset = createKeyset(...keys.map((key) => ({ ...key, ...typeIn(types, key) })))
    keysets.set(order, keyset)
    return keyset
  }

  const isSelectedBy = (criteria: Criteria) =>
    and(
      ...usedFilters(filter, visibility ?? {}, criteria).map((field) => {
        const value = fieldOf(field)
        return criteria[field] === null ? isNull(value) : equals(value, field)
      }),
    )

  const suffix = (criteria: Criteria, relations: readonly string[] | undefined) =>
    suffixOf(filter, visibility, criteria, relations)

  const largeFields = largeFieldsOf(unfiltered.fields)
  const listPage = createPages({
    name,
    alias: PAGE,
    fields: unfiltered.fields,
    texts: largeFields.map(fieldOf),
    searched,
    suffixOf: suffix,
    criteriaFields,
    selectRows(criteria, relations, { order, isAfter, sortValues }) {
      const { from } = selectRows({ viewer: viewerPlaceholders, criteria, relations })
      const fields = sortValues ? sql`*, ${sortValues.sql} as sort_values` : sql`*`
      const isSelected = and(isSelectedBy(criteria), isAfter) ?? sql`true`
      return sql`select ${fields} from ${from} where ${isSelected} order by ${sql.join([...order], sql`, `)} limit ${sql.placeholder('limit')}`
    },
  })

  const selectTotal = createVariants(name)

  const selectOne = prepared((db) =>
    db
      .select(unfiltered.fields)
      .from(unfiltered.rows)
      .where(equals(fieldOf('id'), 'id'))
      .prepare(`${name}_find`),
  )

  return {
    fields: unfiltered.fields,
    keysetOf,
    textsOf: (row: object) => largeFields.map((field): unknown => Reflect.get(row, field) ?? null),

    /** Lists a page. */
    async list(
      db: Database,
      person: Person | undefined,
      page: RowsRequest,
      { order = defaultOrder, ...criteria }: ListSelection = {},
      relations?: readonly string[],
    ) {
      const keyset = await keysetOf(order, db)
      return listPage(db, person, page, criteria, { name: order, keyset }, relations)
    },

    /** Counts the rows of the list. */
    async total(
      db: Database,
      person: Person | undefined,
      { order: _, ...criteria }: ListSelection = {},
      relations?: readonly string[],
    ) {
      const statement = selectTotal(`_count${suffix(criteria, relations)}`, (connection) => {
        const { rows } = selectRows({ viewer: viewerPlaceholders, criteria, relations })
        return connection.select({ total: count() }).from(rows).where(isSelectedBy(criteria))
      })
      const [row] = await statement(connectionForLists(db)).execute(
        parametersOf(criteriaFields, person, criteria),
      )
      return row?.total ?? 0
    },

    /** Finds the row with an id. */
    async find(db: Database, person: Person | undefined, id: unknown): Promise<AnyRow | undefined> {
      const [row] = await selectOne(db).execute(parametersOf(criteriaFields, person, { id }))
      return row
    },

    /** The query of all rows to which the person has one of the relations, in the default order. */
    all(db: Database, viewer: Viewer, relations: readonly string[]) {
      const { fields, rows } = selectRows({ viewer, relations })
      return db
        .select(fields)
        .from(rows)
        .orderBy(...defaultOrderBy)
    },
  }
}

/** Condition: the field has the value of the input. */
const equals = (field: Field, name: string) => {
  const placeholder = criterionPlaceholder(name)
  return sql`${field} = ${is(field, Column) ? sql.param(placeholder, field) : placeholder}`
}

const typeIn = (
  types: Readonly<Record<string, string>>,
  { field, column }: { field: string; column: unknown },
) => {
  const type = types[field]
  return type !== undefined && !is(column, Column) && { type: sql.raw(type) }
}
