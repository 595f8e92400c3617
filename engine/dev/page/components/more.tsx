import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

import { useLanguage } from '../language.tsx'
import { Problem } from './problem.tsx'

/** Distance from the window at which the next page is requested. */
const ROOT_MARGIN = '600px'

/** The end of a list with further pages. Requests the next page when a person scrolls near the button, or presses the button. */
export function More({
  query,
}: {
  query: Pick<
    UseInfiniteQueryResult,
    'error' | 'fetchNextPage' | 'hasNextPage' | 'isFetching' | 'isFetchingNextPage' | 'isFetchNextPageError'
  >
}) {
  const { t } = useLanguage()
  const { error, fetchNextPage, hasNextPage, isFetching, isFetchingNextPage, isFetchNextPageError } = query
  const button = useRef<HTMLButtonElement>(null)
  const canRequest = hasNextPage && !isFetching && !isFetchNextPageError

  useEffect(() => {
    if (!button.current || !canRequest) return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        // On a slow device, one call can contain several entries. Only the last entry describes the present.
        if (entries.at(-1)?.isIntersecting) void fetchNextPage()
      },
      { rootMargin: ROOT_MARGIN },
    )
    observer.observe(button.current)
    return () => {
      observer.disconnect()
    }
  }, [canRequest, fetchNextPage])

  if (!hasNextPage) return null
  return (
    <div className="more">
      <button
        ref={button}
        className="secondary"
        aria-busy={isFetchingNextPage}
        onClick={() => void fetchNextPage()}
      >
        {t('showMore')}
      </button>
      {isFetchNextPageError && <Problem error={error} />}
    </div>
  )
}
