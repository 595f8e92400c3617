import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import { jobRows } from './tables.ts'

// What operators and developers see of the jobs.

/** A job without its input, which can be large. An attempt counts from its start, but a released attempt does not count. */
const summary = {
  id: jobRows.id,
  name: jobRows.name,
  state: jobRows.state,
  attempts: sql`${jobRows.retryCount} + (${jobRows.startedOn} is not null)::int`.mapWith(Number),
  maxAttempts: sql`${jobRows.retryLimit} + 1`.mapWith(Number),
  createdOn: jobRows.createdOn,
  startAfter: jobRows.startAfter,
  completedOn: jobRows.completedOn,
  person: sql<string | null>`${jobRows.data} ->> 'person'`,
  error: sql<string | null>`${jobRows.output} ->> 'message'`,
}

/** Lists jobs in some states, newest first, of all queues or of one. */
export const list = (
  db: Database,
  states: readonly (typeof jobRows.$inferSelect.state)[],
  limit: number,
  queue?: string,
) =>
  db
    .select(summary)
    .from(jobRows)
    .where(
      and(inArray(jobRows.state, [...states]), queue === undefined ? undefined : eq(jobRows.name, queue)),
    )
    .orderBy(desc(jobRows.createdOn), desc(jobRows.id))
    .limit(limit)

export type JobSummary = Awaited<ReturnType<typeof list>>[number]

/** Selects a job with its input. */
export const find = async (db: Database, id: string) => {
  const [job] = await db
    .select({ ...summary, data: jobRows.data })
    .from(jobRows)
    .where(eq(jobRows.id, id))
    .limit(1)
  return job
}

/** Lists the dead jobs, oldest first. */
export const listDead = (db: Database, limit: number, queue?: string) =>
  db
    .select(summary)
    .from(jobRows)
    .where(and(eq(jobRows.state, 'failed'), queue === undefined ? undefined : eq(jobRows.name, queue)))
    .orderBy(asc(jobRows.completedOn), asc(jobRows.id))
    .limit(limit)

/** Counts the jobs of each queue by their states. */
export const countStates = (db: Database) =>
  db
    .select({ name: jobRows.name, state: jobRows.state, count: sql`count(*)`.mapWith(Number) })
    .from(jobRows)
    .groupBy(jobRows.name, jobRows.state)
    .orderBy(asc(jobRows.name), asc(jobRows.state))
