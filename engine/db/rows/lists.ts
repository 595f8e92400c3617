import {
  and,
  type AnyColumn,
  count,
  desc,
  eq,
  getTableName,
  isNull,
  type SQL,
  sql,
  Subquery,
} from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'

import { isLarge } from '../column-types.ts'
import type { Database } from '../connection/database.ts'
import { isAfterPosition, connectionForLists } from '../pagination.ts'
import { createVariants, dummyTable, prepared } from '../statements.ts'
import type { Person } from '../accounts/users.ts'
import { isIndexed } from './bounded.ts'
import {
  branchesOf,
  createPages,
  type Criteria,
  criterionPlaceholder,
  hasOneRelation,
  parametersOf,
  suffixOf,
  usedFilters,
} from './pages.ts'
import { type Branch, viewerPlaceholders, type Visibility } from './visibility.ts'

export type Columns = Readonly<Record<string, PgColumn>>

interface Options {
  table: PgTable & { id: PgColumn }
  columns: Columns
  /** The columns that a list selects. */
  listed: Columns
  visibility: Visibility
  /** The fields that limit the bytes of a page. */
  largeFields: readonly string[]
  filters: readonly string[]
  /** The fields that `q` searches. */
  search: readonly string[]
}

/**
 * What a list of all rows depends on, besides the rows of the account itself: on the parents, or on the other owners. The list
 * of shared rows depends on owners instead of rows, so that one announcement is sufficient after the deletion of all rows of an
 * owner.
 */
export interface Sources {
  listParents?: (db: Database, person: Person) => Promise<(string | number)[]>
  listOtherOwners?: (db: Database, person: Person) => Promise<string[]>
}

/** The fields with values of any size, such as texts and JSON, which limit the bytes of a page. */
export const largeFieldsOf = (columns: Columns) =>
  Object.entries(columns).flatMap(([field, column]) => (isLarge(column) ? [field] : []))

/**
 * The statements that list and count rows. A list consists of the branches of its visibility (visibility.ts): own rows, rows that
 * others share with the person, and rows within the parents that the person sees. Rows within a parent have no members, so no branch
 * has both `parents` and a number of members.
 */
export function createLists({ table, columns, listed, visibility, largeFields, filters, search }: Options) {
  const name = getTableName(table)
  const { parent, members } = visibility
  const memberCount = members?.count
  const texts = largeFields.flatMap((field) => listed[field] ?? [])
  const searched = search.flatMap((field) => columns[field] ?? [])
  const selectsRelation = !hasOneRelation(visibility)
  const { createdAt } = columns

  const suffix = (criteria: Criteria, relations: readonly string[] | undefined) =>
    suffixOf(filters, visibility, criteria, relations)

  const isSelectedBy = (criteria: Criteria) =>
    and(
      ...usedFilters(filters, visibility, criteria).map((field) => {
        const column = columns[field] as AnyColumn
        return criteria[field] === null
          ? isNull(column)
          : eq(column, sql.param(criterionPlaceholder(field), column))
      }),
    )

  const selectTotal = createVariants(name)

  /**
   * Selects the rows of one branch, in the order of the list. Counts the members of own rows only, after the limit: other people see
   * 0. The subqueries have the name of the table, so that the columns of the order and of the fields mean their rows. With parents, first
   * selects the rows of each parent, so that an index on the rows of a parent serves the order, and then the first rows of all.
   */
  function selectBranch(
    { from, condition, relation, parents, isOwn = false }: Branch,
    isSelected: SQL | undefined,
    order: readonly SQL[],
    sortValues: SQL.Aliased | undefined,
  ) {
    const fields = [
      ...Object.values(listed).map((column) => sql`${column}`),
      ...(selectsRelation ? [sql`${parents ? sql`null::text` : relation} as relation`] : []),
      ...(sortValues ? [sql`${sortValues.sql} as sort_values`] : []),
      ...(memberCount && !isOwn ? [sql`0 as ${sql.identifier(memberCount.field)}`] : []),
    ]
    const end = sql`order by ${sql.join([...order], sql`, `)} limit ${sql.placeholder('limit')}`
    const ofBranch = sql`select ${sql.join(fields, sql`, `)} from ${from} where ${and(condition, isSelected)} ${end}`
    if (memberCount && isOwn)
      return sql`with ${table} as (${ofBranch}) select ${table}.*, coalesce(counts.count, 0) as ${sql.identifier(memberCount.field)}
        from ${table} left join (${memberCount.ofAll(sql`select ${table.id} from ${table}`)}) as counts on counts.id = ${table.id}`
    if (!parents) return ofBranch
    return sql`select ${sql.join(
      [
        ...Object.values(listed).map((column) => sql`${column}`),
        ...(selectsRelation ? [sql`${relation} as relation`] : []),
        ...(sortValues ? [sql`sort_values`] : []),
      ],
      sql`, `,
    )} from (${parents}) as _parents cross join lateral (${ofBranch}) as ${table} ${end}`
  }

  const newestBy = (key: NonNullable<Branch['position']>) => ({
    order: [desc(key.createdAt), desc(key.id)],
    isAfter: isAfterPosition(key.createdAt, key.id),
  })

  const list = createPages({
    name,
    alias: name,
    fields: {
      ...listed,
      ...(selectsRelation && { relation: sql<string>`relation` }),
      ...(memberCount && { [memberCount.field]: sql<number>`${sql.identifier(memberCount.field)}` }),
    },
    texts,
    searched,
    newest: createdAt && newestBy({ createdAt, id: table.id }),
    suffixOf: suffix,
    criteriaFields: columns,
    isBounded(criteria, keyset) {
      const [branch, ...others] = branchesOf(name, visibility, criteria, undefined)
      const order = keyset ? keyset.columns : createdAt && [createdAt, table.id]
      const used = usedFilters(filters, visibility, criteria)
      // PostgreSQL does not use the order of an index after a column that is null.
      if (!branch?.equal || others.length > 0 || !order || used.some((field) => criteria[field] === null))
        return false
      return isIndexed(table, [...branch.equal, ...used.flatMap((field) => columns[field] ?? [])], order)
    },
    selectRows(criteria, relations, { order, isAfter, sortValues }) {
      const selections = branchesOf(name, visibility, criteria, relations).map((branch) => {
        // The index of memberships has its own copy of the position in the default order.
        const end = branch.position && !sortValues ? newestBy(branch.position) : { order, isAfter }
        return selectBranch(branch, and(isSelectedBy(criteria), end.isAfter), end.order, sortValues)
      })
      const [only, ...others] = selections
      if (only && others.length === 0) return only
      return sql`select * from (${sql.join(
        selections.map((selection) => sql`(${selection})`),
        sql` union all `,
      )}) as ${table} order by ${sql.join([...order], sql`, `)} limit ${sql.placeholder('limit')}`
    },
  })

  async function total(db: Database, person: Person, criteria: Criteria, relations?: readonly string[]) {
    const statement = selectTotal(`_count${suffix(criteria, relations)}`, (connection) => {
      const branches = branchesOf(name, visibility, criteria, relations)
      const isSelected = isSelectedBy(criteria)
      const counts = branches.map(({ from, condition, parents }) =>
        parents
          ? sql`(select ${count()} from (${parents}) as _parents join ${from} on ${condition} where ${isSelected ?? sql`true`})`
          : sql`(select ${count()} from ${from} where ${and(condition, isSelected)})`,
      )
      const sum = sql<number>`${sql.join(counts, sql` + `)}`.mapWith(Number)
      return connection.select({ total: sum }).from(dummyTable)
    })
    const [row] = await statement(connectionForLists(db)).execute(parametersOf(columns, person, criteria))
    return row?.total ?? 0
  }

  // The ids of sources: of the owners of shared rows, or of the parents, of which only the type is used.
  const source = columns[parent?.key ?? visibility.owner ?? ''] ?? table.id

  const selectSources = prepared((db) => {
    const branches = visibility.branches(viewerPlaceholders)
    const selections = branches.flatMap(({ from, condition, parents, isOwn }) => {
      if (parents) return [sql`select id from (${parents}) as _parents`]
      return isOwn ? [] : [sql`select ${source} as id from ${from} where ${condition}`]
    })
    if (selections.length === 0) return undefined
    const ids = { id: sql`id`.mapWith(source) as SQL<number | string> }
    return db
      .select(ids)
      .from(new Subquery(sql.join(selections, sql` union `), ids, 'sources'))
      .prepare(`${name}_sources`)
  })

  async function listSources(db: Database, { id: userId, email }: Person) {
    const found = await selectSources(db)?.execute({ userId, email })
    return (found ?? []).map(({ id }) => id)
  }

  const sources: Sources | undefined = parent
    ? { listParents: listSources }
    : members && { listOtherOwners: async (db, person) => (await listSources(db, person)).map(String) }

  return { list, total, sources }
}
