import type { CallResult } from '../../../engine/console/contract.ts'
import { Code, prettyJson } from '../code/copy.tsx'
import { formatDuration } from '../format.ts'
import { addressOf } from '../location.ts'
import { Comparison } from '../requests/comparison.tsx'
import { Status } from '../status.tsx'

/** The answer of a call: status, error, body and headers. */
export function Answer({ result }: { result: CallResult }) {
  const { request, status, duration, headers, body, isCut, error } = result
  const id = headers.find(([name]) => name === 'x-request-id')?.[1]
  return (
    <section aria-label="Answer">
      <div className="row head">
        <h3>Answer</h3>
        <p role="status" className="row">
          <Status status={status} /> <span className="muted">{formatDuration(duration)}</span>
          {id && <a href={addressOf('requests', id)}>Statements</a>}
        </p>
      </div>
      {error && (
        <p className="problem">
          <code>{error.code}</code> {error.message}
          <br />
          <small>
            {error.isDefined
              ? 'The contract declares this error, so clients know its type.'
              : error.code === 'BAD_REQUEST'
                ? 'The input breaks its schema. Every procedure has this error.'
                : 'The contract of the procedure does not declare this error.'}
          </small>
        </p>
      )}
      {body ? (
        <Code text={prettyJson(body)} name="the body" />
      ) : (
        <p className="muted">The answer has no body.</p>
      )}
      {id && <Comparison id={id} />}
      {isCut && <p className="muted">The body is longer. The console shows its beginning.</p>}
      <details>
        <summary>Headers ({headers.length})</summary>
        <dl className="headers">
          {headers.map(([name, value], index) => (
            <div key={index}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
      <details>
        <summary>Request</summary>
        <p className="route">
          <span className={`method ${request.method.toLowerCase()}`}>{request.method}</span>{' '}
          <code>{request.url}</code>
        </p>
        {request.body && <Code text={prettyJson(request.body)} name="the body of the request" />}
      </details>
    </section>
  )
}
