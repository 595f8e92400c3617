import type { Jobs } from '../../../app/job.ts'
import { MAIL_QUEUE } from '../../../db/jobs/tables.ts'

/** The name of a job becomes the name of a queue, and part of the names of metrics and commands. */
const NAME = /^[a-z][A-Za-z0-9]{0,49}$/

/** Longest attempt, in seconds. pg-boss refuses a day. */
const MAX_TIMEOUT = 86_399

const isWithin = (value: number, min: number, max: number) =>
  Number.isInteger(value) && value >= min && value <= max

/** Returns a sentence for each mistake of the jobs. Cron expressions and time zones are checked at the start (engine/jobs/). */
export const mistakesOfJobs = (jobs: Jobs) =>
  Object.entries(jobs).flatMap(([name, { input, retries, timeout, schedule, groupConcurrency }]) => [
    ...(NAME.test(name)
      ? []
      : [`The job ${name}: a name has up to 50 letters and digits, and begins with a small letter`]),
    ...(name === MAIL_QUEUE ? [`The job ${name}: the job that sends e-mails has this name`] : []),
    ...(isWithin(retries, 0, 1000) ? [] : [`The job ${name}: \`retries\` must be an integer from 0 to 1000`]),
    ...(isWithin(timeout, 1, MAX_TIMEOUT)
      ? []
      : [`The job ${name}: \`timeout\` must be an integer from 1 to ${MAX_TIMEOUT}, in seconds`]),
    ...(isWithin(groupConcurrency, 1, Infinity)
      ? []
      : [`The job ${name}: \`groupConcurrency\` must be a positive integer`]),
    ...(schedule && !input.safeParse({}).success
      ? [`The job ${name}: a schedule runs with the input {}, which the schema must accept`]
      : []),
  ])
