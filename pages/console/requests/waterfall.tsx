import type { RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { formatDuration } from '../format.ts'

/** A part of the time of a request, in milliseconds after its arrival. */
export interface Span {
  name: string
  start: number
  duration: number
}

/** Returns where the time of a request went, one after the other. The database is a part of guard and procedure. */
export function phasesOf({ calls, duration, protocol }: RecordedRequest): Span[] {
  const [first] = calls
  if (!first) return []
  const end = Math.max(...calls.map((call) => call.end))
  const isJob = protocol === 'job'
  const permitted = calls.length === 1 ? (first.permitted ?? first.end) : undefined
  const phases = [
    { name: 'Queue and body', start: 0, until: first.start },
    ...(permitted === undefined
      ? [{ name: 'Calls', start: first.start, until: end }]
      : isJob
        ? [{ name: 'Job', start: first.start, until: end }]
        : [
            { name: 'Guard', start: first.start, until: permitted },
            { name: 'Procedure', start: permitted, until: end },
          ]),
    { name: 'Answer', start: end, until: duration },
  ]
  return phases
    .map(({ name, start, until }) => ({ name, start, duration: Math.max(0, until - start) }))
    .filter((phase) => phase.duration > 0)
}

/** Spans as bars on one axis, for example of the whole request. */
export const Bar = ({ spans, total }: { spans: readonly Omit<Span, 'name'>[]; total: number }) => (
  <div className="durations">
    {spans.map(({ start, duration }, index) => (
      <div
        key={index}
        className="duration"
        style={{
          insetInlineStart: `${partOf(start, total)}%`,
          width: `${Math.min(partOf(duration, total), 100 - partOf(start, total))}%`,
        }}
      />
    ))}
  </div>
)

const partOf = (time: number, total: number) => (total > 0 ? Math.min(100, (time / total) * 100) : 0)

/** The phases of a request with their times. */
export function Waterfall({ request }: { request: RecordedRequest }) {
  const phases = phasesOf(request)
  if (phases.length === 0) return null
  const { duration, databaseTime, statementCount } = request
  return (
    <>
      <h4>
        {formatDuration(duration)}
        {statementCount > 0 && `, of which ${formatDuration(databaseTime)} in the database`}
      </h4>
      <ol className="statements" aria-label="Phases">
        {phases.map((phase) => (
          <li key={phase.name}>
            <p className="row">
              <span className="grow">{phase.name}</span>
              <span>{formatDuration(phase.duration)}</span>
            </p>
            <Bar spans={[phase]} total={duration} />
          </li>
        ))}
      </ol>
    </>
  )
}
