import { and, desc, eq, lt, or, sql } from 'drizzle-orm'
import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'
import type { AuditAction, AuditOutcome, DeclaredAction } from 'tallystick-contract/internal'
import { v7 } from 'uuid'

import { users } from './users.ts'
import { createdAt } from '../columns.ts'
import type { Database } from '../connection/database.ts'
import { isAfterPosition, connectionForLists, pageParameters, type PageRequest } from '../pagination.ts'

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
    action: text().$type<AuditAction | DeclaredAction>().notNull(),
    outcome: text().$type<AuditOutcome>().notNull(),
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
export const concerns = (person: string) => or(eq(audit.actor, person), eq(audit.subject, person))

/** The conditions of a list. An undefined condition selects all entries. */
export interface Filter {
  /** The id of the actor or the subject. */
  person?: string | undefined
  action?: AuditRow['action'] | undefined
  outcome?: AuditOutcome | undefined
}

/**
 * Lists entries, newest first. No index contains the action or the outcome: PostgreSQL reads the index on time and id, or
 * the entries of the person, until the page is full.
 */
export const list = (db: Database, { person, action, outcome }: Filter, page: PageRequest) =>
  connectionForLists(db)
    .select()
    .from(audit)
    .where(
      and(
        person === undefined ? undefined : concerns(person),
        action && eq(audit.action, action),
        outcome && eq(audit.outcome, outcome),
        isAfterPosition(audit.createdAt, audit.id),
      ),
    )
    .orderBy(desc(audit.createdAt), desc(audit.id))
    .limit(sql.placeholder('limit'))
    .execute({ ...pageParameters(page) })

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
