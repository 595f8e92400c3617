import type { Cron } from 'croner'

import type { AnyJob, Jobs, Schedule } from '../app/job.ts'
import type { Database } from '../db/connection/database.ts'
import * as query from '../db/jobs/queries.ts'
import type { Queues } from './queues.ts'

/** A time of a schedule with `missed: 'skip'` is missed after this time, in milliseconds. */
const MAX_DELAY = 60_000

interface Scheduled {
  name: string
  job: AnyJob
  schedule: Schedule
  times: Cron
}

export type Schedules = Awaited<ReturnType<typeof createSchedules>>

/**
 * Creates the schedules of the jobs. Several instances enqueue the same times: a lock on the schedule, and an id that follows from
 * the time, ensure one job for each time. All times are compared with the clock of the database.
 */
export async function createSchedules(jobs: Jobs, { insert }: Pick<Queues, 'insert'>) {
  const schedules = await parseSchedules(jobs)
  /** The next time of each schedule. Empty until the schedules are stored. */
  const next = new Map<Scheduled, Date>()

  async function store(db: Database, now: Date) {
    for (const scheduled of schedules) {
      const { name, schedule } = scheduled
      await query.putSchedule(db, name, schedule.cron, schedule.timeZone ?? 'UTC', now)
      // An earlier time may have been missed.
      next.set(scheduled, now)
    }
  }

  const enqueueLatest = (db: Database, { name, job, schedule, times }: Scheduled, now: Date) =>
    db.transaction(async (tx) => {
      const last = await query.lockSchedule(tx, name)
      // The latest time, including `now`.
      const [latest] = times.previousRuns(1, new Date(now.getTime() + 1000))
      if (!last || !latest || latest <= last || latest > now) return
      await query.setLast(tx, name, latest)
      if (schedule.missed === 'skip' && now.getTime() - latest.getTime() > MAX_DELAY) return
      await insert(tx, name, job, {}, { scheduledFor: latest })
    })

  async function advance(db: Database, scheduled: Scheduled, now: Date) {
    await enqueueLatest(db, scheduled, now)
    const following = scheduled.times.nextRun(now)
    if (following) next.set(scheduled, following)
    else next.delete(scheduled)
  }

  return {
    /**
     * Enqueues a job for each schedule with a new time. If there are several new times, only for the latest. Throws the errors of
     * schedules after the other schedules, and tries these schedules again at the next call.
     */
    async enqueueDue(db: Database, now: Date) {
      if (next.size === 0) await store(db, now)
      const errors: unknown[] = []
      for (const [scheduled, due] of next)
        if (now >= due)
          await advance(db, scheduled, now).catch((error: unknown) => {
            errors.push(error)
          })
      if (errors.length > 0) throw errors[0]
    },
  }
}

/** Returns the next time of each job with a schedule, by the name of the job. */
export const listNextRuns = async (jobs: Jobs) =>
  new Map((await parseSchedules(jobs)).map(({ name, times }) => [name, times.nextRun()]))

/** Throws if a cron expression or a time zone is not valid. */
async function parseSchedules(jobs: Jobs): Promise<Scheduled[]> {
  const declared = Object.entries(jobs).flatMap(([name, job]) =>
    job.schedule ? [{ name, job, schedule: job.schedule }] : [],
  )
  if (declared.length === 0) return []
  const { Cron } = await import('croner')
  return declared.map(({ name, job, schedule }) => {
    const { cron, timeZone: timezone = 'UTC' } = schedule
    try {
      const times = new Cron(cron, { timezone, mode: '5-part' })
      times.nextRun()
      return { name, job, schedule, times }
    } catch (error) {
      throw new Error(
        `The job ${name}: the schedule ${cron} in ${timezone} is not valid: ${(error as Error).message}`,
        { cause: error },
      )
    }
  })
}
