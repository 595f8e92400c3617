import { and, desc, eq, lt, or, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'

import { users } from './auth.ts'
import { createdAt } from './columns.ts'
import type { Database } from './database.ts'
import { prepared } from './statements.ts'
import { pageParameters, isAfterPosition, type PageRequest } from './pages.ts'

/** Everything that the audit trail records. */
export const actions = [
  'sign-in',
  'session.revoke',
  'grant.create',
  'grant.revoke',
  'account.export',
  'account.delete',
  'impersonation.start',
  'impersonation.stop',
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
 * The audit trail. A trigger rejects every change but two: a pseudonym in place of a deleted person, and the removal of
 * entries older than 30 days. `actor` and `subject` are the id of a person, `operator`, `app:` and the id of an app, or
 * the pseudonym of a deleted person; null where the person is unknown.
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

/** The part of an entry that comes from the request. */
export type Source = Pick<AuditRow, 'actor' | 'ipAddress' | 'userAgent'>

export type Entry = Source &
  Pick<AuditRow, 'action' | 'outcome' | 'subject'> &
  Partial<Pick<AuditRow, 'detail'>>

export const OPERATOR: Source = { actor: 'operator', ipAddress: null, userAgent: null }

const PSEUDONYM = 'deleted:'

const isPerson = (id: string) => !/^(operator$|app:|deleted:)/.test(id)

/** Locks the row of a person, so that a concurrent deletion cannot leave the id behind. A deleted person becomes null. */
const reference = (id: string | null) =>
  id !== null && isPerson(id) ? sql`(select id from ${users} where id = ${id} for key share)` : id

export const insert = async (db: Database, ...entries: Entry[]) => {
  if (entries.length === 0) return
  const rows = entries.map((entry) => ({
    ...entry,
    actor: reference(entry.actor),
    subject: reference(entry.subject),
  }))
  await db.insert(audit).values(rows)
}

/** The entries in which a person acted or was acted upon. */
export const concerns = (person: string | Placeholder) =>
  or(eq(audit.actor, person), eq(audit.subject, person))

const newestFirst = (which: SQL | undefined, name: string) =>
  prepared((db) =>
    db
      .select()
      .from(audit)
      .where(and(which, isAfterPosition(audit.createdAt, audit.id)))
      .orderBy(desc(audit.createdAt), desc(audit.id))
      .limit(sql.placeholder('limit'))
      .prepare(name),
  )
const all = newestFirst(undefined, 'audit_list')
const ofPerson = newestFirst(concerns(sql.placeholder('person')), 'audit_list_of_person')

/** Entries, newest first: those that concern a person, or all. */
export const list = (db: Database, person: string | undefined, span: PageRequest) =>
  person === undefined
    ? all(db).execute({ ...pageParameters(span) })
    : ofPerson(db).execute({ person, ...pageParameters(span) })

/** Replaces a person by a random pseudonym, and removes the address and browser of what the person did. */
export async function pseudonymize(db: Database, person: string) {
  const pseudonym = PSEUDONYM + v7()
  const acted = sql`${audit.actor} = ${person}`
  await db
    .update(audit)
    .set({
      actor: sql`case when ${acted} then ${pseudonym} else ${audit.actor} end`,
      subject: sql`case when ${audit.subject} = ${person} then ${pseudonym} else ${audit.subject} end`,
      ipAddress: sql`case when ${acted} then null else ${audit.ipAddress} end`,
      userAgent: sql`case when ${acted} then null else ${audit.userAgent} end`,
    })
    .where(concerns(person))
  return pseudonym
}

/** Removes the entries that are older than a number of days. */
export const removeOlderThan = (db: Database, days: number) =>
  db.delete(audit).where(lt(audit.createdAt, sql`now() - make_interval(days => ${days})`))
