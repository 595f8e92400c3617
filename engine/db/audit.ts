import { and, desc, eq, lt, or, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'

import { users } from './users.ts'
import { createdAt } from './columns.ts'
import type { Database } from './database.ts'
import { prepared } from './statements.ts'
import { pageParameters, isAfterPosition, type PageRequest } from './pagination.ts'

export const actions = [
  'sign-in',
  'session.revoke',
  'grant.create',
  'grant.revoke',
  'account.export',
  'account.delete',
  'impersonation.start',
  'impersonation.stop',
  'impersonation.change',
  'admin.list-audit',
  'admin.list-users',
  'admin.get-user',
  'admin.create-user',
  'admin.update-user',
  'admin.set-role',
  'admin.ban-user',
  'admin.unban-user',
  'admin.list-user-sessions',
  'admin.revoke-user-session',
  'admin.revoke-user-sessions',
  'admin.remove-user',
] as const
export type Action = (typeof actions)[number]

export type Outcome = 'accepted' | 'refused'

/**
 * The audit trail. A database trigger permits only two changes: deleting entries that are older than 30 days, and
 * replacing the id of a deleted person with a pseudonym (this update can also remove the IP address and browser).
 * Possible values of `actor` and `subject`:
 *
 * - the id of a person,
 * - `operator`,
 * - `app:` followed by the id of an app,
 * - the pseudonym of a deleted person: `deleted:` followed by a random id,
 * - null if the person is unknown.
 */
export const audit = pgTable(
  'audit',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    createdAt,
    action: text().$type<Action>().notNull(),
    outcome: text().$type<Outcome>().notNull(),
    actor: text(),
    subject: text(),
    ipAddress: text(),
    userAgent: text(),
    detail: text(),
  },
  (table) => [
    index().on(table.createdAt, table.id),
    index().on(table.actor, table.createdAt, table.id),
    index().on(table.subject, table.createdAt, table.id),
  ],
)

export type AuditRow = typeof audit.$inferSelect

/** The fields of an entry that describe the caller of a request. */
export type Source = Pick<AuditRow, 'actor' | 'ipAddress' | 'userAgent'>

export type Entry = Source &
  Pick<AuditRow, 'action' | 'outcome' | 'subject'> &
  Partial<Pick<AuditRow, 'detail'>>

export const OPERATOR: Source = { actor: 'operator', ipAddress: null, userAgent: null }

const PSEUDONYM = 'deleted:'

const isPerson = (id: string) => !/^(operator$|app:|deleted:)/.test(id)

/**
 * Returns an SQL expression for an id in a new entry. For the id of a person, the expression locks the person's row,
 * so that a concurrent deletion of the person waits for the new entry. If the person is already deleted, the result
 * is null. Returns other ids (operator, apps, deleted people) unchanged.
 */
const lockedId = (id: string | null) =>
  id !== null && isPerson(id) ? sql`(select id from ${users} where id = ${id} for key share)` : id

export const insert = async (db: Database, ...entries: Entry[]) => {
  if (entries.length === 0) return
  const rows = entries.map((entry) => ({
    ...entry,
    actor: lockedId(entry.actor),
    subject: lockedId(entry.subject),
  }))
  await db.insert(audit).values(rows)
}

/** Condition: the person is the actor or the subject of an entry. */
export const concerns = (person: string | Placeholder) =>
  or(eq(audit.actor, person), eq(audit.subject, person))

const newestFirst = (condition: SQL | undefined, name: string) =>
  prepared((db) =>
    db
      .select()
      .from(audit)
      .where(and(condition, isAfterPosition(audit.createdAt, audit.id)))
      .orderBy(desc(audit.createdAt), desc(audit.id))
      .limit(sql.placeholder('limit'))
      .prepare(name),
  )
const all = newestFirst(undefined, 'audit_list')
const ofPerson = newestFirst(concerns(sql.placeholder('person')), 'audit_list_of_person')

/** Lists the entries that concern a person, newest first. If `person` is undefined, lists all entries. */
export const list = (db: Database, person: string | undefined, page: PageRequest) =>
  person === undefined
    ? all(db).execute({ ...pageParameters(page) })
    : ofPerson(db).execute({ person, ...pageParameters(page) })

/**
 * Replaces the id of a person with a random pseudonym in all entries. If the person is the actor of an entry, removes
 * the IP address and the browser from the entry. Returns the pseudonym.
 */
export async function pseudonymize(db: Database, person: string) {
  const pseudonym = PSEUDONYM + v7()
  const isActor = sql`${audit.actor} = ${person}`
  await db
    .update(audit)
    .set({
      actor: sql`case when ${isActor} then ${pseudonym} else ${audit.actor} end`,
      subject: sql`case when ${audit.subject} = ${person} then ${pseudonym} else ${audit.subject} end`,
      ipAddress: sql`case when ${isActor} then null else ${audit.ipAddress} end`,
      userAgent: sql`case when ${isActor} then null else ${audit.userAgent} end`,
    })
    .where(concerns(person))
  return pseudonym
}

export const removeOlderThan = (db: Database, days: number) =>
  db.delete(audit).where(lt(audit.createdAt, sql`now() - make_interval(days => ${days})`))
