import type { StandardRPCJsonSerializedMetaItem } from '@orpc/client/standard'
import { integer, interval, jsonb, pgSchema, text, uuid } from 'drizzle-orm/pg-core'

import { timestamptz } from '../columns.ts'

/** The schema of pg-boss. An application may use pg-boss itself, in its default schema. */
export const JOB_SCHEMA = 'tallystick_jobs'

const schema = pgSchema(JOB_SCHEMA)

/** In the order of the enum in the database: a state before `active` means that the job waits. */
const state = schema.enum('job_state', ['created', 'retry', 'active', 'completed', 'cancelled', 'failed'])

/** What a job stores: the input as JSON, and the types that JSON lacks. */
export interface JobData {
  input: unknown
  meta: readonly StandardRPCJsonSerializedMetaItem[]
  /** The id of the account that the input is about. */
  person?: string
  /** The time of the schedule, as an ISO text. */
  scheduledFor?: string
}

/** The columns of a job that the engine reads. pg-boss inserts, fetches, completes and fails jobs. */
export const jobRows = schema.table('job', {
  id: uuid().notNull(),
  name: text().notNull(),
  data: jsonb().$type<JobData>(),
  /** Jobs with the same value share the limit `groupConcurrency`. pg-boss does not use the column in the queues of the engine. */
  group: text('singleton_key'),
  state: state().notNull(),
  retryCount: integer().notNull(),
  retryLimit: integer().notNull(),
  startAfter: timestamptz().notNull(),
  startedOn: timestamptz(),
  expireIn: interval().notNull(),
  createdOn: timestamptz().notNull(),
  completedOn: timestamptz(),
  /** The error of the last attempt. */
  output: jsonb().$type<{ message?: string }>(),
})

/** The last time of each schedule for which a job was enqueued. `data` contains the time. */
export const scheduleRows = schema.table('schedule', {
  name: text().primaryKey(),
  cron: text().notNull(),
  timezone: text(),
  data: jsonb().$type<{ last: string }>(),
})

export const queueRows = schema.table('queue', { name: text().primaryKey() })

export const versionRows = schema.table('version', { version: integer().primaryKey() })

/** The name of the queue of e-mails, which no job of an application can have. */
export const MAIL_QUEUE = 'mail'
