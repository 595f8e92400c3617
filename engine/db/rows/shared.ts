import { and, desc, eq, getTableColumns, getTableName, inArray, ne, type SQL, sql } from 'drizzle-orm'
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core'

import {
  either,
  includes,
  type MemberCount,
  type Members,
  type OwnerLeaves,
  relationText,
  type Viewer,
  type VisibilityOf,
} from './visibility.ts'

/**
 * A table of people with access to rows: the address in lower case, the role, and the row, by a foreign key.
 *
 * @example
 * pgTable('project_members', { projectId: bigint({ mode: 'number' }).references(() => projects.id), email: text(), role: text({ enum: ['agent'] }) })
 */
export type MembersTable = Members['table']

/** How people share the rows of a table. */
interface Sharing<
  Table extends MembersTable,
  Owner extends string,
  Count extends string,
  Changes extends string,
> {
  members: Table
  /** The field with the account of the owner: by default, `userId`. */
  owner?: Owner
  /** The relation of the owner: by default, `owner`. */
  as?: string
  /**
   * A column of the table of members with a copy of the row's `createdAt`. With an index on the address, this column and the row, a
   * list reads only the rows of a page. Without it, the list contains the rows with the newest memberships.
   */
  rowCreatedAt?: PgColumn
  /** The name of a field with the number of members, which only the owner sees: 0 for other people. */
  count?: Count
  /** The field of the row that counts the changes of its members, for example for an entity tag. */
  changes?: Changes
  /** Whether a list of members contains the names of their accounts. Then set `membersSeeNames` of `startPage`, too. */
  names?: boolean
  /** What happens to rows with members if their owner deletes the account. By default, the deletion is refused (409). */
  ownerLeaves?: OwnerLeaves
}

/**
 * Maximum number of rows of other people in a list: those with the newest memberships. Otherwise, rows that strangers share
 * would hide the person's own rows behind any number of pages.
 */
export const MAX_FOREIGN = 1000

/**
 * Rows with an owner, and with members who have a role by their address.
 *
 * @example
 * rows(projects, { visible: shared({ members: projectMembers, count: 'memberCount' }), create: ['name'] })
 */
export const shared =
  <
    Table extends MembersTable,
    const Owner extends string = 'userId',
    const Count extends string = never,
    const Changes extends string = never,
  >({
    members: table,
    owner = 'userId' as Owner,
    as = 'owner',
    rowCreatedAt,
    count: countField,
    changes,
    ownerLeaves = 'refuse',
    names = false,
  }: Sharing<Table, Owner, Count, Changes>): VisibilityOf<
    Owner | Changes,
    Table['role']['_']['data'] & string,
    NoInfer<Count>
  > =>
  (items, columns) => {
    const roles = table.role.enumValues ?? []
    const refused = roles.find((role) => [as, 'author', 'anyone'].includes(role) || role.includes(','))
    if (refused !== undefined)
      throw new Error(
        `${getTableName(table)}: a role cannot have the name ${refused}, because it is the relation of other people, or has a comma`,
      )
    const item = findReference(table, items)
    const count = countField === undefined ? undefined : countMembers(countField)
    const members = {
      table,
      item,
      roles,
      ownerLeaves,
      names,
      ...(count && { count }),
      ...(changes && { changes }),
    }
    const sortedBy = rowCreatedAt ?? getTableColumns(table).createdAt
    const isMember = (viewer: Viewer) => and(eq(item, items.id), eq(table.email, viewer.email))
    /** Condition: the role of a member is one of these relations. No condition for all roles. */
    const hasRole = (relations: readonly string[] | undefined) => {
      const permitted = roles.filter((role) => includes(relations, role))
      if (permitted.length === roles.length) return undefined
      return permitted.length === 0 ? sql`false` : inArray(table.role, permitted)
    }
    return {
      owner,
      ownerRelation: as,
      relations: [as, ...roles],
      members,
      relation: (viewer) =>
        sql`case when ${isOwn(viewer)} then ${relationText(as)} else (select ${table.role}::text from ${table} where ${isMember(viewer)}) end`,
      isVisible: (viewer, relations) =>
        either(
          includes(relations, as) && isOwn(viewer),
          sql`exists (select from ${table} where ${and(isMember(viewer), hasRole(relations))})`,
        ),
      branches: (viewer, relations) => [
        {
          from: sql`${items}`,
          condition: either(includes(relations, as) && isOwn(viewer)),
          relation: relationText(as),
          isOwn: true,
        },
        {
          from: sql`${selectMemberships(viewer)} join ${items} on ${eq(items.id, item)}`,
          condition: sql`${and(ne(columns[owner], viewer.id), hasRole(relations))}`,
          relation: sql`${table.role}::text`,
          ...(rowCreatedAt && { position: { createdAt: rowCreatedAt, id: item } }),
        },
      ],
    }

    function isOwn({ id }: Viewer) {
      return eq(columns[owner], id)
    }

    /** The newest memberships of an address, under the name of the table of members. */
    function selectMemberships({ email }: Viewer) {
      const selected = [item, table.role, ...(rowCreatedAt ? [rowCreatedAt] : [])]
      const order = [...(sortedBy ? [desc(sortedBy)] : []), desc(item)]
      return sql`(
        select ${sql.join(selected, sql`, `)} from ${table} where ${eq(table.email, email)}
        order by ${sql.join(order, sql`, `)} limit ${sql.raw(String(MAX_FOREIGN))}
      ) as ${table}`
    }

    /** One subquery counts the members of all rows of a page: a count for each row would double the time of a list. */
    function countMembers(field: string): MemberCount {
      const counted = (condition: SQL) => sql`select count(*)::int from ${table} where ${condition}`
      return {
        field,
        ofRow: (viewer) => sql`case when ${isOwn(viewer)} then (${counted(eq(item, items.id))}) else 0 end`,
        ofAll: (ids) =>
          sql`select ${item} as id, count(*)::int as count from ${table} where ${item} = any(array(${ids})) group by ${item}`,
      }
    }
  }

/** Returns the column of a table that references the ids of another table. Throws if there is none. */
function findReference(table: PgTable, to: PgTable & { id: PgColumn }): PgColumn {
  for (const { reference } of getTableConfig(table).foreignKeys) {
    const { columns, foreignTable } = reference()
    if (foreignTable === to && columns[0]) return columns[0]
  }
  throw new Error(`The table ${getTableName(table)} has no foreign key to ${getTableName(to)}`)
}
