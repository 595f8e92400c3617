import { type ReactNode, useEffect, useRef } from 'react'

import type { CallResult } from '../../../engine/console/contract.ts'
import { Code, prettyJson } from '../code/copy.tsx'
import { formatDuration } from '../format.ts'
import { Status } from '../status.tsx'
import { useTexts } from './texts.ts'

interface Props {
  result: CallResult
  /** Returns the address of a recorded request. */
  addressOfRequest?: (requestId: string) => string
  /** Shows why the service failed, before the body. */
  failureOf?: (requestId: string) => ReactNode
  /** Shows what else is recorded of the request. */
  recordedOf?: (requestId: string) => ReactNode
}

/** The answer of a call: status, error, body and headers. A new answer scrolls into view. */
export function Answer({ result, addressOfRequest, failureOf, recordedOf }: Props) {
  const { t } = useTexts()
  const { request, status, duration, headers, body, isCut, error } = result
  const id = requestIdOf(result)
  const answer = useRef<HTMLElement>(null)
  useEffect(() => {
    // As much as possible, but in any case the status.
    for (const element of [answer.current, answer.current?.firstElementChild])
      element?.scrollIntoView({ block: 'nearest' })
  }, [result])
  return (
    <section aria-label={t('answer')} ref={answer}>
      <div className="row head">
        <h3>{t('answer')}</h3>
        <p role="status" className="row">
          <Status status={status} /> <span className="muted">{formatDuration(duration)}</span>
          {id && addressOfRequest && <a href={addressOfRequest(id)}>Request</a>}
        </p>
      </div>
      {error && (
        <p className="problem">
          <code>{error.code}</code> {error.message}
          <br />
          <small>{t(explanationOf(error))}</small>
        </p>
      )}
      {id && failureOf?.(id)}
      {body ? <Code text={prettyJson(body)} name={t('answer')} /> : <p className="muted">{t('noBody')}</p>}
      {id && recordedOf?.(id)}
      {isCut && <p className="muted">{t('cutBody')}</p>}
      <details>
        <summary>
          {t('headers')} ({headers.length})
        </summary>
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
        <summary>{t('request')}</summary>
        <p className="route">
          <span className={`method ${request.method.toLowerCase()}`}>{request.method}</span>{' '}
          <code>{request.url}</code>
        </p>
        {request.body && <Code text={prettyJson(request.body)} name={t('request')} />}
      </details>
    </section>
  )
}

/** Returns the id of the request that made a call. */
export const requestIdOf = ({ headers }: Pick<CallResult, 'headers'>) =>
  headers.find(([name]) => name === 'x-request-id')?.[1]

function explanationOf({ code, isDefined }: NonNullable<CallResult['error']>) {
  if (isDefined) return 'declaredError'
  return code === 'BAD_REQUEST' ? 'brokenInput' : 'undeclaredError'
}
