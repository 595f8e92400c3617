import { setTimeout as sleep } from 'node:timers/promises'

import { job, type JobContext } from 'tallystick'
import * as z from 'zod'

import { deliveries } from './db.ts'

async function record({ db, log, attempt, scheduledFor }: JobContext, label: string) {
  await db
    .insert(deliveries)
    .values({ label, attempt, process: process.pid, ...(scheduledFor && { scheduledFor }) })
  log.info({ label, attempt }, 'attempt recorded')
}

const forever = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error)
    })
  })

/** Records its attempt, and then does what `then` says. */
export const deliver = job(
  {
    input: z.object({
      label: z.string(),
      userId: z.string().optional(),
      until: z.date().optional(),
      then: z.enum(['end', 'fail', 'hang', 'ignore', 'crash']).default('end'),
    }),
    retries: 2,
    timeout: 2,
    person: ({ userId }) => userId,
  },
  async ({ label, then }, context) => {
    await record(context, label)
    if (then === 'fail') throw new Error(`The address of ${label} is unknown\0`)
    if (then === 'hang') await forever(context.signal)
    if (then === 'ignore') await new Promise(() => undefined)
    if (then === 'crash') process.kill(process.pid, 'SIGKILL')
  },
)

/** A job without retries, whose queue the tests can delete. */
export const weigh = job({ input: z.object({ label: z.string() }), retries: 0 }, ({ label }, context) =>
  record(context, label),
)

/** A job that ends only with its instance. */
export const haul = job(
  { input: z.object({ label: z.string() }), retries: 0, timeout: 600 },
  async ({ label }, context) => {
    await record(context, label)
    // Throws an AbortError, and not the reason of the signal.
    await sleep(600_000, undefined, { signal: context.signal })
  },
)

export const sweep = job(
  {
    input: z.object({}),
    schedule: { cron: '30 2 * * *', timeZone: 'Europe/Berlin' },
  },
  (_, context) => record(context, 'sweep'),
)

export const greet = job(
  { input: z.object({}), schedule: { cron: '0 * * * *', missed: 'skip' } },
  (_, context) => record(context, 'greet'),
)
