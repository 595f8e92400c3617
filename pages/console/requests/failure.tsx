import type { RecordedError } from '../../../engine/console/requests/requests-contract.ts'
import { Code } from '../code/copy.tsx'
import { EditorSelect, SourceLink } from '../editor.tsx'
import { findPosition } from '../position.ts'
import { findRequest, useRecording } from './recording.ts'

/** An error with its statement, its stack and its causes. */
export function Failure({ error, isFailure }: { error: RecordedError; isFailure: boolean }) {
  const { code, type, message, statement, stack, issues = [], cause } = error
  const position = stack === undefined ? undefined : findPosition(stack)
  return (
    <>
      <p>
        <code>{code ?? type}</code> {message}
      </p>
      {position && (
        <p className="row">
          <SourceLink position={position} /> <EditorSelect />
        </p>
      )}
      {issues.length > 0 && (
        <ul className="issues">
          {issues.map(({ path, message: text }) => (
            <li key={path + text}>
              <code>{path || 'input'}</code> {text}
            </li>
          ))}
        </ul>
      )}
      {statement && <Code text={statement} name="the failed statement" language="sql" />}
      {stack && (
        <details open={isFailure}>
          <summary>Stack</summary>
          <Code text={stack} name="the stack of the error" />
        </details>
      )}
      {cause && (
        <>
          <p className="caption">Cause</p>
          <Failure error={cause} isFailure={isFailure} />
        </>
      )}
    </>
  )
}

/** The error of a request to which the service answered with a failure: what the answer does not tell. */
export function RecordedFailure({ id }: { id: string }) {
  const { requests } = useRecording()
  const { status = null, calls = [] } = findRequest(requests, id) ?? {}
  const error = calls.find((call) => call.error)?.error
  if (!error || status === null || status < 500) return null
  return (
    <div className="problem">
      <Failure error={error} isFailure />
    </div>
  )
}
