import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'

import type { AttributesOf, Context } from '../call/context.ts'
import type { LiveRecorder } from '../call/live-observer.ts'
import type { StatementObserver } from '../db/connection/observer.ts'

/** A call of a procedure, with its values. */
export interface RecordedCall {
  operation: string
  input: unknown
  /** When the call began, passed the guard, and ended, as `performance.now()` returns times. */
  startedAt: number
  permittedAt?: number
  endedAt?: number
  /** Undefined until the call has ended. */
  outcome?: { output: unknown } | { error: unknown }
}

/** Maximum number of calls of a recording. */
const MAX_CALLS = 20

/** What the console for developers (engine/console/) records of a request. */
export interface Recording {
  /** The id of the request or of the job. */
  id: string
  /** The first calls. */
  calls: RecordedCall[]
  /** When the request arrived, as `performance.now()` returns times. */
  startedAt: number
  /** The first statements, with start after the request and duration in milliseconds. */
  statements: { id: string; name: string; text: string; start: number; duration: number; failed: boolean }[]
  /** The first lines of the log, as the log writes the lines, each cut at a limit. */
  lines: string[]
  /** The first jobs that the request or the job has added, with the names of their queues. E-mails are jobs. */
  jobs: { id: string; queue: string }[]
  statementCount: number
  /** Milliseconds in which at least one statement has run. */
  databaseTime: number
  /** The statements that run now, and when the first of them began, as `performance.now()` returns times. */
  runningStatements: number
  databaseSince: number
  caller?: { email: string; clientId: string | null }
  /**
   * Whether the request has ended, or the last developer has left. Then nothing is added: timers that the request has
   * started, for example of a live state, keep the recording as their context.
   */
  isOver: boolean
}

/** Records requests and attempts of jobs while a developer looks (engine/console/). */
export interface Recorder extends LiveRecorder {
  observeStatement: StatementObserver
  /** Returns a function that handles and records a request. Without a developer who looks, returns `handle` itself. */
  record: (
    request: IncomingMessage,
    response: ServerResponse,
    attributesOf: AttributesOf,
    handle: () => void,
  ) => () => void
  /** Runs and records an attempt of a job. Without a developer who looks, only runs the attempt. */
  recordAttempt: <Result extends RecordedAttempt>(
    job: { id: string; name: string; input: unknown },
    run: () => Promise<Result>,
  ) => Promise<Result>
}

/** The result of an attempt, as far as a recorder reads the result. */
export interface RecordedAttempt {
  /** The id of the job. */
  id: string
  outcome: 'completed' | 'failed' | 'dead' | 'released'
  error?: unknown
}

/** The recording of the current request, and its current call: a batch has several. */
export interface CurrentRecording {
  recording: Recording
  call?: RecordedCall
}

/** Without a developer who looks, no request has a recording. */
export const recordings = new AsyncLocalStorage<CurrentRecording>()

/** Limits of the lines of a recording: number, and length in characters. */
const MAX_LINES = 20
const MAX_LINE = 2000

/** Adds a line of the log to the recording of the current request. */
export function recordLine(line: string) {
  const recording = recordings.getStore()?.recording
  if (recording && !recording.isOver && recording.lines.length < MAX_LINES)
    recording.lines.push(line.slice(0, MAX_LINE).trimEnd())
}

/** Maximum number of jobs of a recording. */
const MAX_JOBS = 20

/** Adds an added job to the recording of the current request or job. */
export function recordAddedJob(job: Recording['jobs'][number]) {
  const recording = recordings.getStore()?.recording
  if (recording && !recording.isOver && recording.jobs.length < MAX_JOBS) recording.jobs.push(job)
}

/** Adds a call to a recording, up to a limit. `run` returns the output as the middleware of oRPC does. */
export async function recordCall<Result extends { output: unknown }>(
  recording: Recording,
  { operation, input, context }: { operation: string; input: unknown; context: Context },
  run: () => Promise<Result>,
): Promise<Result> {
  if (recording.isOver || recording.calls.length >= MAX_CALLS) return run()
  const call: RecordedCall = { operation, input, startedAt: performance.now() }
  recording.calls.push(call)
  try {
    const result = await recordings.run({ recording, call }, run)
    call.outcome = { output: result.output }
    return result
  } catch (error) {
    call.outcome = { error }
    throw error
  } finally {
    call.endedAt = performance.now()
    const { person } = context.attributes
    // The context has the caller already if the attributes have the person.
    const caller = person === undefined ? undefined : await context.caller().catch(() => undefined)
    if (caller) recording.caller = { email: caller.user.email, clientId: caller.session.clientId }
  }
}
