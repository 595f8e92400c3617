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
}

/**
 * Fetches jobs of a queue with groups, which pg-boss cannot: first of the groups with the fewest running jobs, then of those with the
 * fewest waiting jobs. So a group with many jobs does not delay the others. Instances fetch from a queue one after the other.
 */
export const fetchGrouped = (db: Database, name: string, { limit, groupConcurrency }: Limits) =>
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
        createdOn: jobRows.createdOn,
        position:
          sql<number>`coalesce(${running.count}, 0) + row_number() over (partition by ${group} order by ${jobRows.createdOn}, ${jobRows.id})`.as(
            'position',
          ),
        backlog: sql<number>`count(*) over (partition by ${group})`.as('backlog'),
      })
      .from(jobRows)
      .leftJoin(running, eq(running.group, jobRows.group))
      .where(and(eq(jobRows.name, name), isWaiting, lt(jobRows.startAfter, sql`now()`)))
      .as('waiting')
    const next = tx
      .select({ id: waiting.id })
      .from(waiting)
      .where(lte(waiting.position, groupConcurrency))
      .orderBy(asc(waiting.position), asc(waiting.backlog), asc(waiting.createdOn), asc(waiting.id))
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
        data: sql<JobData>`${jobRows.data}`,
        retryCount: jobRows.retryCount,
        retryLimit: jobRows.retryLimit,
        timeout: sql`extract(epoch from ${jobRows.expireIn})`.mapWith(Number),
      })
  })
