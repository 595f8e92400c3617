import {
  and,
  type AnyColumn,
  count,
  desc,
  eq,
  is,
  getTableName,
  isNull,
  type SQL,
  sql,
  Subquery,
} from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'
import { PgArray, type PgColumn, PgEnumColumn, type PgTable } from 'drizzle-orm/pg-core'

import type { Database } from '../database.ts'
import type { Keyset, SortValues } from '../keyset.ts'
import {
  isAfterPosition,
  limitBytes,
  listConnections,
  pageParameters,
  type PageRequest,
  type Position,
  type SizedRow,
} from '../pagination.ts'
import { dummyTable, prepared } from '../statements.ts'
import type { Person } from '../users.ts'
import { createVariants } from './variants.ts'
import { type Branch, viewerPlaceholders, type Visibility } from './visibility.ts'

export type Columns = Readonly<Record<string, PgColumn>>

/** The values that select the rows of a list: of filters, `q`, and the id of the parent. */
export type Given = Readonly<Record<string, unknown>>

/** The order of a list. Without a keyset, the order is newest first, by `createdAt` and `id`. */
export interface ListOrder {
  name: string | undefined
  keyset: Keyset | undefined
}

interface Options {
  table: PgTable & { id: PgColumn }
  columns: Columns
  /** The columns that a list selects. */
  listed: Columns
  visibility: Visibility
  filters: readonly string[]
  /** The fields that `q` searches. */
  search: readonly string[]
}

/** A row as a statement returns it, with the relation of the person. */
export type AnyRow = Record<string, unknown> & { relation?: string }

/** Whether the relation of a person is the same for all rows that the person sees. */
export const hasOneRelation = ({ relations }: Visibility) => relations.length === 1

/** Types with values of at most some bytes. */
const SMALL_TYPE =
  /^(bigint|integer|smallint|(big|small)?serial|boolean|uuid|date|time|interval|real|double|numeric)/

/** The fields with values of any size, such as texts and JSON, which limit the bytes of a page. */
export const largeFieldsOf = (columns: Columns) =>
  Object.entries(columns).flatMap(([field, column]) => {
    const isEnum =
      is(column, PgEnumColumn) || Boolean((column.enumValues as readonly string[] | undefined)?.length)
    const isLarge = is(column, PgArray) || !SMALL_TYPE.test(column.getSQLType())
    return isLarge && !isEnum ? [field] : []
  })

/** The statements that list and count rows. */
export function createLists({ table, columns, listed, visibility, filters, search }: Options) {
  const name = getTableName(table)
  const { parent } = visibility
  const texts = largeFieldsOf(listed).flatMap((field) => listed[field] ?? [])
  const searched = search.flatMap((field) => columns[field] ?? [])
  const withRelation = !hasOneRelation(visibility)
  const createdAt = columns.createdAt as PgColumn

  const isOfParent = (given: Given) => parent !== undefined && given[parent.key] !== undefined
  const usedFilters = (given: Given) =>
    filters.filter((field) => given[field] !== undefined && field !== parent?.key)

  /** Identifies the statement for the given values and relations. */
  const suffixOf = (given: Given, relations: readonly string[] = []) =>
    [
      isOfParent(given) ? '_in_parent' : '',
      ...relations.map((relation) => `_${relation}`),
      ...usedFilters(given).map(
        (field) => `_by_${toSnakeCase(field)}${given[field] === null ? '_null' : ''}`,
      ),
    ].join('')

  /** The parts of the list, and the condition of the filters. */
  function partsOf(given: Given, relations: readonly string[] | undefined) {
    const branches: readonly Branch[] =
      parent && isOfParent(given) && visibility.branchOf
        ? [visibility.branchOf(viewerPlaceholders, sql.placeholder(parent.key), relations)]
        : visibility.branches(viewerPlaceholders, relations)
    if (branches.length === 0) throw new Error(`A list of ${name} needs the id of a parent: ${parent?.key}`)
    const isSelected = and(
      ...usedFilters(given).map((field) => {
        const column = columns[field] as AnyColumn
        return given[field] === null ? isNull(column) : eq(column, sql.param(sql.placeholder(field), column))
      }),
    )
    return { branches, isSelected }
  }

  const selectPage = createVariants(name)
  const selectTotal = createVariants(name)

  /** Selects the rows of one part, in the order of the list. */
  function selectBranch(
    { from, condition, relation, parents }: Branch,
    isSelected: SQL | undefined,
    order: readonly SQL[],
    sortValues: SQL.Aliased | undefined,
  ) {
    const fields = [
      ...Object.values(listed).map((column) => sql`${column}`),
      ...(withRelation ? [sql`${parents ? sql`null::text` : relation} as relation`] : []),
      ...(sortValues ? [sql`${sortValues.sql} as sort_values`] : []),
    ]
    const end = sql`order by ${sql.join([...order], sql`, `)} limit ${sql.placeholder('limit')}`
    const ofPart = sql`select ${sql.join(fields, sql`, `)} from ${from} where ${and(condition, isSelected)} ${end}`
    if (!parents) return ofPart
    return sql`select ${sql.join(
      [
        ...Object.values(listed).map((column) => sql`${column}`),
        ...(withRelation ? [sql`${relation} as relation`] : []),
        ...(sortValues ? [sql`sort_values`] : []),
      ],
      sql`, `,
    )} from (${parents}) as _parents cross join lateral (${ofPart}) as ${table} ${end}`
  }

  function list(
    db: Database,
    { id: userId, email }: Person,
    { after, ...page }: PageRequest<Position | SortValues>,
    given: Given,
    { name: orderName, keyset }: ListOrder,
    relations?: readonly string[],
  ): Promise<SizedRow<AnyRow>[]> {
    if (!keyset && !columns.createdAt)
      throw new Error(`A list of ${name} needs the column createdAt, or \`orders\` of the rows`)
    const isSearch = page.q !== undefined
    const position = keyset && (after as SortValues | undefined)
    const shape = position ? `_after${position.map((value) => (value === null ? 0 : 1)).join('')}` : ''
    const variant = `_list${orderName === undefined ? '' : `_${toSnakeCase(orderName)}`}${suffixOf(given, relations)}${isSearch ? '_search' : ''}${shape}`
    const statement = selectPage(variant, (db) => {
      const { branches, isSelected } = partsOf(given, relations)
      const order = keyset?.order ?? [desc(createdAt), desc(table.id)]
      const isAfter = keyset
        ? keyset.isAfter(
            position?.map((value, index) => (value === null ? null : sql.placeholder(`sort${index}`))),
          )
        : isAfterPosition(createdAt, table.id)
      const parts = branches.map((branch) =>
        selectBranch(branch, and(isSelected, isAfter), order, keyset?.sortValues),
      )
      const [only] = parts
      const rows =
        parts.length === 1 && only
          ? only
          : sql`select * from (${sql.join(
              parts.map((part) => sql`(${part})`),
              sql` union all `,
            )}) as ${table} order by ${sql.join([...order], sql`, `)} limit ${sql.placeholder('limit')}`
      const fields = {
        ...listed,
        ...(withRelation && { relation: sql<string>`relation` }),
        ...(keyset && { sortValues: keyset.selectedSortValues }),
      }
      const options = { texts, searched, order, isSearch }
      return limitBytes(db, new Subquery(rows, fields, name), fields, options)
    })
    const parameters = keyset
      ? {
          limit: page.limit,
          q: page.q,
          maxMatches: page.maxMatches,
          ...Object.fromEntries((position ?? []).map((value, index) => [`sort${index}`, value])),
        }
      : pageParameters({ ...page, ...(after && { after: after as Position }) })
    return statement(listConnections(db)).execute({ ...given, userId, email, ...parameters })
  }

  async function total(
    db: Database,
    { id: userId, email }: Person,
    given: Given,
    relations?: readonly string[],
  ) {
    const statement = selectTotal(`_count${suffixOf(given, relations)}`, (db) => {
      const { branches, isSelected } = partsOf(given, relations)
      const counts = branches.map(({ from, condition, parents }) =>
        parents
          ? sql`(select ${count()} from (${parents}) as _parents join ${from} on ${condition} where ${isSelected ?? sql`true`})`
          : sql`(select ${count()} from ${from} where ${and(condition, isSelected)})`,
      )
      return db.select({ total: sql<number>`${sql.join(counts, sql` + `)}`.mapWith(Number) }).from(dummyTable)
    })
    const [row] = await statement(listConnections(db)).execute({ ...given, userId, email })
    return row?.total ?? 0
  }

  const selectSources = prepared((db) => {
    const [first, ...others] = visibility.branches(viewerPlaceholders)
    const selections = parent
      ? [first, ...others].flatMap((branch) => branch?.parents ?? [])
      : others.map(
          ({ from, condition, relation }) =>
            sql`select ${table.id}, ${relation} as relation from ${from} where ${condition}`,
        )
    if (selections.length === 0) return undefined
    const ids = { id: sql`id`.mapWith(table.id) as SQL<number | string> }
    const all = sql.join(selections, sql` union all `)
    return db
      .select(ids)
      .from(new Subquery(all, ids, 'sources'))
      .prepare(`${name}_sources`)
  })

  /** Lists the ids that a list of all rows depends on, in addition to the account: of the parents, or of rows of others. */
  async function listSources(db: Database, { id: userId, email }: Person) {
    const found = await selectSources(db)?.execute({ userId, email })
    return (found ?? []).map(({ id }) => id)
  }

  return { list, total, listSources }
}
