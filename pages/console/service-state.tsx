import { queryOptions, useQuery } from '@tanstack/react-query'

import { client } from './client.ts'
import { formatDate, formatDuration, formatSize } from './format.ts'
import { durationOf, useRecording } from './requests/recording.ts'

const stateQuery = queryOptions({
  queryKey: ['state'],
  queryFn: ({ signal }) => client.state(undefined, { signal }),
  refetchInterval: 5000,
})

/** Returns the duration that 95 % of the durations do not exceed. */
function percentile95(durations: readonly number[]) {
  const sorted = durations.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.95) - 1]
}

/** The health, the speed and the memory of the service, every five seconds. */
export function ServiceState() {
  const { data } = useQuery(stateQuery)
  const { requests } = useRecording()
  // An attempt of a job can take minutes.
  const durations = requests.flatMap((request) =>
    request.protocol === 'job' ? [] : (durationOf(request) ?? []),
  )
  const p95 = percentile95(durations)
  if (!data) return null
  const { database, memory, uptime } = data
  return (
    <section aria-label="State">
      <h3>State</h3>
      <dl className="facts strip">
        <div>
          <dt>Health</dt>
          <dd>
            {database === null ? (
              <span className="status failed">The database does not answer</span>
            ) : (
              <>
                <span className="status succeeded">Healthy</span>, database in {formatDuration(database)}
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>95 % of requests</dt>
          <dd>
            {p95 === undefined
              ? 'No request is recorded yet'
              : `within ${formatDuration(p95)} (the last ${durations.length})`}
          </dd>
        </div>
        <div>
          <dt>Memory</dt>
          <dd>{formatSize(memory)}</dd>
        </div>
        <div>
          <dt>Running for</dt>
          <dd>{formatUptime(uptime)}</dd>
        </div>
      </dl>
    </section>
  )
}

const formatUptime = (seconds: number) =>
  seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`

/** The apps and agents with access. */
export function Agents() {
  const { data } = useQuery(stateQuery)
  if (typeof data?.database !== 'number') return null
  if (data.agents.length === 0) return <p className="muted">No agent has access yet.</p>
  return (
    <>
      <p>With access, the last active first:</p>
      <ul className="agents">
        {data.agents.map(({ name, email, lastActive }, index) => (
          <li key={index}>
            <strong>{name}</strong> for {email} <small className="muted">{formatDate(lastActive)}</small>
          </li>
        ))}
      </ul>
    </>
  )
}
