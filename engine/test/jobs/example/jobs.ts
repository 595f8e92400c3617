import { job } from 'tallystick'
import * as z from 'zod'

/** Reminds a person of a loan. */
export const remind = job(
  {
    input: z.object({ loanId: z.int(), userId: z.string() }),
    retries: 3,
    timeout: 30,
    person: ({ userId }) => userId,
  },
  async ({ loanId }, { log, id, attempt, signal }) => {
    signal.throwIfAborted()
    log.info({ loanId, id, attempt }, 'reminder')
    await Promise.resolve()
  },
)

/** Closes the month, at six o'clock in Berlin on its first day. */
export const closeMonth = job(
  {
    input: z.object({}),
    schedule: { cron: '0 6 1 * *', timeZone: 'Europe/Berlin', missed: 'once' },
  },
  async (_, { log, scheduledFor }) => {
    log.info({ scheduledFor }, 'month closed')
    await Promise.resolve()
  },
)
