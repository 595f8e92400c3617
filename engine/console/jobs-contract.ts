import { oc } from '@orpc/contract'
import { z } from 'zod'

import { MAX_TEXT } from './bounds.ts'

/** `waiting` includes jobs that run again after a failed attempt. A dead job has no attempts left. */
export const JobState = z.enum(['waiting', 'running', 'done', 'dead'])
export type JobState = z.infer<typeof JobState>

const JobSummary = z.object({
  id: z.string(),
  queue: z.string(),
  state: JobState,
  attempts: z.number(),
  maxAttempts: z.number(),
  /** The e-mail address of the person that the job names. */
  person: z.string().nullable(),
  /** Milliseconds since 1970: when the job was enqueued, when its next attempt is due, and when the job ended. */
  createdAt: z.number(),
  dueAt: z.number(),
  endedAt: z.number().nullable(),
  /** The error of the last attempt. */
  error: z.string().nullable(),
})
export type JobSummary = z.infer<typeof JobSummary>

const JobDetails = JobSummary.extend({
  /** JSON with secrets removed. */
  input: z.string().nullable(),
  /** The e-mail that the job sends, with its HTML at `/mails/{id}`. */
  letter: z.object({ to: z.string(), subject: z.string(), text: z.string() }).nullable(),
})
export type JobDetails = z.infer<typeof JobDetails>

const JobsRequest = z.object({ state: JobState.nullable(), queue: z.string().max(MAX_TEXT).nullable() })
export type JobsRequest = z.infer<typeof JobsRequest>

const Queue = z.object({
  name: z.string(),
  /** The most attempts of a job. Null for the queue of e-mails, for which the engine decides. */
  maxAttempts: z.number().nullable(),
  /** Null without a schedule. `nextRun`: milliseconds since 1970, or null if no time follows. */
  schedule: z.object({ cron: z.string(), timeZone: z.string(), nextRun: z.number().nullable() }).nullable(),
})
export type Queue = z.infer<typeof Queue>

const JobList = z.object({
  /** All declared queues, also without jobs. */
  queues: z.array(Queue),
  /** The number of jobs of each queue and state. */
  counts: z.array(z.object({ queue: z.string(), state: JobState, count: z.number() })),
  /** The newest first, at most 100. */
  jobs: z.array(JobSummary),
})
export type JobList = z.infer<typeof JobList>

const JobId = z.object({ id: z.uuid() })

const procedure = oc.errors({ NOT_FOUND: {}, CONFLICT: {} })

/** NOT_FOUND if the application declares neither jobs nor e-mails, or if the job has been removed. */
export const jobsContract = {
  list: procedure.input(JobsRequest).output(JobList),
  get: procedure.input(JobId).output(JobDetails),
  /** Runs a dead job again, with all its attempts. The audit trail has an entry. */
  retry: procedure.input(JobId),
  /** Makes a waiting job due now. */
  runNow: procedure.input(JobId),
}
