import { ORPCError } from '@orpc/server'
import { z } from 'zod'

import type { AnyJob } from '../app/job.ts'
import { queuesOf } from '../app/resource.ts'
import { findEmails } from '../db/accounts/users.ts'
import * as query from '../db/jobs/inspection.ts'
import { makeDue } from '../db/jobs/queries.ts'
import { type JobData, MAIL_QUEUE } from '../db/jobs/tables.ts'
import { composeStored } from '../jobs/mail.ts'
import { listNextRuns } from '../jobs/schedules.ts'
import { retryDead } from '../operator/jobs.ts'
import { MAX_WHOLE_VALUE } from './bounds.ts'
import type { JobDetails, JobList, JobsRequest, JobState, JobSummary, Queue } from './jobs-contract.ts'
import type { ServiceParts } from './people.ts'
import { describeValue } from './redaction.ts'

const MAX_JOBS = 100

/** The states of the database, as the console shows the states. */
const STATES = {
  created: 'waiting',
  retry: 'waiting',
  active: 'running',
  completed: 'done',
  cancelled: 'done',
  failed: 'dead',
} as const satisfies Record<query.JobSummary['state'], JobState>

const storedStates = Object.keys(STATES) as (keyof typeof STATES)[]

export type ConsoleJobs = ReturnType<typeof createJobs>

/** Reads the jobs of an application, runs dead jobs again, and makes waiting jobs due. */
export function createJobs({ app, db, settings }: ServiceParts) {
  const hasJobs = queuesOf(app).length > 0
  const requireJobs = () => {
    if (!hasJobs) throw new ORPCError('NOT_FOUND', { message: 'The application has no jobs' })
  }

  async function find(id: string) {
    requireJobs()
    const job = await query.find(db, id)
    if (!job) throw new ORPCError('NOT_FOUND', { message: 'The job has been removed' })
    return job
  }

  /** Returns the e-mail of a job. Undefined for other jobs, and if the template has mistakes. */
  function compose({ name, data }: { name: string; data: JobData | null }) {
    if (name !== MAIL_QUEUE || !data) return undefined
    try {
      return composeStored({ app, settings }, data)
    } catch {
      return undefined
    }
  }

  return {
    async list({ state, queue }: JobsRequest): Promise<JobList> {
      requireJobs()
      const selected = storedStates.filter((stored) => state === null || STATES[stored] === state)
      const jobs = await query.list(db, selected, MAX_JOBS, queue ?? undefined)
      const emails = await findEmails(
        db,
        jobs.map(({ person }) => person),
      )
      const counts = await query.countStates(db)
      const nextRuns = await listNextRuns(app.jobs)
      return {
        queues: queuesOf(app).map((name) => describeQueue(name, app.jobs[name], nextRuns)),
        counts: counts.map(({ name, state, count }) => ({ queue: name, state: STATES[state], count })),
        jobs: jobs.map((job) => describe(job, emails)),
      }
    },

    async get(id: string): Promise<JobDetails> {
      const job = await find(id)
      const letter = compose(job)
      return {
        ...describe(job, await findEmails(db, [job.person])),
        input: describeValue(job.data?.input, false),
        letter: letter
          ? { to: letter.to, subject: letter.subject, text: letter.text.slice(0, MAX_WHOLE_VALUE) }
          : null,
      }
    },

    async retry(id: string) {
      requireJobs()
      if ((await retryDead(db, { id })) === 0)
        throw new ORPCError('CONFLICT', { message: 'The job is not dead any more' })
    },

    async runNow(id: string) {
      requireJobs()
      if (!(await makeDue(db, id)))
        throw new ORPCError('CONFLICT', { message: 'The job does not wait any more' })
    },

    /** Returns the HTML of the e-mail that a job sends. Undefined without such a job. */
    async findMailHtml(id: string): Promise<string | undefined> {
      if (!hasJobs || !z.uuid().safeParse(id).success) return undefined
      const job = await query.find(db, id)
      return job && compose(job)?.html
    },
  }
}

const describeQueue = (
  name: string,
  job: AnyJob | undefined,
  nextRuns: ReadonlyMap<string, Date | null>,
): Queue => ({
  name,
  maxAttempts: job ? job.retries + 1 : null,
  schedule: job?.schedule
    ? {
        cron: job.schedule.cron,
        timeZone: job.schedule.timeZone ?? 'UTC',
        nextRun: nextRuns.get(name)?.getTime() ?? null,
      }
    : null,
})

const describe = (
  { id, name, state, attempts, maxAttempts, createdOn, startAfter, completedOn, ...job }: query.JobSummary,
  emails: ReadonlyMap<string, string>,
): JobSummary => ({
  id,
  queue: name,
  state: STATES[state],
  attempts,
  maxAttempts,
  // A deleted person has no address.
  person: job.person === null ? null : (emails.get(job.person) ?? null),
  createdAt: createdOn.getTime(),
  dueAt: startAfter.getTime(),
  endedAt: completedOn?.getTime() ?? null,
  error: job.error,
})
