import {
  and,
  desc,
  eq,
  getTableColumns,
  getTableName,
  ne,
  sql,
  type SQLWrapper,
  WithSubquery,
} from 'drizzle-orm'
import { type PgColumn, type PgTable, pgTable, text } from 'drizzle-orm/pg-core'

import { columnName, comparable, typeOf } from '../column-types.ts'
import type { Database } from '../connection/database.ts'
import {
  isAfterPosition,
  limitBytes,
  connectionForLists,
  pageParameters,
  type PageRequest,
  type SizedRow,
} from '../pagination.ts'
import { dummyTable, prepared, requireRow } from '../statements.ts'
import { findNames, type Person } from '../accounts/users.ts'
import { createCondition, type Requirements } from './changes.ts'
import type { Columns } from './lists.ts'
import type { Members, Visibility } from './visibility.ts'

/** A person with access to a row: the address in lower case, and the role. */
export interface Member<Role extends string = string> {
  email: string
  role: Role
  /** The name of the account with the address, if `shared` declares `names`. Otherwise, and without an account, empty. */
  name: string
  createdAt: Date
}

/** Whether a person may change the members of a row, and whether the change had an effect. */
export interface MemberChange {
  isPermitted: boolean
  isChanged: boolean
}

interface Options {
  /** The table of the rows. */
  items: PgTable & { id: PgColumn }
  /** The column that identifies a row. */
  key: PgColumn
  visibility: Visibility
  members: Members
}

/** A part of a statement: `with name as (query)`. */
const cte = (name: string, query: SQLWrapper) => new WithSubquery(query.getSQL(), {}, name, true)

/**
 * The statements for the people with access to a row. Each contains the relations that permit the person to change the members
 * of the row.
 */
export function createMembers<Role extends string>({
  items,
  key,
  visibility,
  members: { table, item, changes, names: hasNames },
}: Options) {
  const name = getTableName(table)
  const columns = getTableColumns(table)
  const { email, role, createdAt, updatedAt } = columns
  if (!email || !role || !createdAt)
    throw new Error(`The table ${name} needs the columns email, role and createdAt`)
  const listed = { email, role, createdAt }
  const order = [desc(createdAt), desc(email)]

  const selectList = prepared((db) => {
    const isOfRow = sql`${item} = (select ${items.id} from ${items} where ${eq(key, sql.placeholder('item'))})`
    const rows = db
      .select(listed)
      .from(table as PgTable)
      .where(and(isOfRow, isAfterPosition(createdAt, email)))
      .orderBy(...order)
      .limit(sql.placeholder('limit'))
      .as(name)
    return limitBytes(db, rows, listed, { texts: [email], order }).prepare(`${name}_list`)
  })

  const itemColumns: Columns = getTableColumns(items)
  const isPermitted = createCondition(key, itemColumns, visibility)
  const changeCount = changes === undefined ? undefined : itemColumns[changes]

  const itemName = columnName(item)
  // Only these columns, because Drizzle would insert null into the others.
  const inserted = [item, email, role, ...(updatedAt ? [updatedAt] : [])].map(columnName)
  const insertable = pgTable(name, Object.fromEntries(inserted.map((column) => [column, text(column)])))
  const now = sql`now()`

  /**
   * Runs a change of members of the row in `permitted`. The change returns a row if a member has changed, which `counted` then
   * counts. The lock prevents the deletion of the row during the statement, and does not wait for changes of the row.
   */
  async function change(
    db: Database,
    { person, id, requirements }: { person: Person; id: unknown; requirements: Requirements },
    changed: SQLWrapper,
  ): Promise<MemberChange> {
    const permitted = db
      .select({ id: sql`${items.id}`.as('id') })
      .from(items)
      .where(isPermitted(person, comparable(key, id), requirements))
      .for('key share')
    const counted =
      changeCount &&
      db
        .update(items)
        .set({ [changes ?? '']: sql`${changeCount} + 1` })
        .where(sql`${items.id} in (select ${sql.identifier(itemName)} from changed)`)
    const rows = await db
      .with(
        cte('permitted', permitted),
        cte('changed', changed),
        ...(counted ? [cte('counted', counted)] : []),
      )
      .select({
        isPermitted: sql<boolean>`exists (select from permitted)`,
        isChanged: sql<boolean>`exists (select from changed)`,
      })
      .from(dummyTable)
    return requireRow(rows)
  }

  return {
    /** Lists the members of a row, newest first. The guard has checked the permission. */
    async list(db: Database, id: unknown, page: PageRequest) {
      const parameters = { ...pageParameters(page), item: comparable(key, id) }
      const rows = await selectList(connectionForLists(db)).execute(parameters)
      const members = rows as unknown as Omit<SizedRow<Member<Role>>, 'name'>[]
      const addresses = hasNames ? members.map((member) => member.email) : []
      const nameByAddress = await findNames(db, addresses)
      return members.map((member): SizedRow<Member<Role>> => ({
        ...member,
        name: nameByAddress.get(member.email) ?? '',
      }))
    },

    /** Adds a member, or changes the role. */
    put: (
      db: Database,
      person: Person,
      id: unknown,
      member: Pick<Member<Role>, 'email' | 'role'>,
      requirements: Requirements = {},
    ) =>
      change(
        db,
        { person, id, requirements },
        db
          .insert(insertable)
          .select(
            sql`select id, ${member.email}::text, ${member.role}::${typeOf(role)} ${updatedAt ? sql`, ${now}` : sql``} from permitted`,
          )
          .onConflictDoUpdate({
            target: [item, email],
            set: {
              [columnName(role)]: member.role,
              ...(updatedAt && { [columnName(updatedAt)]: now }),
            },
            setWhere: ne(role, member.role),
          })
          .returning({ item }),
      ),

    /** Removes a member, if there is one. */
    remove: (db: Database, person: Person, id: unknown, address: string, requirements: Requirements = {}) =>
      change(
        db,
        { person, id, requirements },
        db
          .delete(table as PgTable)
          .where(and(sql`${item} in (select id from permitted)`, eq(email, address)))
          .returning({ item }),
      ),
  }
}
