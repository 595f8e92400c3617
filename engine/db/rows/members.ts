import { and, desc, eq, getTableColumns, getTableName, sql } from 'drizzle-orm'
import { type PgColumn, type PgTable, pgTable, text } from 'drizzle-orm/pg-core'

import type { Database } from '../database.ts'
import {
  isAfterPosition,
  limitBytes,
  listConnections,
  pageParameters,
  type PageRequest,
  type SizedRow,
} from '../pagination.ts'
import { prepared } from '../statements.ts'
import type { Person } from '../users.ts'
import { createCondition, type Requirements } from './changes.ts'
import { columnName } from './inserts.ts'
import type { Members, Visibility } from './visibility.ts'

/** A person with access to a row: the address in lower case, and the role. */
export interface Member {
  email: string
  role: string
  createdAt: Date
}

/**
 * The statements for the people with access to a row. Each contains the relations that permit the person to change the members
 * of the row.
 */
export function createMembers(
  items: PgTable & { id: PgColumn },
  visibility: Visibility,
  { table, item }: Members,
) {
  const name = getTableName(table)
  const columns = getTableColumns(table)
  const { email, role, createdAt } = columns
  if (!email || !role || !createdAt)
    throw new Error(`The table ${name} needs the columns email, role and createdAt`)
  const listed = { email, role, createdAt }
  const order = [desc(createdAt), desc(email)]

  const selectList = prepared((db) => {
    const rows = db
      .select(listed)
      .from(table as PgTable)
      .where(and(eq(item, sql.placeholder('item')), isAfterPosition(createdAt, email)))
      .orderBy(...order)
      .limit(sql.placeholder('limit'))
      .as(name)
    return limitBytes(db, rows, listed, { texts: [email], order }).prepare(`${name}_list`)
  })

  const isPermitted = createCondition(items, getTableColumns(items), visibility)

  const itemName = columnName(item)
  const insertable = pgTable(name, { item: text(itemName), email: text('email'), role: text('role') })

  return {
    /** Lists the members of a row, newest first. The guard has checked the permission. */
    list: (db: Database, item: unknown, page: PageRequest) =>
      selectList(listConnections(db)).execute({ ...pageParameters(page), item }) as unknown as Promise<
        SizedRow<Member>[]
      >,

    /** Adds a member, or changes the role. Returns whether a row has the id, and the person may do so. */
    async put(
      db: Database,
      person: Person,
      id: unknown,
      member: Pick<Member, 'email' | 'role'>,
      requirements: Requirements = {},
    ) {
      const rows = await db
        .insert(insertable)
        .select(
          sql`select ${items.id}, ${member.email}::text, ${member.role}::text from ${items} where ${isPermitted(person, id, requirements)}`,
        )
        .onConflictDoUpdate({
          target: [insertable.item, insertable.email],
          set: { role: sql`excluded.role` },
        })
        .returning({ email: insertable.email })
      return rows.length > 0
    },

    /** Removes a member. Returns whether there was one, and the person may do so. */
    async remove(
      db: Database,
      person: Person,
      id: unknown,
      address: string,
      requirements: Requirements = {},
    ) {
      const rows = await db
        .delete(table as PgTable)
        .where(
          and(
            eq(item, id),
            eq(email, address),
            sql`exists (select from ${items} where ${isPermitted(person, id, requirements)})`,
          ),
        )
        .returning({ email })
      return rows.length > 0
    },
  }
}
