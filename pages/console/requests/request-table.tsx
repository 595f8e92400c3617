import type { RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { formatDuration, formatTime } from '../format.ts'
import { Status } from '../status.tsx'

interface Props {
  requests: readonly RecordedRequest[]
  selected: RecordedRequest | undefined
  onSelect: (request: RecordedRequest, button: HTMLElement) => void
}

/** The table of requests. CSS hides the columns `wide` on narrow screens, and `extra` beside the details. */
export function RequestTable({ requests, selected, onSelect }: Props) {
  return (
    <div className="scroll card" tabIndex={0} role="group" aria-label="Requests">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Operation</th>
            <th scope="col">Status</th>
            <th scope="col" className="wide extra">
              Caller
            </th>
            <th scope="col" className="wide extra">
              Protocol
            </th>
            <th scope="col" className="number">
              Duration
            </th>
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
              isSelected={request === selected}
              onSelect={onSelect}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Returns the operation. Without a procedure, the method and the path: `GET /api/openapi.json`. */
const nameOf = ({ operation, method, path }: RecordedRequest) =>
  operation && !operation.startsWith('/') ? operation : `${method} ${path}`

interface RowProps extends Pick<Props, 'onSelect'> {
  request: RecordedRequest
  isSelected: boolean
}

function Row({ request, isSelected, onSelect }: RowProps) {
  const { time, status, outcome, person, app, protocol } = request
  const { duration, databaseTime, statementCount } = request
  return (
    <tr className={isSelected ? 'selected' : undefined}>
      <td className="time">{formatTime(time)}</td>
      <th scope="row">
        <button
          type="button"
          className="link"
          aria-expanded={isSelected}
          onClick={({ currentTarget }) => {
            onSelect(request, currentTarget)
          }}
        >
          {nameOf(request)}
        </button>
      </th>
      <td>
        <Status status={status} outcome={outcome} />
      </td>
      <td className="wide extra caller">
        {person ?? <span className="muted">{protocol === 'job' ? 'none' : 'signed out'}</span>}
        {app && <small className="muted"> {app}</small>}
      </td>
      <td className="wide extra">{protocol}</td>
      <td className="number">{formatDuration(duration)}</td>
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
