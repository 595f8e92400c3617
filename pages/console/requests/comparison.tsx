import type { RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { formatDuration } from '../format.ts'
import { addressOf } from '../location.ts'
import { findRequest, nameOf, useRecording } from './recording.ts'
import { phasesOf } from './waterfall.tsx'

/** The request whose input the form of an operation has. */
const filledFrom = new Map<string, RecordedRequest>()

/** The request that was run again, by the id of the new request. */
const originals = new Map<string, RecordedRequest>()

/** Keeps the request from which the form of an operation is filled. */
export function setOriginal(operation: string, request: RecordedRequest) {
  filledFrom.set(operation, request)
}

/** Keeps that a request was made with the form of an operation. */
export function keepRun(operation: string, id: string | undefined) {
  const original = filledFrom.get(operation)
  if (original && id) originals.set(id, original)
}

const timesOf = (request: RecordedRequest) =>
  new Map([
    ...phasesOf(request).map(({ name, duration }) => [name, duration] as const),
    ['Database', request.databaseTime] as const,
    ['Total', request.duration] as const,
  ])

/** The times of a request beside the times of the request that was run again. Shows nothing without such a request. */
export function Comparison({ id }: { id: string }) {
  const { requests } = useRecording()
  const request = findRequest(requests, id)
  const original = originals.get(id)
  if (!request || !original) return null
  const [before, after] = [timesOf(original), timesOf(request)]
  return (
    <>
      <h4>Compared with the first run</h4>
      <div className="scroll" tabIndex={0} role="group" aria-label="Times of both runs">
        <table>
          <thead>
            <tr>
              <th scope="col">Time in</th>
              <th scope="col" className="number">
                <a href={addressOf('requests', nameOf(original))}>First run</a>
              </th>
              <th scope="col" className="number">
                <a href={addressOf('requests', nameOf(request))}>Run again</a>
              </th>
              <th scope="col" className="number">
                Difference
              </th>
            </tr>
          </thead>
          <tbody>
            {[...new Set([...before.keys(), ...after.keys()])].map((name) => (
              <TimeRow key={name} name={name} before={before.get(name) ?? 0} after={after.get(name) ?? 0} />
            ))}
            <tr>
              <th scope="row">Statements</th>
              <td className="number">{original.statementCount}</td>
              <td className="number">{request.statementCount}</td>
              <td className="number">{signed(request.statementCount - original.statementCount, String)}</td>
            </tr>
          </tbody>
        </table>
      </div>
    </>
  )
}

const TimeRow = ({ name, before, after }: { name: string; before: number; after: number }) => (
  <tr>
    <th scope="row">{name}</th>
    <td className="number">{formatDuration(before)}</td>
    <td className="number">{formatDuration(after)}</td>
    <td className="number">{signed(after - before, formatDuration)}</td>
  </tr>
)

const signed = (difference: number, format: (value: number) => string) =>
  `${difference < 0 ? '−' : '+'}${format(Math.abs(difference))}`
