import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { codeOf } from '../query-client.ts'
import { useLanguage } from '../language.tsx'
import { Problem } from './problem.tsx'
import { Empty } from './rows/empty.tsx'
import { Skeleton } from './skeleton.tsx'
import { ParentLink } from './views/parent-link.tsx'

/** Shows that content is loading. `lines` is the usual number of lines of the content. */
export function Loading({ lines }: { lines?: number | undefined }) {
  const { t } = useLanguage()
  return <Skeleton loading={t('loading')} stillTrying={t('stillTrying')} lines={lines} />
}

/** Shows the data of a query. Before, shows that the data is loading, or the error. */
export function Loaded<Data>({
  query,
  lines,
  children,
}: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>
  lines?: number
  children: (data: Data) => ReactNode
}) {
  const { findErrorText } = useLanguage()
  if (query.data !== undefined) return children(query.data)
  // Another attempt does not bring an absent item back.
  if (query.error && codeOf(query.error) === 'NOT_FOUND')
    return (
      <div role="alert">
        <Empty text={findErrorText('NOT_FOUND')}>
          <ParentLink />
        </Empty>
      </div>
    )
  if (query.error) return <Problem error={query.error} onRetry={() => void query.refetch()} />
  return <Loading lines={lines} />
}
