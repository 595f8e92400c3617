import type { JobList } from '../../../engine/console/jobs-contract.ts'
import { formatDate } from '../format.ts'
import { countJobs, stateLabels } from './states.ts'

interface Props extends Pick<JobList, 'queues' | 'counts'> {
  onSelect: (queue: string) => void
}

/** The declared queues with their schedules and the numbers of their jobs. CSS hides the columns `wide` on narrow screens. */
export const QueueTable = ({ queues, counts, onSelect }: Props) => (
  <div className="scroll card queues" tabIndex={0} role="group" aria-label="Queues">
    <table>
      <thead>
        <tr>
          <th scope="col">Queue</th>
          <th scope="col">Schedule</th>
          <th scope="col" className="wide">
            Next run
          </th>
          <th scope="col" className="number wide">
            Attempts
          </th>
          {Object.entries(stateLabels).map(([state, label]) => (
            <th key={state} scope="col" className={state === 'done' ? 'number wide' : 'number'}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {queues.map(({ name, maxAttempts, schedule }) => (
          <tr key={name}>
            <th scope="row">
              <button
                type="button"
                className="link"
                onClick={() => {
                  onSelect(name)
                }}
              >
                {name}
              </button>
            </th>
            <td>
              {schedule ? (
                <>
                  <code>{schedule.cron}</code> <small className="muted">{schedule.timeZone}</small>
                </>
              ) : (
                <span className="muted">none</span>
              )}
            </td>
            <td className="wide">{schedule?.nextRun && formatDate(schedule.nextRun)}</td>
            <td className="number wide">{maxAttempts}</td>
            {Object.keys(stateLabels).map((state) => (
              <td key={state} className={state === 'done' ? 'number wide' : 'number'}>
                {countJobs(counts, state, name)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
