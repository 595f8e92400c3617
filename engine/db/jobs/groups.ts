import { and, asc, eq, inArray, lt, lte, sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import { isWaiting } from './queries.ts'
import { type JobData, jobRows, queueRows } from './tables.ts'

/** A job without a group is a group of its own. */
const group = sql`coalesce(${jobRows.group}, ${jobRows.id}::text)`

interface Limits {
  /** Maximum number of jobs to fetch. */
  limit: number
  /** Maximum number of jobs of a group that run at the same time. */
  groupConcurrency: number
  /** When the last known job of a group has ended, by group, in seconds since the Unix epoch. */
  ends: Readonly<Record<string, number>>
}

/**
 * Fetches jobs of a queue with groups, which pg-boss cannot: first of the groups with the fewest running jobs, then of the group that
 * has waited longest, since its last job has ended or its oldest job was added. So the groups alternate. Instances fetch from a queue one after the other.
 */
export const fetchGrouped = (db: Database, name: string, { limit, groupConcurrency, ends }: Limits) =>
  db.transaction(async (tx) => {
    // In a statement of its own, because a statement does not see what others commit while it waits for the lock.
    await tx
      .select({ name: queueRows.name })
      .from(queueRows)
      .where(eq(queueRows.name, name))
      .for('no key update')
    const running = tx
      .select({ group: jobRows.group, count: sql<number>`count(*)`.as('count') })
      .from(jobRows)
      .where(and(eq(jobRows.name, name), eq(jobRows.state, 'active')))
      .groupBy(jobRows.group)
      .as('running')
    const waiting = tx
      .select({
        id: jobRows.id,
        // The time of the first job counts for its group, because only first jobs are fetched.
        waitingSince:
          sql<Date>`greatest(${jobRows.createdOn}, to_timestamp((${JSON.stringify(ends)}::text::jsonb ->> ${group})::float8))`.as(
            'waiting_since',
          ),
        position:
          sql<number>`coalesce(${running.count}, 0) + row_number() over (partition by ${group} order by ${jobRows.createdOn}, ${jobRows.id})`.as(
            'position',
          ),
      })
      .from(jobRows)
      .leftJoin(running, eq(running.group, jobRows.group))
      .where(and(eq(jobRows.name, name), isWaiting, lt(jobRows.startAfter, sql`now()`)))
      .as('waiting')
    const next = tx
      .select({ id: waiting.id })
      .from(waiting)
      .where(lte(waiting.position, groupConcurrency))
      .orderBy(asc(waiting.position), asc(waiting.waitingSince), asc(waiting.id))
      .limit(limit)
    return tx
      .update(jobRows)
      .set({
        state: 'active',
        startedOn: sql`now()`,
        retryCount: sql`${jobRows.retryCount} + (${jobRows.startedOn} is not null)::int`,
      })
      .where(and(eq(jobRows.name, name), isWaiting, inArray(jobRows.id, next)))
      .returning({
        id: jobRows.id,
        name: jobRows.name,
        group: jobRows.group,
        data: sql<JobData>`${jobRows.data}`,
        retryCount: jobRows.retryCount,
        retryLimit: jobRows.retryLimit,
        timeout: sql`extract(epoch from ${jobRows.expireIn})`.mapWith(Number),
      })
  })
