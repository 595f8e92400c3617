import { desc, eq, getTableColumns, like, type SQLWrapper, sql } from 'drizzle-orm'

import { audit, concerns, pseudonymize } from './audit.ts'
import { codeIdentifier, type Person, users, verifications } from './users.ts'
import type { Database } from '../connection/database.ts'
import { requireRow } from '../statements.ts'
import { rateLimitCounters } from './rate-limits.ts'
import { removeBySubject } from './oauth.ts'
import { connectionForLists } from '../pagination.ts'
import { type PersonalData, selectWith } from './personal-data.ts'
import { sessions } from './sessions.ts'

const { token: _, userId: __, administratorSessionId: ___, ...sessionColumns } = getTableColumns(sessions)

/**
 * Selects a column of the audit trail, or null if the person is not the actor of the entry. Without this condition, an
 * export could contain the IP address and browser of another person.
 */
const ifActor = (id: string, column: typeof audit.ipAddress | typeof audit.userAgent) =>
  sql<string | null>`case when ${audit.actor} = ${id} then ${column} end`.as(column.name)

/** The queries of the account itself. The queries of the resources are in the files of the resources. */
const accountQueries = (db: Database, { id }: Person) => ({
  account: db.select().from(users).where(eq(users.id, id)),
  sessions: db
    .select(sessionColumns)
    .from(sessions)
    .where(eq(sessions.userId, id))
    .orderBy(desc(sessions.updatedAt), desc(sessions.id)),
  audit: db
    .select({
      ...getTableColumns(audit),
      ipAddress: ifActor(id, audit.ipAddress),
      userAgent: ifActor(id, audit.userAgent),
    })
    .from(audit)
    .where(concerns(id))
    .orderBy(desc(audit.createdAt), desc(audit.id)),
})

/**
 * Returns the size of a query result as JSON, in bytes. The size in the database can be smaller: for example, a
 * control character has one byte in the database, but six bytes in JSON (`\u0001`).
 */
const sizeOf = async (db: Database, query: SQLWrapper) => {
  const bytes = sql`coalesce(sum(octet_length(to_json(result)::text)), 0)`.mapWith(Number)
  return requireRow(await db.select({ bytes }).from(sql`${query} as result`)).bytes
}

/** Transaction settings of an export: all queries of the export see the same snapshot of the database. */
const SNAPSHOT = { isolationLevel: 'repeatable read', accessMode: 'read only' } as const

const selectAccount = selectWith(
  accountQueries,
  ({ account: [account], ...rows }) => account && { ...rows, account },
)

/** Returns the size of all data about a person, in bytes of JSON. */
export const getSize = (db: Database, person: Person, personalData: PersonalData) =>
  connectionForLists(db).transaction(async (tx) => {
    const selections = [selectAccount(tx, person), personalData.select(tx, person)]
    const queries = selections.flatMap((selection) => selection.queries)
    const sizes = await Promise.all(queries.map((query) => sizeOf(tx, query)))
    return sizes.reduce((total, size) => total + size)
  }, SNAPSHOT)

/**
 * Returns all data about a person: the rows of the account, and the data of the resources. Returns undefined if the
 * person no longer exists.
 */
export const findData = <Data>(db: Database, person: Person, personalData: PersonalData<Data>) =>
  connectionForLists(db).transaction(async (tx) => {
    const rows = await selectAccount(tx, person).read()
    return rows && { ...rows, resources: await personalData.select(tx, person).read() }
  }, SNAPSHOT)

export type AccountData = NonNullable<Awaited<ReturnType<ReturnType<typeof selectAccount>['read']>>>

/**
 * Removes a person, all rows that belong to the person, and the personal data that no foreign key removes. The audit
 * trail keeps its entries under a pseudonym. Returns the pseudonym. Keeps the rate limits that count sign-in codes
 * for the e-mail address, because the deletion of an account must not reset these limits. Announces the change to the
 * streams of other people, as the triggers do (engine/db/migrations/0001_live.sql).
 */
export const remove = (db: Database, person: Person, personalData: PersonalData) =>
  db.transaction(async (tx) => {
    const { id, email } = person
    const liveKeys = (await personalData.leave?.(tx, person)) ?? []
    await tx.delete(users).where(eq(users.id, id))
    await tx.delete(sessions).where(eq(sessions.impersonatedBy, id))
    await personalData.remove?.(tx, person)
    await tx.delete(verifications).where(eq(verifications.identifier, codeIdentifier(email)))
    await removeBySubject(tx, id)
    // The library rate-limiter-flexible stores a count under `<name of the limit>:<person>`.
    await tx.delete(rateLimitCounters).where(like(rateLimitCounters.key, `%:${id}`))
    if (liveKeys.length > 0) {
      const values = sql.join(
        liveKeys.map((key) => sql`${key}`),
        sql`, `,
      )
      await tx.execute(sql`select live_notify(array[${values}]::text[])`)
    }
    return pseudonymize(tx, id)
  })
