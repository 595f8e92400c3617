import { and, asc, eq, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm'

import type { Person } from '../accounts/users.ts'
import type { Database } from '../connection/database.ts'
import { dummyTable, prepared, requireRow } from '../statements.ts'
import { jobRows, MAIL_QUEUE, scheduleRows } from './tables.ts'

export const isWaiting = sql`${jobRows.state} < 'active'`
const isExpired = sql`${jobRows.state} = 'active' and ${jobRows.startedOn} + ${jobRows.expireIn} + interval '2 seconds' < now()`

/** The time of the database, whether jobs of stopped instances exist, and the queues with a job that can run. */
export interface JobState {
  now: Date
  hasExpired: boolean
  due: string[]
}

/** Prepares the statement that reads the state of some queues, which each instance runs every second. */
export function selectState(queues: readonly string[]) {
  const names = sql.join(
    queues.map((name) => sql`(${name}::text)`),
    sql`, `,
  )
  const hasDue = sql`exists (select from ${jobRows}
    where ${jobRows.name} = queue.name and ${isWaiting} and ${jobRows.startAfter} < now())`
  const statement = prepared((db) =>
    db
      .select({
        now: sql`now()`.mapWith((value: Date | string) => new Date(value)),
        hasExpired: sql<boolean>`exists (select from ${jobRows} where ${isExpired})`,
        due: sql<string[]>`coalesce((select json_agg(queue.name) from (values ${names}) as queue (name)
          where ${hasDue}), '[]')`,
      })
      .from(dummyTable)
      .prepare('jobs_state'),
  )
  return async (db: Database): Promise<JobState> => requireRow(await statement(db).execute())
}

const of = (name: string, id: string): SQL | undefined => and(eq(jobRows.name, name), eq(jobRows.id, id))

export const exists = async (db: Database, name: string, id: string) =>
  (await db.$count(jobRows, of(name, id))) > 0

/** Locks active jobs with an expired timeout, so that only one instance fails the jobs. */
export const lockExpired = (tx: Database) =>
  tx
    .select({ id: jobRows.id, name: jobRows.name })
    .from(jobRows)
    .where(isExpired)
    .limit(100)
    .for('update', { skipLocked: true })

/** Lets failed attempts run again without waiting. */
export const skipDelay = (tx: Database, ids: readonly string[]) =>
  tx
    .update(jobRows)
    .set({ startAfter: sql`now()` })
    .where(and(inArray(jobRows.id, [...ids]), eq(jobRows.state, 'retry')))

/** Locks a job, if an attempt is still its attempt: the next attempt may have begun after the timeout. Returns whether it is. */
export const lockAttempt = async (tx: Database, name: string, id: string, retryCount: number) => {
  const locked = await tx
    .select({ id: jobRows.id })
    .from(jobRows)
    .where(and(of(name, id), eq(jobRows.state, 'active'), eq(jobRows.retryCount, retryCount)))
    .for('update')
  return locked.length > 0
}

/** Returns an active job to its queue. pg-boss does not count an attempt without `started_on`. */
export const release = (db: Database, name: string, id: string) =>
  db
    .update(jobRows)
    .set({ state: 'retry', startedOn: null, startAfter: sql`now()` })
    .where(and(of(name, id), eq(jobRows.state, 'active')))

/** How long finished and dead jobs are kept. */
const RETENTION = { completed: '24 hours', failed: '14 days' }

export const removeFinished = (db: Database) =>
  db
    .delete(jobRows)
    .where(
      or(
        and(
          inArray(jobRows.state, ['completed', 'cancelled']),
          lt(jobRows.completedOn, sql`now() - ${RETENTION.completed}::interval`),
        ),
        and(eq(jobRows.state, 'failed'), lt(jobRows.completedOn, sql`now() - ${RETENTION.failed}::interval`)),
      ),
    )

const namesPerson = (id: string) => sql`${jobRows.data} ->> 'person' = ${id}`

/** Selects the jobs that name a person, oldest first. */
export const listOf = (db: Database, id: string) =>
  db
    .select({
      name: jobRows.name,
      state: jobRows.state,
      createdAt: jobRows.createdOn,
      startsAt: jobRows.startAfter,
      input: sql`${jobRows.data} -> 'input'`.as('input'),
    })
    .from(jobRows)
    .where(namesPerson(id))
    .orderBy(asc(jobRows.createdOn), asc(jobRows.id))

/** Removes the jobs that name a person, and the e-mails to the person's address (engine/jobs/mail.ts). */
export const removeOf = (db: Database, { id, email }: Pick<Person, 'id' | 'email'>) =>
  db
    .delete(jobRows)
    .where(
      or(
        namesPerson(id),
        and(
          eq(jobRows.name, MAIL_QUEUE),
          sql`lower(${jobRows.data} -> 'input' ->> 'to') = lower(${email}::text)`,
        ),
      ),
    )

/** Makes the next jobs that are due until a time run now. Returns whether there are any. For tests. */
export const advance = async (db: Database, until: Date, queues: readonly string[]) => {
  const isDue = and(isWaiting, inArray(jobRows.name, [...queues]), lte(jobRows.startAfter, until))
  const next = db
    .select({ at: sql`min(${jobRows.startAfter})` })
    .from(jobRows)
    .where(isDue)
  const advanced = await db
    .update(jobRows)
    .set({ startAfter: sql`now() - interval '1 second'` })
    .where(and(isDue, lte(jobRows.startAfter, next)))
    .returning({ id: jobRows.id })
  return advanced.length > 0
}

/** Runs dead jobs again, with all their attempts. Returns their queues. */
export const retryDead = (db: Database, selection: { id?: string; queue?: string }) =>
  db
    .update(jobRows)
    .set({ state: 'retry', retryCount: 0, startedOn: null, startAfter: sql`now()`, completedOn: null })
    .where(
      and(
        eq(jobRows.state, 'failed'),
        selection.id === undefined ? undefined : eq(jobRows.id, selection.id),
        selection.queue === undefined ? undefined : eq(jobRows.name, selection.queue),
      ),
    )
    .returning({ name: jobRows.name })

/** Makes a waiting job due now. Returns whether the job waits. */
export const makeDue = async (db: Database, id: string) => {
  const due = await db
    .update(jobRows)
    .set({ startAfter: sql`now()` })
    .where(and(eq(jobRows.id, id), isWaiting))
    .returning({ id: jobRows.id })
  return due.length > 0
}

/**
 * Stores a schedule of this release. A new or changed schedule begins at `now`, so that a change runs no time of the past.
 */
export const putSchedule = (db: Database, name: string, cron: string, timezone: string, now: Date) =>
  db
    .insert(scheduleRows)
    .values({ name, cron, timezone, data: { last: now.toISOString() } })
    .onConflictDoUpdate({
      target: scheduleRows.name,
      set: { cron, timezone, data: { last: now.toISOString() } },
      setWhere: sql`(${scheduleRows.cron}, ${scheduleRows.timezone}) is distinct from (${cron}::text, ${timezone}::text)`,
    })

/** Locks a schedule until the end of the transaction. Returns the last time for which a job was enqueued. */
export const lockSchedule = async (tx: Database, name: string) => {
  const [row] = await tx
    .select({ data: scheduleRows.data })
    .from(scheduleRows)
    .where(eq(scheduleRows.name, name))
    .for('update')
  return row?.data ? new Date(row.data.last) : undefined
}

export const setLast = (tx: Database, name: string, last: Date) =>
  tx
    .update(scheduleRows)
    .set({ data: { last: last.toISOString() } })
    .where(eq(scheduleRows.name, name))
