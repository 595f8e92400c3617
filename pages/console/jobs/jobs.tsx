import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { JobList, JobState } from '../../../engine/console/jobs-contract.ts'
import { client } from '../client.ts'
import { addressOf } from '../location.ts'
import { Loaded } from '../problem.tsx'
import { Segments } from '../procedures/segments.tsx'
import { JobDetails } from './job-details.tsx'
import { JobTable } from './job-table.tsx'
import { QueueTable } from './queue-table.tsx'
import { countJobs, stateLabels } from './states.ts'

/** Time between two requests for the jobs, in milliseconds. */
const INTERVAL = 2000

type Choice = JobState | 'all'
const labels: Record<Choice, string> = { all: 'All', ...stateLabels }

/** Adds the number of jobs to the labels of the states. */
function labelsWith(counts: JobList['counts'], queue: string | null) {
  const numberOf = (choice: string) => countJobs(counts, choice === 'all' ? null : choice, queue)
  const entries = Object.entries(labels).map(([choice, label]) => [choice, `${label} ${numberOf(choice)}`])
  return { ...labels, ...(Object.fromEntries(entries) as Partial<typeof labels>) }
}

/** The jobs and the e-mails of the application, and the job with the id. */
export function Jobs({ id }: { id: string }) {
  const [choice, setChoice] = useState<Choice>('all')
  const [queue, setQueue] = useState<string | null>(null)
  const request = { state: choice === 'all' ? null : choice, queue }
  const query = useQuery({
    queryKey: ['jobs', request],
    queryFn: ({ signal }) => client.jobs.list(request, { signal }),
    placeholderData: (previous) => previous,
    refetchInterval: INTERVAL,
  })
  return (
    <Loaded query={query}>
      {({ queues, counts, jobs }) => (
        <>
          <div className="row head">
            <h2>Jobs</h2>
            <span className="grow" />
            <Segments
              legend="State"
              options={labelsWith(counts, queue)}
              value={choice}
              onChange={setChoice}
            />
            <QueueSelect queues={queues} queue={queue} onChange={setQueue} />
          </div>
          {!id && <QueueTable queues={queues} counts={counts} onSelect={setQueue} />}
          <div className={id ? 'requests has-detail' : 'requests'}>
            {jobs.length > 0 ? (
              <JobTable jobs={jobs} selected={id} />
            ) : (
              <section className="empty">
                <p className="muted">
                  {counts.length > 0
                    ? 'No job of this queue has this state.'
                    : 'No jobs yet. A job appears here once it is enqueued.'}
                </p>
              </section>
            )}
            {id && (
              <JobDetails
                key={id}
                id={id}
                onClose={() => {
                  location.hash = addressOf('jobs')
                }}
              />
            )}
          </div>
        </>
      )}
    </Loaded>
  )
}

interface QueueSelectProps {
  queues: JobList['queues']
  queue: string | null
  onChange: (queue: string | null) => void
}

const QueueSelect = ({ queues, queue, onChange }: QueueSelectProps) => (
  <select
    aria-label="Queue"
    value={queue ?? ''}
    onChange={({ target }) => {
      onChange(target.value || null)
    }}
  >
    <option value="">All queues</option>
    {queues.map(({ name }) => (
      <option key={name}>{name}</option>
    ))}
  </select>
)
