import { z } from 'zod'

import { insert, OPERATOR } from '../db/accounts/audit.ts'
import type { Database } from '../db/connection/database.ts'
import { hasJobs } from '../db/jobs/install.ts'
import { countStates, listDead } from '../db/jobs/inspection.ts'
import * as query from '../db/jobs/queries.ts'
import { type CommandContext, withDatabase } from './command-context.ts'
import type { CommandInput } from './command-input.ts'

/** The action in the audit trail. */
export const RETRY_ACTION = 'jobs.retry' as const

const Limit = z.coerce.number().int().min(1).max(1000)

/** Prints the number of jobs of each queue and state, and one line for each dead job: id, queue, time, attempts and error. */
export const list = (context: CommandContext, { queue, limit }: CommandInput) =>
  withJobs(context, async (db) => {
    const counts = (await countStates(db)).filter(({ name }) => queue === undefined || name === queue)
    if (counts.length === 0) context.print('There are no jobs.')
    for (const { name, state, count } of counts) context.print(`${name}  ${state}  ${count}`)
    const { data, error } = Limit.safeParse(limit || 100)
    if (error) throw new Error('--limit must be an integer from 1 to 1000')
    for (const { id, name, completedOn, attempts, error: message } of await listDead(db, data, queue))
      context.print(
        [id, name, completedOn?.toISOString() ?? '-', `${attempts} attempts`, message ?? '-'].join('  '),
      )
  })

/** Runs dead jobs again: the job with an id, or all dead jobs of a queue. */
export const retry = (context: CommandContext, { id, queue }: CommandInput) =>
  withJobs(context, async (db) => {
    const selection = [id, queue].filter((value) => value !== undefined)
    if (selection.length !== 1) throw new Error('Use --id ID or --queue NAME. For both, run: tallystick jobs')
    if (id !== undefined && !z.uuid().safeParse(id).success) throw new Error(`${id} is not the id of a job.`)
    const count = await retryDead(db, { ...(id && { id }), ...(queue && { queue }) })
    if (count === 0) throw new Error('There is no such dead job. For the ids, run: tallystick jobs')
    context.print(`Jobs that run again: ${count}`)
  })

/**
 * Runs dead jobs again, with all their attempts. In the same transaction, adds an entry to the audit trail. Returns the number of
 * jobs.
 */
export const retryDead = (db: Database, selection: { id?: string; queue?: string }) =>
  db.transaction(async (tx) => {
    const retried = await query.retryDead(tx, selection)
    const [first] = retried
    if (first)
      await insert(tx, {
        ...OPERATOR,
        action: RETRY_ACTION,
        outcome: 'accepted',
        subject: null,
        detail: `${first.name} ${selection.id ?? `(${retried.length})`}`,
      })
    return retried.length
  })

const withJobs = (context: CommandContext, work: (db: Database) => Promise<void>) =>
  withDatabase(context, async (db) => {
    if (!(await hasJobs(db))) throw new Error('The database has no jobs: the application declares none.')
    await work(db)
  })
