import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual, toUSVString } from 'node:util'

import { LRUCache } from 'lru-cache'
import { v5 } from 'uuid'

import type { AnyJob, Jobs } from '../app/job.ts'
import type { EnqueueOptions, InsertJob } from '../call/connection.ts'
import type { Database } from '../db/connection/database.ts'
import { importPgBoss } from '../db/jobs/install.ts'
import { toErrorMessage } from '../db/errors.ts'
import { fetchGrouped } from '../db/jobs/groups.ts'
import * as query from '../db/jobs/queries.ts'
import { JOB_SCHEMA, type JobData } from '../db/jobs/tables.ts'
import { recordAddedJob } from '../telemetry/recording.ts'
import { serializer } from '../values/serializer.ts'
import { executorOn } from './executor.ts'

/** The namespace of the ids of jobs with a key. The namespace must not change, because instances of several releases use the ids. */
const NAMESPACE = '6f0c4f2e-93a8-4b0e-a3d5-1f6f2a5d7c11'

/** Maximum size of an input as JSON, in bytes. A job with more data stores the data in a table, and has its id as input. */
const MAX_INPUT = 64 * 1024

/** NUL and unpaired surrogates, as JSON writes them. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** The last time of a job, because ISO texts of later years have another form. */
const MAX_TIME = Date.UTC(9999, 11, 31)

/** Base of the delay before a retry, in seconds. pg-boss waits once to twice this time, and twice as long after each attempt. */
const RETRY_DELAY = 3

/** pg-boss removes jobs that wait longer. A job waits until an instance runs it. */
const MAX_WAIT_DAYS = 36_500

/** Number of groups of a queue whose last end is known. */
const MAX_GROUP_ENDS = 200

/** The error of an attempt whose instance has ended. */
const LOST = 'The attempt did not end within its timeout: its instance has stopped'

/** A job that an instance has fetched. */
export interface FetchedJob {
  id: string
  name: string
  data: JobData
  /** Null or undefined for a job without a group. */
  group?: string | null
  retryCount: number
  retryLimit: number
  /**
   * Limit of an attempt, in seconds, as stored with the job. After this time, other instances fail the attempt, also if the release
   * of this instance declares another limit.
   */
  timeout: number
}

interface NewJob extends EnqueueOptions {
  /** The time of a schedule. Identifies the job. */
  scheduledFor?: Date
}

export type Queues = Awaited<ReturnType<typeof createQueues>>

/** Creates the operations on the queues of jobs, each on a given connection. */
export async function createQueues(jobs: Jobs) {
  const PgBoss = await importPgBoss()
  const boss = new PgBoss({
    // Each operation names its connection.
    db: { executeSql: () => Promise.reject(new Error('An operation of pg-boss has no connection')) },
    schema: JOB_SCHEMA,
    supervise: false,
    schedule: false,
    migrate: false,
  })
  const names = new Map(Object.entries(jobs).map(([name, job]) => [job as object, name]))

  async function insert(db: Database, name: string, job: AnyJob, input: unknown, options: NewJob) {
    const { data, group } = await encode(name, job, input, options.scheduledFor)
    const id = idOf(name, options)
    const sent = await boss.send(name, data, {
      id,
      ...(group !== undefined && { singletonKey: group }),
      ...(options.after && { startAfter: validTime(name, options.after) }),
      retryLimit: job.retries,
      retryDelay: RETRY_DELAY,
      retryBackoff: true,
      expireInSeconds: job.timeout,
      retentionDays: MAX_WAIT_DAYS,
      db: executorOn(db, 'jobs_insert'),
    })
    // pg-boss returns null for an existing job, and also for a missing queue.
    if (sent === null && !(await query.exists(db, name, id)))
      throw new Error(`The database has no queue for the job ${name}. Run: tallystick migrate`)
    return id
  }

  const insertJob: InsertJob = async (db, job, input, options = {}) => {
    const name = names.get(job)
    const declared = name === undefined ? undefined : jobs[name]
    if (name === undefined || !declared)
      throw new Error('The job is not declared: add the job to `jobs` of defineApp')
    const id = await insert(db, name, declared, input, options)
    recordAddedJob({ id, queue: name })
    return id
  }

  /** When the last job of a group has ended in this process, by queue and group, in seconds since the Unix epoch. */
  const endsByQueue = new Map<string, LRUCache<string, number>>()

  function endsOf(name: string) {
    const found = endsByQueue.get(name) ?? new LRUCache({ max: MAX_GROUP_ENDS })
    endsByQueue.set(name, found)
    return found
  }

  /** Fetches jobs that can run. */
  async function fetch(db: Database, name: string, limit: number): Promise<FetchedJob[]> {
    const job = jobs[name]
    if (job?.group) {
      const { groupConcurrency } = job
      const ends = Object.fromEntries(endsOf(name).entries())
      return fetchGrouped(db, name, { limit, groupConcurrency, ends })
    }
    const { executeSql } = executorOn(db, 'jobs_fetch')
    let statement: ReturnType<typeof executeSql> | undefined
    const fetched = await boss.fetch<JobData>(name, {
      batchSize: limit,
      includeMetadata: true,
      db: { executeSql: (...parameters) => (statement = executeSql(...parameters)) },
    })
    // Throws the error of the statement: pg-boss ignores the error, and returns no jobs.
    await statement
    // The drivers return a number of this type as a text.
    return fetched.map(({ expireInSeconds, ...job }) => ({
      ...job,
      timeout: parseFloat(String(expireInSeconds)),
    }))
  }

  return {
    insert,
    insertJob,
    fetch,
    /** Remembers the end of a job of a group, so that the groups alternate. */
    recordEnd({ name, group }: FetchedJob) {
      if (group != null) endsOf(name).set(group, Date.now() / 1000)
    },
    /** Returns the id of the job with a key, if the database has the job. */
    async findKeyed(db: Database, name: string, key: string) {
      const id = idOf(name, { key })
      return (await query.exists(db, name, id)) ? id : undefined
    },
    complete: (db: Database, name: string, id: string) =>
      boss.complete(name, id, {}, { db: executorOn(db, 'jobs_complete') }),
    /** Ends an attempt. The job runs again, or is dead after its last attempt. */
    fail: (db: Database, name: string, id: string, error: unknown) =>
      boss.fail(name, id, { message: storable(toErrorMessage(error)) }, { db: executorOn(db, 'jobs_fail') }),
    /** Fails the attempts of instances that have ended. Such jobs run again without a delay. */
    failLost: (db: Database) =>
      db.transaction(async (tx) => {
        const lost = await query.lockExpired(tx)
        for (const { name, id } of lost)
          await boss.fail(name, id, { message: LOST }, { db: executorOn(tx, 'jobs_fail') })
        const ids = lost.map(({ id }) => id)
        if (lost.length > 0) await query.skipDelay(tx, ids)
        return lost
      }),
  }
}

async function encode(name: string, job: AnyJob, input: unknown, scheduledFor: Date | undefined) {
  const parsed = await job.input.parseAsync(input)
  const [json, meta] = serializer.serialize(await withoutUndeclared(job, input, parsed))
  const text = JSON.stringify([json, meta])
  if (UNSTORABLE.test(text))
    throw new Error(
      `The input of the job ${name} has a NUL or half a character, which PostgreSQL cannot store`,
    )
  const size = Buffer.byteLength(text)
  if (size > MAX_INPUT)
    throw new Error(
      `The input of the job ${name} has ${size} bytes, and at most ${MAX_INPUT} are possible. Store the data in a table, and enqueue its id`,
    )
  const person = job.person?.(parsed as never)
  const data: JobData = {
    input: json,
    meta,
    ...(person !== undefined && { person }),
    ...(scheduledFor && { scheduledFor: scheduledFor.toISOString() }),
  }
  return { data, group: job.group?.(parsed as never) }
}

/**
 * Returns what the schema declares of an input: its output, if the schema converts the output to itself. Otherwise the input with the
 * keys of the output, because each attempt parses the stored value again.
 */
async function withoutUndeclared({ input: schema }: AnyJob, input: unknown, parsed: object) {
  const again = await schema.safeParseAsync(parsed)
  if (isDeepStrictEqual(again.data, parsed)) return parsed
  return Object.fromEntries(Object.entries(Object(input) as object).filter(([key]) => key in parsed))
}

/** Converts the stored input of a job to the input of its handler. */
export const decode = (job: AnyJob, { input, meta }: JobData) =>
  job.input.parseAsync(serializer.deserialize(input, [...meta]))

function idOf(name: string, { key, scheduledFor }: NewJob) {
  if (scheduledFor) return v5(`schedule ${name} ${scheduledFor.toISOString()}`, NAMESPACE)
  return key === undefined ? randomUUID() : v5(`key ${name} ${key}`, NAMESPACE)
}

function validTime(name: string, after: Date) {
  if (!(after.getTime() <= MAX_TIME)) throw new Error(`The job ${name}: \`after\` must be a time before 9999`)
  return after
}

/** Removes what PostgreSQL cannot store in JSON, and limits the length. */
const storable = (text: string) => toUSVString(text.slice(0, 1000)).replaceAll('\0', '')
