import { z } from 'zod'

import { LiveEntry } from '../live/live-contract.ts'

// What the console records of a request or of an attempt of a job.

const RecordedError = z.object({
  type: z.string(),
  code: z.string().optional(),
  message: z.string().optional(),
  /** The failed statement, without its parameters. */
  statement: z.string().optional(),
  stack: z.string().optional(),
  /** What is wrong with the input or the output, by path. */
  issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  /** The cause of the error, which can have a cause itself. */
  get cause() {
    return RecordedError.optional()
  },
})
export type RecordedError = z.infer<typeof RecordedError>

export const RecordedRequest = z.object({
  /** The id of the request, or of the job. */
  id: z.string(),
  /** Milliseconds since 1970. */
  time: z.number(),
  /** Empty for an attempt of a job. */
  method: z.string(),
  /** Without the query. Empty for an attempt of a job. */
  path: z.string(),
  /** `books.create`, or `jobs.remind` for an attempt of a job. */
  operation: z.string().nullable(),
  protocol: z.enum(['REST', 'RPC', 'MCP', 'Datastar', 'other', 'job']),
  /** The e-mail address of the person. */
  person: z.string().nullable(),
  /** The id of the app, if the caller has an access token. */
  app: z.string().nullable(),
  /** Null if the client closed the connection before the answer, and for an attempt of a job. */
  status: z.number().nullable(),
  /**
   * How an attempt of a job ended: a failed job runs again, a dead job does not, and of a released job the instance stopped. Null for a
   * request.
   */
  outcome: z.enum(['completed', 'failed', 'dead', 'released']).nullable(),
  /** Whether the answer is a stream of events, which lasts until its reader leaves. */
  isStream: z.boolean(),
  /** In milliseconds. */
  duration: z.number(),
  /** Milliseconds in which at least one statement has run. */
  databaseTime: z.number(),
  /** The first jobs that the request or the job has added. An undone transaction undoes them. */
  jobs: z.array(z.object({ id: z.string(), queue: z.string() })),
  statementCount: z.number(),
  statements: z.array(
    z.object({
      /** Names the statement, as long as the request is recorded. */
      id: z.string(),
      name: z.string(),
      /** Cut at a limit. */
      text: z.string(),
      /** From the arrival of the request, in milliseconds. */
      start: z.number(),
      duration: z.number(),
      failed: z.boolean(),
    }),
  ),
  /** The first lines of the log, as JSON, each cut at a limit. */
  lines: z.array(z.string()),
  /** The first calls of procedures: a batch has several. For an attempt of a job, the job with its input. */
  calls: z.array(
    z.object({
      operation: z.string(),
      /** From the arrival of the request until the call began, in milliseconds: the queue and the body. */
      start: z.number(),
      /** The same for the end of the guard. Null if the guard has refused the call, and for a job. */
      permitted: z.number().nullable(),
      end: z.number(),
      /** JSON with secrets removed, or null. Cut at a limit. */
      input: z.string().nullable(),
      output: z.string().nullable(),
      error: RecordedError.nullable(),
    }),
  ),
})
export type RecordedRequest = z.infer<typeof RecordedRequest>

/** Requests and live updates, the oldest first. */
export const RecordedBatch = z.object({ requests: z.array(RecordedRequest), live: z.array(LiveEntry) })
export type RecordedBatch = z.infer<typeof RecordedBatch>

export const Plan = z.object({
  /** Empty if the statement cannot be explained. */
  text: z.string(),
  /** Why the statement cannot be explained. */
  reason: z.string().nullable(),
})
export type Plan = z.infer<typeof Plan>
