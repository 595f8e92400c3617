import type { RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { moveBetween } from '../arrows.ts'
import { formatDuration, formatTime } from '../format.ts'
import { SortableHeader } from '../sortable-header.tsx'
import { Status } from '../status.tsx'
import { callerOf, durationOf } from './recording.ts'
import { Bar } from './waterfall.tsx'

interface Props {
  requests: readonly RecordedRequest[]
  selected: RecordedRequest | undefined
  /** Whether the slowest is the first. Otherwise, the newest is. */
  isByDuration: boolean
  onSort: (isByDuration: boolean) => void
  onSelect: (request: RecordedRequest) => void
}

/** The table of requests. CSS hides the columns `wide` on narrow screens, and `extra` beside the details. */
export function RequestTable({ requests, selected, isByDuration, onSort, onSelect }: Props) {
  const slowest = Math.max(...requests.map((request) => durationOf(request) ?? 0))
  return (
    <div className="scroll card" tabIndex={0} role="group" aria-label="Requests" onKeyDown={moveBetweenRows}>
      <table>
        <thead>
          <tr>
            <SortableHeader
              order={isByDuration ? undefined : 'descending'}
              onSort={() => {
                onSort(false)
              }}
            >
              Time
            </SortableHeader>
            <th scope="col">Operation</th>
            <th scope="col">Status</th>
            <th scope="col" className="wide extra">
              Caller
            </th>
            <th scope="col" className="wide extra">
              Protocol
            </th>
            <SortableHeader
              className="number"
              order={isByDuration ? 'descending' : undefined}
              onSort={() => {
                onSort(true)
              }}
            >
              Duration
            </SortableHeader>
            <th scope="col" className="wide number">
              Statements
            </th>
          </tr>
        </thead>
        <tbody>
          {requests.map((request) => (
            <Row
              key={`${request.id} ${request.time}`}
              request={request}
              slowest={slowest}
              isSelected={request === selected}
              onSelect={onSelect}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

const moveBetweenRows = moveBetween('tbody button')

/** Returns the operation. Without a procedure, the method and the path: `GET /api/openapi.json`. */
const nameOf = ({ operation, method, path }: RecordedRequest) =>
  operation && !operation.startsWith('/') ? operation : `${method} ${path}`

interface RowProps extends Pick<Props, 'onSelect'> {
  request: RecordedRequest
  /** The longest duration of the table, in milliseconds. */
  slowest: number
  isSelected: boolean
}

function Row({ request, slowest, isSelected, onSelect }: RowProps) {
  const { time, status, outcome, isStream, person, app, protocol } = request
  const { duration, databaseTime, statementCount } = request
  return (
    <tr className={isSelected ? 'selected' : undefined}>
      <td className="time">{formatTime(time)}</td>
      <th scope="row">
        <button
          type="button"
          className="link"
          aria-expanded={isSelected}
          onClick={() => {
            onSelect(request)
          }}
        >
          {nameOf(request)}
        </button>
      </th>
      <td>
        <Status
          status={status}
          outcome={outcome}
          isStream={isStream}
          text={request.calls.find(({ error }) => error)?.error?.code}
        />
      </td>
      <td className="wide extra caller">
        {person ?? <span className="muted">{callerOf(request)}</span>}
        {app && <small className="muted"> {app}</small>}
      </td>
      <td className="wide extra">{protocol}</td>
      <td className="number">
        {formatDuration(duration)}
        <Bar spans={[{ start: 0, duration: durationOf(request) ?? 0 }]} total={slowest} />
      </td>
      <td className="wide number">
        {statementCount === 0 ? (
          <span className="muted">none</span>
        ) : (
          <>
            {statementCount} <small className="muted">in</small> {formatDuration(databaseTime)}
          </>
        )}
      </td>
    </tr>
  )
}
