import type { JobAttempt } from '../app/job.ts'
import { MAIL_QUEUE } from '../db/jobs/tables.ts'
import { hasMails } from '../app/mail-template.ts'
import type { App } from '../app/resource.ts'
import type { Inserts } from '../call/connection.ts'
import type { ConsumeRateLimit } from '../call/context.ts'
import type { Mailer } from '../identity/mail.ts'
import type { AttemptParts } from './attempt.ts'
import { createInsertMail, createMailJob } from './mail.ts'
import { createQueues } from './queues.ts'
import { createSchedules } from './schedules.ts'
import { createWorker } from './worker.ts'

/** The jobs of this process. */
export interface JobService extends Inserts {
  /** Creates the worker, which runs jobs between its `start` and its `stop`. */
  createWorker: (parts: AttemptParts) => Worker
}

export interface Worker {
  start: () => void
  stop: () => Promise<void>
  runDue: (until: Date) => Promise<JobAttempt[]>
}

/** Without declared jobs, the process neither imports pg-boss nor polls. */
const withoutJobs: JobService = {
  insertJob: () => Promise.reject(new Error('The application declares no jobs: add `jobs` to defineApp')),
  insertMail: () =>
    Promise.reject(new Error('The application declares no e-mails: add `mails` to defineApp')),
  createWorker: () => ({
    start: () => undefined,
    stop: () => Promise.resolve(),
    runDue: () => Promise.resolve([]),
  }),
}

interface JobParts {
  app: Pick<App, 'name' | 'jobs' | 'mails'>
  settings: { baseUrl: string }
  consumeRateLimit: ConsumeRateLimit
}

/** Creates the jobs of an application, and the one that sends its e-mails. Throws if a schedule is not valid, or if pg-boss is missing. */
export async function createJobs(parts: JobParts, send: Mailer): Promise<JobService> {
  const mailJob = createMailJob(parts, send)
  const sendsMails = hasMails(parts.app.mails)
  const jobs = { ...parts.app.jobs, ...(sendsMails && { [MAIL_QUEUE]: mailJob }) }
  if (Object.keys(jobs).length === 0) return withoutJobs
  const queues = await createQueues(jobs)
  const schedules = await createSchedules(jobs, queues)
  return {
    insertJob: queues.insertJob,
    insertMail: sendsMails
      ? createInsertMail(parts, mailJob, queues, parts.consumeRateLimit)
      : withoutJobs.insertMail,
    createWorker: (attemptParts) => createWorker(attemptParts, jobs, queues, schedules),
  }
}
