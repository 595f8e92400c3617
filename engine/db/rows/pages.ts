import { type AnyColumn, Column, is, type SQL, sql, Subquery } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'
import type { SelectedFields } from 'drizzle-orm/pg-core'
import { LRUCache } from 'lru-cache'

import { comparable } from '../column-types.ts'
import type { Database } from '../connection/database.ts'
import type { Keyset, SortValues } from '../keyset.ts'
import {
  limitBytes,
  connectionForBoundedLists,
  connectionForLists,
  pageParameters,
  type PageRequest,
  type Position,
  type SizedRow,
} from '../pagination.ts'
import type { Person } from '../accounts/users.ts'
import { createVariants } from '../statements.ts'
import { createShortPages, MAX_SHORT_ROWS } from './short-pages.ts'
import { type Branch, viewerPlaceholders, type Visibility } from './visibility.ts'

/** A row as a statement returns it, with the relation of the person. */
export type AnyRow = Record<string, unknown> & { relation?: string }

/** The values of the input that select the rows of a list, by field: of filters, `q`, and the id of the parent. */
export type Criteria = Readonly<Record<string, unknown>>

/** The order of a list. Without a keyset, the order is newest first, by `createdAt` and `id`. */
export interface ListOrder {
  name: string | undefined
  keyset: Keyset | undefined
}

/** Whether the relation of a person is the same for all rows that the person sees. */
export const hasOneRelation = ({ relations }: Visibility) => relations.length === 1

const isOfParent = ({ parent }: Visibility, criteria: Criteria) =>
  parent !== undefined && criteria[parent.key] !== undefined

/**
 * Returns the branches of a list: selects that the list combines, for example the rows that a person owns, and those that others
 * share with the person. With a parent in the input, the rows of this parent. Rows that a person sees only through a parent have no
 * branch without the parent.
 */
export function branchesOf(
  name: string,
  visibility: Visibility,
  criteria: Criteria,
  relations: readonly string[] | undefined,
): readonly Branch[] {
  const { parent, branchOf } = visibility
  const branches =
    parent && branchOf && isOfParent(visibility, criteria)
      ? [branchOf(viewerPlaceholders, criterionPlaceholder(parent.key), relations)]
      : visibility.branches(viewerPlaceholders, relations)
  if (branches.length === 0) throw new Error(`A list of ${name} needs the id of a parent: ${parent?.key}`)
  return branches
}

/** Returns the filters with a value. The id of the parent selects a branch instead. */
export const usedFilters = (
  filters: readonly string[],
  { parent }: Partial<Pick<Visibility, 'parent'>>,
  criteria: Criteria,
) => filters.filter((field) => criteria[field] !== undefined && field !== parent?.key)

/** Without `relations`, the statement selects the rows of every relation. Names of relations have no comma. */
export const suffixOfRelations = (relations: readonly string[] | undefined) =>
  relations ? `_as_${relations.join(',')}` : ''

/** Identifies the statement for the criteria that have a value, and for the relations. */
export const suffixOf = (
  filters: readonly string[],
  visibility: Visibility | undefined,
  criteria: Criteria,
  relations: readonly string[] | undefined,
) =>
  [
    visibility && isOfParent(visibility, criteria) ? '_in_parent' : '',
    suffixOfRelations(relations),
    ...usedFilters(filters, visibility ?? {}, criteria).map(
      (field) => `_by_${toSnakeCase(field)}${criteria[field] === null ? '_null' : ''}`,
    ),
  ].join('')

/** The placeholder of a criterion has a name that no placeholder of the engine has. */
const nameOfCriterion = (field: string) => `criterion.${field}`
export const criterionPlaceholder = (field: string) => sql.placeholder(nameOfCriterion(field))

/** Returns the values of the placeholders. A text that is no UUID equals no UUID. */
export const parametersOf = (
  fields: Readonly<Record<string, unknown>>,
  person: Person | undefined,
  criteria: Criteria = {},
) => ({
  ...Object.fromEntries(
    Object.entries(criteria).map(([name, value]) => {
      const field = fields[name]
      return [nameOfCriterion(name), is(field, Column) ? comparable(field, value) : value]
    }),
  ),
  userId: person?.id ?? null,
  email: person?.email ?? null,
})

/** The end of the query of a list. */
interface End {
  order: readonly SQL[]
  /** Condition: the row comes after the position. */
  isAfter: SQL | undefined
  /** The additional field of a list in the order of a keyset. */
  sortValues: SQL.Aliased | undefined
}

interface Options {
  /** Begins the names of the statements. */
  name: string
  /** The alias of the selected rows, which the conditions and the order name. */
  alias: string
  /** The fields of a row. */
  fields: SelectedFields
  /** The fields that limit the bytes of a page. */
  texts: readonly (AnyColumn | SQL)[]
  /** The fields that `q` searches. */
  searched: readonly (AnyColumn | SQL)[]
  /** The end of a list without a keyset. */
  newest?: Pick<End, 'order' | 'isAfter'> | undefined
  suffixOf: (criteria: Criteria, relations: readonly string[] | undefined) => string
  /** The columns and expressions that the criteria can name. */
  criteriaFields: Readonly<Record<string, unknown>>
  /** Selects at most as many rows as the placeholder `limit` says, in order. */
  selectRows: (criteria: Criteria, relations: readonly string[] | undefined, end: End) => SQL
  /** Returns whether the limit bounds the number of rows that the database reads. By default, it does not. */
  isBounded?: (criteria: Criteria, keyset: Keyset | undefined) => boolean
}

const HOUR = 3_600_000

/** Which lists of which people were too long for a short page. A wrong entry costs time, and changes no page. */
const createLongLists = () => new LRUCache<string, true>({ max: 10_000, ttl: HOUR })

/** The statements that list a page of rows, one for each combination of order, filters and position. */
export function createPages({ name, alias, fields, texts, searched, newest, ...options }: Options) {
  const [selectPage, selectShortPage] = [createVariants(name), createVariants(name)]
  const shortPages = createShortPages(fields, texts)
  const longLists = createLongLists()
  const boundedLists = new LRUCache<string, boolean>({ max: 1000 })

  function isBounded(variant: string, criteria: Criteria, keyset: Keyset | undefined) {
    const found = boundedLists.get(variant)
    if (found !== undefined) return found
    const bounded = options.isBounded?.(criteria, keyset) ?? false
    boundedLists.set(variant, bounded)
    return bounded
  }

  return async (
    db: Database,
    person: Person | undefined,
    { after, ...page }: PageRequest<Position | SortValues>,
    criteria: Criteria,
    { name: orderName, keyset }: ListOrder,
    relations?: readonly string[],
  ): Promise<SizedRow<AnyRow>[]> => {
    const isSearch = page.q !== undefined
    if (isSearch && searched.length === 0) throw new Error(`The list of ${alias} needs the option \`search\``)
    const position = keyset && (after as SortValues | undefined)
    // A position with nulls has other conditions, and so another statement.
    const nulls = position ? `_after${position.map((value) => (value === null ? 0 : 1)).join('')}` : ''
    const variant = `_list${orderName === undefined ? '' : `_${toSnakeCase(orderName)}`}${options.suffixOf(criteria, relations)}${isSearch ? '_search' : ''}${nulls}`
    const parameters = {
      ...parametersOf(options.criteriaFields, person, criteria),
      ...(keyset
        ? {
            limit: page.limit,
            q: page.q,
            maxMatches: page.maxMatches,
            ...Object.fromEntries((position ?? []).map((value, index) => [`sort${index}`, value])),
          }
        : pageParameters({ ...page, ...(after && { after: after as Position }) })),
    }

    /** The rows of the page as a subquery. */
    function selectList() {
      const bounds = position?.map((value, index) =>
        value === null ? null : sql.placeholder(`sort${index}`),
      )
      const { order, isAfter } = keyset
        ? { order: keyset.order, isAfter: keyset.isAfter(bounds) }
        : requireNewest()
      const rows = options.selectRows(criteria, relations, { order, isAfter, sortValues: keyset?.sortValues })
      const selected = { ...fields, ...(keyset && { sortValues: keyset.selectedSortValues }) }
      return { list: new Subquery(rows, selected, alias), selected, order }
    }

    if (shortPages && !isSearch) {
      const limit = Math.min(page.limit, MAX_SHORT_ROWS)
      const bounded = isBounded(variant, criteria, keyset)
      const key = `${limit < page.limit ? '' : limit}${variant} ${person?.id}`
      // A list that can be longer begins with a short statement only if this costs little.
      if ((bounded || limit === page.limit) && !longLists.has(key)) {
        const statement = selectShortPage(`${variant}_short`, (connection) => {
          const { list, selected, order } = selectList()
          return shortPages.select(connection, list, selected, order)
        })
        const connection = bounded ? connectionForBoundedLists(db) : connectionForLists(db)
        const rows = await statement(connection).execute({ ...parameters, limit })
        const isComplete = rows.length < limit || limit === page.limit
        const measured = isComplete ? shortPages.measure<AnyRow>(rows) : undefined
        if (measured) return measured
        longLists.set(key, true)
      }
    }

    const statement = selectPage(variant, (connection) => {
      const { list, selected, order } = selectList()
      return limitBytes(connection, list, selected, { texts, searched, order, isSearch })
    })
    return statement(connectionForLists(db)).execute(parameters)
  }

  function requireNewest() {
    if (!newest) throw new Error(`A list of ${alias} needs the column createdAt, or \`orders\` of the rows`)
    return newest
  }
}
