import {
  and,
  desc,
  eq,
  getTableColumns,
  getTableName,
  inArray,
  ne,
  or,
  type Placeholder,
  type SQL,
  sql,
  type SQLWrapper,
} from 'drizzle-orm'
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core'

import { typeOf } from '../column-types.ts'

/** The person whose rows a statement selects: values, or placeholders of a prepared statement. */
export interface Viewer {
  id: string | Placeholder
  email: string | Placeholder
}

/** The person in the placeholders `userId` and `email`. */
export const viewerPlaceholders: Viewer = {
  id: sql.placeholder('userId'),
  email: sql.placeholder('email'),
}

/** A part of a list. The parts of a list have no row in common, and an index can select each of them. */
export interface Branch {
  /** The tables that the rows come from. */
  from: SQL
  condition: SQL
  /** The relation of the person to each row, as a text. */
  relation: SQL
  /**
   * A query of `id` and `relation` of the parents. The rows of each parent are then selected separately, so that an index of
   * the rows of a parent serves the order.
   */
  parents?: SQL
}

/**
 * Who may see the rows of a table. A person has one relation to a row that the person may see, for example `owner`, `editor`,
 * or the relation to the parent of the row. Every statement contains one of these conditions.
 */
export interface Visibility {
  /** The relation of the person to a row. Null if the person may not see the row. */
  relation: (viewer: Viewer) => SQL
  /** Condition: the person may see the row, with one of these relations. By default, with any relation. */
  isVisible: (viewer: Viewer, relations?: readonly string[]) => SQL
  /**
   * The parts of a list of all rows that the person may see, with one of these relations. Empty if a list needs the id of a
   * parent.
   */
  branches: (viewer: Viewer, relations?: readonly string[]) => readonly Branch[]
  /** The rows of one parent. */
  branchOf?: (viewer: Viewer, parent: Placeholder, relations?: readonly string[]) => Branch
  /** Condition: the person may see the parent with an id, with one of these relations. */
  isParentVisible?: (id: SQLWrapper, viewer: Viewer, relations?: readonly string[]) => SQL
  /** All relations that a person can have. */
  relations: readonly string[]
  /** The name of the field with the owner, if the rows have an owner. */
  owner?: string
  /** The rows that the rows belong to, and the name of the field with the id of the parent. */
  parent?: { rows: ParentRows; key: string }
  /** The people with access by address. */
  members?: Members
}

/** What the rows of a parent must have. */
export interface ParentRows {
  table: PgTable & { id: PgColumn }
  visibility: Visibility
}

/** Creates the conditions for a table. `Key` is a field of the table. */
export type VisibilityOf<Key extends string = string> = ((
  table: PgTable & { id: PgColumn },
  columns: Readonly<Record<Key, PgColumn>>,
) => Visibility) & { readonly key?: Key }

/** The relation of the person whose account the owner column of a row names. */
export const OWNER = 'owner'
const ownerText = sql.raw(`'${OWNER}'::text`)

const includes = (relations: readonly string[] | undefined, relation: string) =>
  relations?.includes(relation) ?? true

/**
 * Rows that only their owner sees: the account in a column, by default `userId`.
 *
 * @example
 * rows(orders, { visible: owned('buyerId'), create: ['amount'] })
 */
export const owned =
  <const Key extends string = 'userId'>(owner: Key = 'userId' as Key): VisibilityOf<Key> =>
  (table, columns) => {
    const isOwn = ({ id }: Viewer) => eq(columns[owner], id)
    return {
      owner,
      relations: [OWNER],
      relation: (viewer) => sql`case when ${isOwn(viewer)} then ${ownerText} end`,
      isVisible: (viewer, relations) => either(includes(relations, OWNER) && isOwn(viewer)),
      branches: (viewer, relations) => [
        {
          from: sql`${table}`,
          condition: either(includes(relations, OWNER) && isOwn(viewer)),
          relation: ownerText,
        },
      ],
    }
  }

/**
 * A table of people with access to rows: the address in lower case, the role, and the row, by a foreign key.
 *
 * @example
 * pgTable('project_members', { projectId: bigint({ mode: 'number' }).references(() => projects.id), email: text(), role: text({ enum: ['agent'] }) })
 */
export type MembersTable = PgTable & Record<'email' | 'role', PgColumn>

/** The people with access to the rows of a table. */
export interface Members {
  table: MembersTable
  /** The column with the id of the row. */
  item: PgColumn
  roles: readonly string[]
}

/**
 * Maximum number of rows of other people in a list: those with the newest memberships. Otherwise, rows that strangers share
 * would hide the person's own rows behind any number of pages.
 */
export const MAX_FOREIGN = 1000

/** The newest memberships of an address, under the name of the table of members. */
function selectMemberships({ table, item }: Members, { email }: Viewer) {
  const { createdAt } = getTableColumns(table)
  const order = [...(createdAt ? [desc(createdAt)] : []), desc(item)]
  return sql`(
    select ${item}, ${table.role} from ${table} where ${eq(table.email, email)}
    order by ${sql.join(order, sql`, `)} limit ${sql.raw(String(MAX_FOREIGN))}
  ) as ${table}`
}

/**
 * Rows with an owner, and with members who have a role by their address.
 *
 * @example
 * rows(projects, { visible: shared({ members: projectMembers }), create: ['name'] })
 */
export const shared =
  <const Key extends string = 'userId'>({
    members: table,
    owner = 'userId' as Key,
  }: {
    members: MembersTable
    owner?: Key
  }): VisibilityOf<Key> =>
  (items, columns) => {
    const roles = table.role.enumValues ?? []
    const members = { table, item: findReference(table, items), roles }
    const isOwn = ({ id }: Viewer) => eq(columns[owner], id)
    const isMember = (viewer: Viewer) => and(eq(members.item, items.id), eq(table.email, viewer.email))
    /** Condition: the role of a member is one of these relations. No condition for all roles. */
    const hasRole = (relations: readonly string[] | undefined) => {
      const permitted = roles.filter((role) => includes(relations, role))
      if (permitted.length === roles.length) return undefined
      return permitted.length === 0 ? sql`false` : inArray(table.role, permitted)
    }
    return {
      owner,
      relations: [OWNER, ...roles],
      members,
      relation: (viewer) =>
        sql`case when ${isOwn(viewer)} then ${ownerText} else (select ${table.role}::text from ${table} where ${isMember(viewer)}) end`,
      isVisible: (viewer, relations) =>
        either(
          includes(relations, OWNER) && isOwn(viewer),
          sql`exists (select from ${table} where ${and(isMember(viewer), hasRole(relations))})`,
        ),
      branches: (viewer, relations) => [
        {
          from: sql`${items}`,
          condition: either(includes(relations, OWNER) && isOwn(viewer)),
          relation: ownerText,
        },
        {
          from: sql`${selectMemberships(members, viewer)} join ${items} on ${eq(items.id, members.item)}`,
          condition: sql`${and(ne(columns[owner], viewer.id), hasRole(relations))}`,
          relation: sql`${table.role}::text`,
        },
      ],
    }
  }

/**
 * Rows that a person sees if the person sees the parent: the row whose id the field `key` has.
 *
 * @example
 * rows(tickets, { visible: within(projectRows, 'projectId'), create: ['projectId', 'title'] })
 */
export const within =
  <const Key extends string>({ table: parents, visibility: of }: ParentRows, key: Key): VisibilityOf<Key> =>
  (table, { [key]: reference }) => {
    const isParentVisible = (id: SQLWrapper, viewer: Viewer, relations?: readonly string[]) =>
      sql`exists (select from ${parents} where ${and(eq(parents.id, id), of.isVisible(viewer, relations))})`
    const relationTo = (id: SQLWrapper, viewer: Viewer) =>
      sql`(select ${of.relation(viewer)} from ${parents} where ${eq(parents.id, id)})`
    return {
      parent: { rows: { table: parents, visibility: of }, key },
      relations: of.relations,
      isParentVisible,
      relation: (viewer) => relationTo(reference, viewer),
      isVisible: (viewer, relations) => isParentVisible(reference, viewer, relations),
      branchOf(viewer, parent, relations) {
        const id = sql`${parent}::${typeOf(reference)}`
        return {
          from: sql`${table}`,
          condition: sql`${eq(reference, id)} and ${isParentVisible(id, viewer, relations)}`,
          relation: relationTo(id, viewer),
        }
      },
      branches: (viewer, relations) =>
        of.parent
          ? []
          : of.branches(viewer, relations).map((branch) => ({
              from: sql`${table}`,
              condition: eq(reference, sql`_parents.id`),
              relation: sql`_parents.relation`,
              parents: sql`select ${parents.id}, ${branch.relation} as relation from ${branch.from} where ${branch.condition}`,
            })),
    }
  }

/** A relation that a column or a time decides, in addition to the relation to the row or its parent. */
export type RowRelations = Readonly<Record<string, (viewer: Viewer) => SQL>>

/**
 * Adds relations to a visibility: a person who sees a row has them, too, if their conditions hold. The texts of relations are
 * then lists with commas: `agent,author`.
 */
export function withRelations(visibility: Visibility, added: RowRelations): Visibility {
  const entries = Object.entries(added)
  if (entries.length === 0) return visibility
  const append = (relation: SQL, viewer: Viewer) =>
    sql.join(
      [
        relation,
        ...entries.map(
          ([name, condition]) =>
            sql`case when ${condition(viewer)} then ${sql.raw(`',${name}'`)} else '' end`,
        ),
      ],
      sql` || `,
    )
  const appendTo = (viewer: Viewer) => (branch: Branch) => ({
    ...branch,
    relation: append(branch.relation, viewer),
  })
  const { branchOf } = visibility
  return {
    ...visibility,
    relations: [...visibility.relations, ...entries.map(([name]) => name)],
    relation: (viewer) => append(sql`(${visibility.relation(viewer)})`, viewer),
    isVisible(viewer, relations) {
      if (!relations) return visibility.isVisible(viewer)
      const conditions = entries.flatMap(([name, condition]) =>
        relations.includes(name) ? [condition(viewer)] : [],
      )
      return either(
        visibility.isVisible(viewer, relations),
        conditions.length > 0 && sql`${visibility.isVisible(viewer)} and (${or(...conditions)})`,
      )
    },
    branches: (viewer, relations) => visibility.branches(viewer, relations).map(appendTo(viewer)),
    ...(branchOf && {
      branchOf: (viewer: Viewer, parent: Placeholder, relations?: readonly string[]) =>
        appendTo(viewer)(branchOf(viewer, parent, relations)),
    }),
  }
}

const either = (...conditions: readonly (SQL | false)[]) =>
  or(...conditions.filter((condition) => condition !== false)) ?? sql`false`

/** Returns the column of a table that references the ids of another table. Throws if there is none. */
function findReference(table: PgTable, to: PgTable & { id: PgColumn }): PgColumn {
  for (const { reference } of getTableConfig(table).foreignKeys) {
    const { columns, foreignTable } = reference()
    if (foreignTable === to && columns[0]) return columns[0]
  }
  throw new Error(`The table ${getTableName(table)} has no foreign key to ${getTableName(to)}`)
}
