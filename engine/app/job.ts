import type * as z from 'zod'

import type { CallConnection, Enqueueable } from '../call/connection.ts'
import type { AppServices } from './hooks.ts'

/** When the job of a schedule runs. */
export interface Schedule {
  /** Minute, hour, day of the month, month and day of the week: `0 9 * * 1-5`. */
  cron: string
  /** The time zone of the hours, such as `Europe/Berlin`. By default, UTC. */
  timeZone?: string
  /**
   * What happens with times at which no instance ran: by default, the job runs `once` for all of these times. With `skip`, a time
   * that is more than a minute ago is skipped.
   */
  missed?: 'once' | 'skip'
}

/**
 * What a handler of a job receives beside the input.
 *
 * @example
 * const send = ({ id, signal }: JobContext) => fetch(url, { method: 'POST', headers: { 'idempotency-key': id }, signal })
 */
export interface JobContext extends CallConnection, AppServices {
  /** The same in each attempt, for example as the key of a request to another service. */
  id: string
  /** 1 in the first attempt. */
  attempt: number
  /** The time of the schedule for which the job runs. Undefined for other jobs. */
  scheduledFor: Date | undefined
  /** Aborted at the end of `timeout`, and when the instance stops. */
  signal: AbortSignal
}

/**
 * How an attempt ended:
 * - `completed`
 * - `failed`: the job runs again.
 * - `dead`: the job has no attempts left.
 * - `released`: the instance stopped. The job runs again, and the attempt does not count.
 */
export type JobOutcome = 'completed' | 'failed' | 'dead' | 'released'

/** The result of an attempt. */
export interface JobAttempt {
  name: string
  id: string
  outcome: JobOutcome
  error?: unknown
}

interface JobOptions<Schema extends z.ZodObject> {
  /** The schema of the input. Each attempt validates the input again, because an earlier release may have stored it. */
  input: Schema
  /** The number of attempts after the first one, by default 5. The time between two attempts doubles, from about 4 seconds. */
  retries?: number
  /** Limit of an attempt, in seconds: by default 60. After this time, the attempt has failed. */
  timeout?: number
  schedule?: Schedule
  /** Returns the id of the account that the input is about. The deletion of the account deletes the job. */
  person?: (input: z.output<Schema>) => string | undefined
  /**
   * Returns the group of the job, for example the id of an account. A group runs at most `groupConcurrency` jobs at the same time, in
   * all processes, so that it does not delay the jobs of other groups. By default, jobs have no groups.
   */
  group?: (input: z.output<Schema>) => string | undefined
  /** By default 1. */
  groupConcurrency?: number
}

/** A job with any input. `never` accepts functions of every input. */
export interface AnyJob extends Enqueueable<z.ZodObject> {
  retries: number
  timeout: number
  schedule: Schedule | undefined
  person: ((input: never) => string | undefined) | undefined
  group: ((input: never) => string | undefined) | undefined
  groupConcurrency: number
  run: (input: never, context: JobContext) => Promise<unknown>
}

interface Job<Schema extends z.ZodObject> extends AnyJob {
  input: Schema
  person: ((input: z.output<Schema>) => string | undefined) | undefined
  group: ((input: z.output<Schema>) => string | undefined) | undefined
  run: (input: z.output<Schema>, context: JobContext) => Promise<unknown>
}

/** The jobs of an application by their names. The name of a job is the name of its queue. */
export type Jobs = Readonly<Record<string, AnyJob>>

/**
 * Declares a job: work that runs after the transaction that enqueues it, at least once. `run` can be called again after an error, a
 * timeout or the end of a process. Therefore, a repetition must do no harm.
 *
 * @example
 * export const remind = job({ input: z.object({ loanId: z.int() }), retries: 3 }, async ({ loanId }, { db, signal }) => {
 *   const loan = await loans.find(db, loanId)
 *   if (loan) await sendReminder(loan, { signal })
 * })
 */
export const job = <Schema extends z.ZodObject>(
  options: JobOptions<Schema>,
  run: Job<Schema>['run'],
): Job<Schema> => ({
  retries: RETRIES,
  timeout: TIMEOUT,
  groupConcurrency: 1,
  schedule: undefined,
  person: undefined,
  group: undefined,
  ...options,
  run,
})

const RETRIES = 5
const TIMEOUT = 60
