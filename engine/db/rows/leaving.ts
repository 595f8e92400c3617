import { and, eq, exists, getTableColumns, inArray, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'

import type { Database } from '../connection/database.ts'
import { columnName } from '../column-types.ts'
import { type Person, users } from '../accounts/users.ts'
import type { Members } from './visibility.ts'

/** What happens to the rows of an account that ends. */
export interface Leaving {
  /**
   * Locks the rows of the person, and the accounts that can get them, so that no concurrent invitation, transfer or deletion
   * changes what the other functions find.
   */
  lock: (tx: Database, person: Person) => Promise<void>
  /** Whether rows with members refuse the end of the account. */
  isRefused: (tx: Database, person: Person) => Promise<boolean>
  /** Transfers the rows that have a new owner. Returns the ids of all rows with members: other people see their change. */
  leave: (tx: Database, person: Person) => Promise<(string | number)[]>
}

interface Options {
  items: PgTable & { id: PgColumn }
  /** The column that identifies a row. */
  key: PgColumn
  owner: PgColumn
  members: Members
}

/** Creates the statements for the rows of an account that ends. */
export function createLeaving({
  items,
  key,
  owner,
  members: { table, item, ownerLeaves },
}: Options): Leaving {
  const { email, createdAt } = getTableColumns(table)
  const { version } = getTableColumns(items) as { version?: PgColumn }

  const selectShared = (tx: Database, { id }: Person) =>
    tx
      .select({ id: key })
      .from(items)
      .where(and(eq(owner, id), exists(tx.select({ item }).from(table).where(eq(item, items.id)))))

  const selectOwn = (tx: Database, { id }: Person) =>
    tx.select({ id: items.id }).from(items).where(eq(owner, id))

  return {
    async lock(tx, person) {
      if (ownerLeaves === 'delete') return
      // An invitation locks the row before the account of the owner: the same order.
      await selectOwn(tx, person).orderBy(items.id).for('update')
      await lockAccount(tx, person)
      // Again, with the rows that other people transferred to the account before its lock.
      await selectOwn(tx, person).orderBy(items.id).for('update')
      if (ownerLeaves === 'refuse') return
      const addresses = tx
        .select({ email: table.email })
        .from(table)
        .where(inArray(item, selectOwn(tx, person)))
      await tx
        .select({ id: users.id })
        .from(users)
        .where(inArray(users.email, addresses))
        .orderBy(users.id)
        .for('key share')
    },

    isRefused: async (tx, person) =>
      ownerLeaves === 'refuse' && (await selectShared(tx, person).limit(1)).length > 0,

    async leave(tx, person) {
      const shared = (await selectShared(tx, person)) as { id: string | number }[]
      if (ownerLeaves === 'transfer' && shared.length > 0)
        await tx.execute(sql`
          with successors as (
            select distinct on (${item}) ${item} as item, ${users.id} as id, ${email} as email
            from ${table} join ${users} on ${users.email} = ${email}
            where ${item} in (select ${items.id} from ${items} where ${eq(owner, person.id)})
              and ${users.id} <> ${person.id} and ${users.emailVerified} and ${users.banned} is not true
            order by ${item}, ${createdAt}, ${email}
          ), ended as (
            delete from ${table} using successors where ${item} = successors.item and ${email} = successors.email
          )
          update ${items}
          set ${sql.identifier(columnName(owner))} = successors.id
            ${version ? sql`, ${sql.identifier(columnName(version))} = ${version} + 1` : sql``}
          from successors where ${items.id} = successors.item`)
      return shared.map(({ id }) => id)
    },
  }
}

/** Locks the account of a person, as its deletion does: nobody can transfer rows to the account meanwhile. */
const lockAccount = (tx: Database, { id }: Person) =>
  tx.select({ id: users.id }).from(users).where(eq(users.id, id)).for('update')
