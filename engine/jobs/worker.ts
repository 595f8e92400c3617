import { setTimeout as sleep } from 'node:timers/promises'

import type { AnyJob, JobAttempt, Jobs } from '../app/job.ts'
import { advance, removeFinished, selectState } from '../db/jobs/queries.ts'
import { type AttemptParts, runAttempt, Stopping } from './attempt.ts'
import type { FetchedJob, Queues } from './queues.ts'
import type { Schedules } from './schedules.ts'

/** Interval of the query for jobs that can run, in milliseconds. */
const POLL_INTERVAL = 1000

/** Maximum number of jobs that a process runs at the same time, in all queues and in one. */
const MAX_RUNNING = 10
const MAX_RUNNING_OF_QUEUE = 5

/** Time for running jobs to end when the instance stops, in milliseconds. */
const GRACE_PERIOD = 5000

const HOUR = 3_600_000

/** Fetches and runs jobs in this process, from `start` to `stop`. */
export function createWorker(parts: AttemptParts, jobs: Jobs, queues: Queues, schedules: Schedules) {
  const { db, log } = parts
  const names = Object.keys(jobs)
  const readState = selectState(names)
  /** The running attempts, with the controllers that end them. */
  const running = new Map<Promise<unknown>, { name: string; end: AbortController }>()
  let isStopping = false
  /** Ends the current pause between two polls. */
  let pause = new AbortController()
  let loop: Promise<void> | undefined
  let isFailing = false
  let cleanedAt = -Infinity
  /** Each poll begins with another queue, so that a full queue does not delay the others. */
  let turn = 0

  const freeSlots = (name: string) => {
    const ofQueue = [...running.values()].filter((attempt) => attempt.name === name).length
    return Math.min(MAX_RUNNING - running.size, MAX_RUNNING_OF_QUEUE - ofQueue)
  }

  const start = (job: AnyJob, fetched: FetchedJob) => {
    const end = new AbortController()
    const attempt = runAttempt(parts, queues, job, fetched, end)
    running.set(attempt, { name: fetched.name, end })
    const remove = () => {
      running.delete(attempt)
      queues.recordEnd(fetched)
    }
    attempt.then(remove, (error: unknown) => {
      remove()
      log.error({ err: error, job: fetched.name }, 'an attempt could not be run')
    })
  }

  /** Returns whether jobs were due. Fetches first, so that an error of another step does not keep the jobs from running. */
  async function poll() {
    const { now, hasExpired, due } = await readState(db)
    await fetchDue(due)
    if (hasExpired) await failLost()
    await cleanHourly()
    await schedules.enqueueDue(db, now)
    return due.length > 0
  }

  async function fetchDue(due: readonly string[]) {
    for (const name of rotate(due, turn++)) {
      const limit = freeSlots(name)
      const job = jobs[name]
      if (!job || limit <= 0 || isStopping) continue
      for (const each of await queues.fetch(db, name, limit)) start(job, each)
    }
  }

  async function failLost() {
    for (const { name, id } of await queues.failLost(db))
      log.warn({ job: name, id }, 'the instance of a job stopped during the attempt; the attempt has failed')
  }

  async function cleanHourly() {
    if (performance.now() - cleanedAt < HOUR) return
    await removeFinished(db)
    cleanedAt = performance.now()
  }

  async function pollSafely() {
    try {
      const hasDue = await poll()
      if (isFailing) log.info('jobs are fetched again')
      isFailing = false
      return hasDue
    } catch (error) {
      if (!isFailing) log.error({ err: error }, 'jobs cannot be fetched; trying again')
      isFailing = true
      return false
    }
  }

  async function work() {
    while (!isStopping) {
      pause = new AbortController()
      const hasDue = await pollSafely()
      const { signal } = pause
      const time = sleep(POLL_INTERVAL, undefined, { signal, ref: false }).catch(() => undefined)
      // A slot or a place in a group becomes free at the end of an attempt, and the queue may have more jobs.
      await (hasDue || running.size >= MAX_RUNNING ? Promise.race([time, ...settled()]) : time)
      pause.abort()
    }
  }

  const settled = () => [...running.keys()].map((attempt) => attempt.catch(() => undefined))

  return {
    start() {
      loop ??= work()
    },

    /** Waits GRACE_PERIOD for running jobs, and returns the others to their queues, with all their attempts. */
    async stop() {
      isStopping = true
      pause.abort()
      await loop
      await Promise.race([Promise.all(settled()), sleep(GRACE_PERIOD, undefined, { ref: false })])
      for (const { end } of running.values()) end.abort(new Stopping('The instance stops'))
      await Promise.all(settled())
    },

    /** Runs all jobs that are due until a time, one after the other, also jobs that these jobs enqueue. For tests. */
    async runDue(until: Date): Promise<JobAttempt[]> {
      const attempts: JobAttempt[] = []
      await schedules.enqueueDue(db, until)
      while (await advance(db, until, names))
        for (const [name, job] of Object.entries(jobs))
          for (const fetched of await queues.fetch(db, name, MAX_RUNNING))
            attempts.push(await runAttempt(parts, queues, job, fetched, new AbortController()))
      return attempts
    },
  }
}

const rotate = <Item>(items: readonly Item[], by: number) => {
  const start = items.length === 0 ? 0 : by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
