import type { JobList, JobState } from '../../../engine/console/jobs-contract.ts'

export const stateLabels = {
  waiting: 'Waiting',
  running: 'Running',
  done: 'Done',
  dead: 'Dead',
} satisfies Record<JobState, string>

/** Adds up the numbers of jobs, because several states of the database are one state here. Null for all states or queues. */
export const countJobs = (counts: JobList['counts'], state: string | null, queue: string | null) =>
  counts
    .filter((each) => (state === null || each.state === state) && (queue === null || each.queue === queue))
    .reduce((sum, { count }) => sum + count, 0)
