import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

import type { AnyJob, JobAttempt, JobContext, JobOutcome } from '../app/job.ts'
import { createConnection, type InsertMail } from '../call/connection.ts'
import type { Context, Log } from '../call/context.ts'
import { type Announce, type Live, requireRecipient } from '../call/live-stream.ts'
import type { Database } from '../db/connection/database.ts'
import { lockAttempt, release } from '../db/jobs/queries.ts'
import type { Recorder } from '../telemetry/recording.ts'
import { tracing } from '../telemetry/tracing.ts'
import { decode, type FetchedJob, type Queues } from './queues.ts'

export interface AttemptParts {
  db: Database
  log: Log
  now: () => Date
  settings: Context['settings']
  live: Pick<Live, 'announce'>
  insertMail: InsertMail
  recorder?: Pick<Recorder, 'recordAttempt'> | undefined
  metrics?: { observeJob: (name: string, outcome: JobOutcome, seconds: number) => void } | undefined
}

/** The reason of the signal when the instance stops. */
export class Stopping extends Error {}

/** Time between two attempts to store how an attempt ended, in milliseconds. */
const STORE_INTERVAL = 1000

/**
 * Runs an attempt, and stores how it ended. `end` aborts the attempt: at its timeout, and with `Stopping` when the instance stops.
 * A handler that ignores the signal continues, but its result is ignored.
 */
export function runAttempt(...parameters: Parameters<typeof runAndStore>): Promise<JobAttempt> {
  const [{ recorder }, , , { id, name, data }] = parameters
  const run = () => runAndStore(...parameters)
  return recorder?.recordAttempt({ id, name, input: data.input }, run) ?? run()
}

async function runAndStore(
  parts: AttemptParts,
  queues: Queues,
  job: AnyJob,
  fetched: FetchedJob,
  end: AbortController,
): Promise<JobAttempt> {
  const { id, name, retryCount, retryLimit, timeout } = fetched
  const startedAt = performance.now()
  const deadline = startedAt + timeout * 1000
  const timer = setTimeout(() => {
    end.abort(new Error(`The attempt has reached its timeout of ${timeout} s`))
  }, timeout * 1000)
  const run = () => runHandler(parts, queues, job, fetched, end.signal)
  const result = await (tracing?.procedure(['jobs', name], run) ?? run()).then(
    () => ({ outcome: 'completed' as const }),
    (thrown: unknown) => {
      // After the end of the attempt, the handler may throw an error of its own.
      const error = toError(end.signal.aborted ? end.signal.reason : thrown)
      return { outcome: outcomeOf(error, retryCount < retryLimit), error }
    },
  )
  clearTimeout(timer)
  await storeUntil(deadline, parts, name, () => storeOutcome(parts.db, queues, fetched, result))
  const seconds = (performance.now() - startedAt) / 1000
  parts.metrics?.observeJob(name, result.outcome, seconds)
  logOutcome(parts.log, fetched, result, seconds)
  return { name, id, ...result }
}

/** A handler can throw any value, also one that has no text. */
const toError = (thrown: unknown) =>
  thrown instanceof Error && typeof thrown.message === 'string'
    ? thrown
    : new Error(`The handler threw ${inspect(thrown)}`)

/**
 * Counts the e-mails of an attempt with the same content. Returns a key for each, which is the same in each attempt, so that a further
 * attempt does not send an e-mail again.
 */
function createMailKeys(id: string) {
  const counts = new Map<string, number>()
  return (content: string) => {
    const count = counts.get(content) ?? 0
    counts.set(content, count + 1)
    return `${id} ${count} ${content}`
  }
}

const outcomeOf = (error: unknown, isRetried: boolean): JobOutcome =>
  error instanceof Stopping ? 'released' : isRetried ? 'failed' : 'dead'

/** Runs the handler. Its announcements are sent at the end, also after an error, because statements may have committed. */
async function runHandler(
  { db, log, now, settings: { baseUrl, service, release }, live, insertMail }: AttemptParts,
  { insertJob }: Queues,
  job: AnyJob,
  { id, data, retryCount }: FetchedJob,
  signal: AbortSignal,
) {
  const announcements: Parameters<Announce>[] = []
  const context: JobContext = {
    ...createConnection(
      db,
      { insertJob, insertMail },
      { attributes: {}, headers: {}, reply: new Map(), keyOf: createMailKeys(id) },
    ),
    announce: (topic, ...recipients) => {
      requireRecipient(topic, recipients)
      announcements.push([topic, ...recipients])
    },
    log,
    now,
    settings: { baseUrl, service, release },
    id,
    attempt: retryCount + 1,
    scheduledFor: data.scheduledFor === undefined ? undefined : new Date(data.scheduledFor),
    signal,
  }
  try {
    const input = await decode(job, data)
    await Promise.race([job.run(input as never, context), rejectAtAbort(signal)])
  } finally {
    for (const change of announcements) live.announce(...change)
  }
}

const rejectAtAbort = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const fail = () => {
      reject(signal.reason as Error)
    }
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })

/** Stores nothing if another attempt has begun since. */
const storeOutcome = (
  db: Database,
  queues: Queues,
  { id, name, retryCount }: FetchedJob,
  { outcome, error }: Pick<JobAttempt, 'outcome' | 'error'>,
) =>
  db.transaction(async (tx): Promise<unknown> => {
    if (!(await lockAttempt(tx, name, id, retryCount))) return
    if (outcome === 'completed') return queues.complete(tx, name, id)
    return outcome === 'released' ? release(tx, name, id).execute() : queues.fail(tx, name, id, error)
  })

/**
 * Stores how an attempt ended, also after a short outage of the database. After the timeout of the attempt, another instance runs
 * the job again.
 */
async function storeUntil(
  deadline: number,
  { log }: AttemptParts,
  job: string,
  store: () => Promise<unknown>,
) {
  for (;;)
    try {
      await store()
      return
    } catch (error) {
      if (performance.now() > deadline) {
        log.error({ err: error, job }, 'the end of an attempt could not be stored; the job runs again')
        return
      }
      await sleep(STORE_INTERVAL)
    }
}

const MESSAGES = {
  completed: ['info', 'job completed'],
  released: ['info', 'job released, because the instance stops'],
  failed: ['warn', 'job failed; it runs again'],
  dead: ['error', 'job failed for the last time. Run it again with: tallystick jobs retry'],
} as const

function logOutcome(
  log: Log,
  { id, name, retryCount }: FetchedJob,
  { outcome, error }: Pick<JobAttempt, 'outcome' | 'error'>,
  seconds: number,
) {
  const [level, message] = MESSAGES[outcome]
  const fields = { job: name, id, attempt: retryCount + 1, duration: Math.round(seconds * 1000) }
  const isFailed = outcome === 'failed' || outcome === 'dead'
  log[level](isFailed ? { ...fields, err: error } : fields, message)
}
