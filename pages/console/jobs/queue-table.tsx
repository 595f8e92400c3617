import type { JobList, JobState } from '../../../engine/console/jobs-contract.ts'
import { formatDate } from '../format.ts'

const states = { waiting: 'Waiting', running: 'Running', done: 'Done', dead: 'Dead' } satisfies Record<
  JobState,
  string
>

/** Adds up, because several states of the database are one state here. */
const numberOf = (counts: JobList['counts'], queue: string, state: string) =>
  counts
    .filter((each) => each.queue === queue && each.state === state)
    .reduce((sum, { count }) => sum + count, 0)

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
          {Object.entries(states).map(([state, label]) => (
            <th key={state} scope="col" className={state === 'done' ? 'number wide' : 'number'}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {queues.map(({ name, attempts, schedule }) => (
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
            <td className="number wide">{attempts}</td>
            {Object.keys(states).map((state) => (
              <td key={state} className={state === 'done' ? 'number wide' : 'number'}>
                {numberOf(counts, name, state)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
