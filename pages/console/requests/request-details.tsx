import { useEffect, useRef } from 'react'

import type { RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { stepOf } from '../arrows.ts'
import { Code, Copy, prettyJson } from '../code/copy.tsx'
import { formatDate, formatDuration } from '../format.ts'
import { addressOf } from '../location.ts'
import { Status } from '../status.tsx'
import { Comparison } from './comparison.tsx'
import { Failure } from './failure.tsx'
import { callerOf } from './recording.ts'
import { RunAgain } from './run-again.tsx'
import { Statements } from './statements.tsx'
import { toLogLine } from './log-line.ts'
import { Waterfall } from './waterfall.tsx'

interface Props {
  request: RecordedRequest
  /** Shows the next request of the table for 1, and the previous one for -1. */
  onMove: (step: number) => void
  onClose: () => void
}

/** The details of a request. The heading receives the focus, and with the focus there, arrows move to other requests. */
export function RequestDetails({ request, onMove, onClose }: Props) {
  const { id, method, path, operation, calls, status, outcome, time } = request
  const { app, protocol, duration, isStream } = request
  const isJob = protocol === 'job'
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
  }, [request])
  return (
    <section
      className="details"
      aria-label="Request"
      onKeyDown={(event) => {
        const step = stepOf(event)
        if (event.key === 'Escape') onClose()
        if (step === undefined || event.target !== heading.current) return
        event.preventDefault()
        onMove(step)
      }}
    >
      <div className="row head">
        <h3 ref={heading} className="grow" tabIndex={-1}>
          {operation ?? path}
        </h3>
        <button type="button" className="secondary" onClick={onClose}>
          Close
        </button>
      </div>
      {isJob ? (
        <p>
          <a href={addressOf('jobs', id)}>Show the job</a>
        </p>
      ) : (
        <p className="route">
          <span className={`method ${method.toLowerCase()}`}>{method}</span> <code>{path}</code>
        </p>
      )}
      {calls.map(
        ({ error }, index) =>
          error && (
            <div key={index} className="problem">
              <Failure error={error} isFailure={isJob || (status !== null && status >= 500)} />
            </div>
          ),
      )}
      <dl className="facts">
        <dt>Status</dt>
        <dd>
          <Status status={status} outcome={outcome} isStream={isStream} />
        </dd>
        <dt>{isJob ? 'Job id' : 'Request id'}</dt>
        <dd className="row">
          <code>{id}</code> <Copy text={id} what={isJob ? 'the job id' : 'the request id'} />
        </dd>
        <dt>Time</dt>
        <dd>
          {formatDate(time)}, {formatDuration(duration)}
        </dd>
        <dt>Caller</dt>
        <dd>{[callerOf(request), app && `with the app ${app}`].filter(Boolean).join(' ')}</dd>
        <dt>Protocol</dt>
        <dd>{protocol}</dd>
        {request.jobs.length > 0 && (
          <>
            <dt>Added jobs</dt>
            <dd className="row">
              {request.jobs.map((job) => (
                <a key={job.id} href={addressOf('jobs', job.id)}>
                  {job.queue}
                </a>
              ))}
            </dd>
          </>
        )}
      </dl>
      <RunAgain request={request} />
      <Waterfall request={request} />
      <Comparison id={id} />
      <Statements request={request} />
      {calls.map((call, index) => (
        <Call key={`${id} ${index}`} call={call} />
      ))}
      <LogLines lines={request.lines} />
    </section>
  )
}

/** What the log of the service has of the request. */
function LogLines({ lines }: Pick<RecordedRequest, 'lines'>) {
  if (lines.length === 0) return null
  return (
    <>
      <h4>Log</h4>
      <Code text={lines.map(toLogLine).join('\n')} name="the lines of the log" />
    </>
  )
}

function Call({ call: { operation, input, output } }: { call: RecordedRequest['calls'][number] }) {
  return (
    <>
      <h4>Call of {operation}</h4>
      {input !== null && (
        <>
          <p className="caption">Input</p>
          <Code text={prettyJson(input)} name="the input" />
        </>
      )}
      {output !== null && (
        <>
          <p className="caption">Output</p>
          <Code text={prettyJson(output)} name="the output" />
        </>
      )}
    </>
  )
}
