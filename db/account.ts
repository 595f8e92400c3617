import { and, desc, eq, getTableColumns, like, ne, type SQLWrapper, sql } from 'drizzle-orm'

import { audit, concerns, pseudonymize } from './audit.ts'
import { codeIdentifier, users, verifications } from './users.ts'
import type { Database } from './database.ts'
import { requireRow } from './statements.ts'
import { rateLimitCounters } from './rate-limits.ts'
import { notes, shares, type Viewer } from './notes.ts'
import { removeBySubject } from './oauth.ts'
import { listConnections } from './pagination.ts'
import { sessions } from './sessions.ts'
import { tasks } from './tasks.ts'

const { token: _, userId: __, administratorSessionId: ___, ...sessionColumns } = getTableColumns(sessions)

/**
 * Selects a column of the audit trail, or null if the person is not the actor of the entry. Without this condition, an
 * export could contain the IP address and browser of another person.
 */
const ifActor = (id: string, column: typeof audit.ipAddress | typeof audit.userAgent) =>
  sql<string | null>`case when ${audit.actor} = ${id} then ${column} end`.as(column.name)

/** The queries of a data export. AccountData has one field for each query. */
const exportQueries = (db: Database, { id, email }: Viewer) => ({
  account: db.select().from(users).where(eq(users.id, id)),
  tasks: db.select().from(tasks).where(eq(tasks.userId, id)).orderBy(desc(tasks.createdAt), desc(tasks.id)),
  notes: db.select().from(notes).where(eq(notes.userId, id)).orderBy(desc(notes.createdAt), desc(notes.id)),
  shares: db
    .select(getTableColumns(shares))
    .from(shares)
    .innerJoin(notes, eq(notes.id, shares.noteId))
    .where(eq(notes.userId, id))
    .orderBy(shares.noteId, shares.email),
  sharedByOthers: db
    .select({ id: notes.uuid, title: notes.title, role: shares.role })
    .from(shares)
    .innerJoin(notes, eq(notes.id, shares.noteId))
    .where(and(eq(shares.email, email), ne(notes.userId, id)))
    .orderBy(desc(notes.createdAt), desc(notes.id)),
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

/** Runs queries one after the other. Returns the rows of each query under the name of the query. */
async function runQueries<Queries extends Record<string, PromiseLike<unknown>>>(queries: Queries) {
  const rows: Record<string, unknown> = {}
  for (const [name, query] of Object.entries(queries)) rows[name] = await query
  return rows as { [Name in keyof Queries]: Awaited<Queries[Name]> }
}

/** Transaction settings of an export: all queries of the export see the same snapshot of the database. */
const SNAPSHOT = { isolationLevel: 'repeatable read', accessMode: 'read only' } as const

/** Returns the size of all data about a person, in bytes of JSON. */
export const getSize = (db: Database, person: Viewer) =>
  listConnections(db).transaction(async (tx) => {
    const sizes = await Promise.all(
      Object.values(exportQueries(tx, person)).map((query) => sizeOf(tx, query)),
    )
    return sizes.reduce((total, size) => total + size)
  }, SNAPSHOT)

/** Returns all data about a person, or undefined if the person no longer exists. */
export const findData = (db: Database, person: Viewer) =>
  listConnections(db).transaction(async (tx) => {
    const rows = await runQueries(exportQueries(tx, person))
    const [account] = rows.account
    return account && { ...rows, account }
  }, SNAPSHOT)

export type AccountData = NonNullable<Awaited<ReturnType<typeof findData>>>

/**
 * Removes a person, all rows that belong to the person, and all shares with the person's e-mail address. The audit
 * trail keeps its entries under a pseudonym. Returns the pseudonym. Keeps the rate limits that count sign-in codes
 * for the e-mail address, because the deletion of an account must not reset these limits.
 */
export const remove = (db: Database, { id, email }: Viewer) =>
  db.transaction(async (tx) => {
    await tx.delete(users).where(eq(users.id, id))
    await tx.delete(sessions).where(eq(sessions.impersonatedBy, id))
    await tx.delete(shares).where(eq(shares.email, email))
    await tx.delete(verifications).where(eq(verifications.identifier, codeIdentifier(email)))
    await removeBySubject(tx, id)
    await tx.delete(rateLimitCounters).where(like(rateLimitCounters.key, `%:${id}`))
    return pseudonymize(tx, id)
  })
