import type { JobState, JobSummary } from '../../../engine/console/jobs-contract.ts'
import { formatDate } from '../format.ts'
import { addressOf } from '../location.ts'

/** The classes of the states. */
const kinds: Record<JobState, string> = {
  waiting: 'closed',
  running: 'closed',
  done: 'succeeded',
  dead: 'failed',
}

export const State = ({ state }: { state: JobState }) => (
  <span className={`status ${kinds[state]}`}>{state}</span>
)

/** The table of jobs. CSS hides the columns `wide` on narrow screens, and `extra` beside the details. */
export const JobTable = ({ jobs, selected }: { jobs: readonly JobSummary[]; selected: string }) => (
  <div className="scroll card jobs" tabIndex={0} role="group" aria-label="Jobs">
    <table>
      <thead>
        <tr>
          <th scope="col">Job</th>
          <th scope="col">State</th>
          <th scope="col" className="number">
            Attempts
          </th>
          <th scope="col" className="wide extra">
            Person
          </th>
          <th scope="col" className="wide">
            Due
          </th>
          <th scope="col" className="wide extra">
            Error
          </th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.id} className={job.id === selected ? 'selected' : undefined}>
            <th scope="row">
              <a href={addressOf('jobs', job.id)} aria-current={job.id === selected ? 'true' : undefined}>
                {job.queue}
              </a>
            </th>
            <td>
              <State state={job.state} />
            </td>
            <td className="number">
              {job.attempts} of {job.maxAttempts}
            </td>
            <td className="wide extra caller">{job.person}</td>
            <td className="wide">{formatDate(job.dueAt)}</td>
            <td className="wide extra caller">{job.error}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
