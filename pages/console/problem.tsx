import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { isSignedOut, isUnreachable } from './client.ts'

function messageOf(error: unknown) {
  if (isSignedOut(error))
    return 'This console needs the address that the service printed. Open the newest address.'
  if (isUnreachable(error)) return 'The service does not answer. Check that the service is running.'
  return error instanceof Error ? error.message : String(error)
}

/** Shows an error, with a button for another attempt. Shows nothing without an error. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (!error) return null
  return (
    <div role="alert" className="problem row">
      <p className="grow">{messageOf(error)}</p>
      {onRetry && (
        <button type="button" className="secondary" onClick={onRetry}>
          Retry
        </button>
      )}
    </div>
  )
}

/** Shows the data of a query. Before, shows that the data is loading, or the error. */
export function Loaded<Data>({
  query,
  children,
}: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>
  children: (data: Data) => ReactNode
}) {
  const retry = () => {
    void query.refetch()
  }
  return (
    <>
      {query.error && <Problem error={query.error} onRetry={retry} />}
      {query.data === undefined
        ? !query.error && (
            <p role="status" className="muted">
              Loading…
            </p>
          )
        : children(query.data)}
    </>
  )
}
