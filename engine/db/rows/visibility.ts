import { and, eq, getTableColumns, or, type Placeholder, type SQL, sql, type SQLWrapper } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'

import { typeOf } from '../column-types.ts'
import type { Database } from '../connection/database.ts'
import type { Person } from '../accounts/users.ts'

/** The person whose rows a statement selects: values, or placeholders of a prepared statement. */
export interface Viewer {
  id: string | Placeholder
  email: string | Placeholder
}

/** The person in the placeholders `userId` and `email`. */
export const viewerPlaceholders: Viewer = { id: sql.placeholder('userId'), email: sql.placeholder('email') }

/** A select of a part of a list. The branches of a list have no row in common, and an index can select each of them. */
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
  /** The columns of the default order, if an index of another table than that of the rows serves the order. */
  position?: { createdAt: PgColumn; id: PgColumn }
  /** Whether the rows belong to the person. */
  isOwn?: boolean
  /**
   * The columns that the condition compares with one value each, for example the owner. Only if the condition and the relation
   * depend on no other value of a row, and on no other rows.
   */
  equal?: readonly PgColumn[]
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
   * The branches of a list of all rows that the person may see, with one of these relations. Empty if a list needs the id of a
   * parent.
   */
  branches: (viewer: Viewer, relations?: readonly string[]) => readonly Branch[]
  /** The rows of one parent. */
  branchOf?: (viewer: Viewer, parent: Placeholder, relations?: readonly string[]) => Branch
  /** Condition: the person may see the parent with an id, with one of these relations. */
  isParentVisible?: (id: SQLWrapper, viewer: Viewer, relations?: readonly string[]) => SQL
  /** All relations that a person can have. */
  relations: readonly string[]
  /** The visibility without the relations that the rows add, such as `author`: rows within these rows have their own. */
  withoutAdded?: Visibility
  /** The name of the field with the owner, if the rows have an owner. */
  owner?: string
  /** The relation of the owner of the row, or of the outermost parent. */
  ownerRelation: string
  /** The rows that the rows belong to, and the name of the field with the id of the parent. */
  parent?: { rows: ParentRows; key: string }
  /** The people with access by address. */
  members?: Members
}

/**
 * What happens to rows that other people can see, if their owner deletes the account:
 *
 * - `refuse`: the deletion is refused (409) while a row has members.
 * - `delete`: the rows are deleted with the account.
 * - `transfer`: the member with the longest membership and an account becomes the owner. Rows without such a member are deleted.
 */
export type OwnerLeaves = 'refuse' | 'delete' | 'transfer'

/** The people with access to the rows of a table: the columns of the table of members. */
export interface Members {
  table: PgTable & Record<'email' | 'role', PgColumn>
  /** The column with the id of the row. */
  item: PgColumn
  roles: readonly string[]
  ownerLeaves: OwnerLeaves
  /** Whether a list of members contains their names. */
  names: boolean
  /** The number of members of a row. */
  count?: MemberCount
  /** The field of the row that counts the changes of its members. */
  changes?: string
}

/** The number of members of a row, for the owner of the row. The number is 0 for other people. */
export interface MemberCount {
  /** The name of the field that a row gets. */
  field: string
  ofRow: (viewer: Viewer) => SQL
  /** A query of `id` and `count`, for the rows with the ids of a query. Rows without members are missing. */
  ofAll: (ids: SQL) => SQL
}

/** What the rows of a parent must have. */
export interface ParentRows {
  table: PgTable & { id: PgColumn }
  /** The name of the field that identifies a row. */
  key: string
  visibility: Visibility
  find: (db: Database, person: Person, id: unknown) => Promise<{ relations: readonly string[] } | undefined>
}

/**
 * Creates the conditions for a table. `Key` is a field of the table, `Role` a role of members, and `Count` a field with a number
 * that each row gets in addition.
 */
export type VisibilityOf<
  Key extends string = string,
  Role extends string = never,
  Count extends string = never,
> = ((table: PgTable & { id: PgColumn }, columns: Readonly<Record<Key, PgColumn>>) => Visibility) & {
  readonly key?: Key
  readonly role?: Role
  readonly count?: Count
}

/** The relation of the person whose account the owner column of a row names. */
const OWNER = 'owner'

/** A relation as a text of SQL. */
export const relationText = (relation: string) => sql.raw(`'${relation}'::text`)

export const includes = (relations: readonly string[] | undefined, relation: string) =>
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
      ownerRelation: OWNER,
      relations: [OWNER],
      relation: (viewer) => sql`case when ${isOwn(viewer)} then ${relationText(OWNER)} end`,
      isVisible: (viewer, relations) => either(includes(relations, OWNER) && isOwn(viewer)),
      branches: (viewer, relations) => [
        {
          from: sql`${table}`,
          condition: either(includes(relations, OWNER) && isOwn(viewer)),
          relation: relationText(OWNER),
          isOwn: true,
          equal: [columns[owner]],
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
  <const Key extends string>(rows: ParentRows, key: Key): VisibilityOf<Key> =>
  (table, { [key]: reference }) => {
    const { table: parents, key: parentKey, visibility: ofParent } = rows
    // An added relation to the parent, such as its author, is no relation to its rows, but can permit to list and insert them.
    const ofRows = ofParent.withoutAdded ?? ofParent
    const parentId = getTableColumns(parents)[parentKey] as PgColumn
    const isIn = (id: SQLWrapper, isVisible: SQL) =>
      sql`exists (select from ${parents} where ${and(eq(parentId, id), isVisible)})`
    const isParentVisible = (id: SQLWrapper, viewer: Viewer, relations?: readonly string[]) =>
      isIn(id, ofParent.isVisible(viewer, relations))
    const relationTo = (id: SQLWrapper, viewer: Viewer) =>
      sql`(select ${ofRows.relation(viewer)} from ${parents} where ${eq(parentId, id)})`
    return {
      parent: { rows, key },
      ownerRelation: ofRows.ownerRelation,
      relations: ofRows.relations,
      isParentVisible,
      relation: (viewer) => relationTo(reference, viewer),
      isVisible: (viewer, relations) => isIn(reference, ofRows.isVisible(viewer, relations)),
      branchOf(viewer, parent, relations) {
        const id = sql`${parent}::${typeOf(reference)}`
        return {
          from: sql`${table}`,
          condition: sql`${eq(reference, id)} and ${isParentVisible(id, viewer, relations)}`,
          relation: relationTo(id, viewer),
          equal: [reference],
        }
      },
      branches: (viewer, relations) =>
        ofRows.parent
          ? []
          : ofRows.branches(viewer, relations).map((branch) => ({
              from: sql`${table}`,
              condition: eq(reference, sql`_parents.id`),
              relation: sql`_parents.relation`,
              parents: sql`select ${parentId} as id, ${branch.relation} as relation from ${branch.from} where ${branch.condition}`,
            })),
    }
  }

export const either = (...conditions: readonly (SQL | false)[]) =>
  or(...conditions.filter((condition) => condition !== false)) ?? sql`false`
