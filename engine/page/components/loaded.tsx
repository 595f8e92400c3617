import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { useLanguage } from '../language.tsx'
import { Problem } from './problem.tsx'

/** Shows the data of a query. Before, shows that the data is loading, or the error. */
export function Loaded<Data>({
  query,
  children,
}: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>
  children: (data: Data) => ReactNode
}) {
  const { t } = useLanguage()
  if (query.data !== undefined) return children(query.data)
  if (query.error) return <Problem error={query.error} onRetry={() => void query.refetch()} />
  return (
    <p aria-busy="true" role="status">
      {t('loading')}
    </p>
  )
}
