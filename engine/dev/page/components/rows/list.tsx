import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { Children, type ReactNode } from 'react'

import { Loaded } from '../loaded.tsx'
import { More } from '../more.tsx'

interface Props {
  /** The query of the rows, in pages. */
  query: UseInfiniteQueryResult
  /** The accessible name. */
  label?: string
  /** The id of the element with the accessible name. */
  labelledBy?: string
  className?: string
  /** The usual number of rows, as placeholders while the first page is loading. */
  lines?: number
  /** Shown instead of an empty list. */
  empty: ReactNode
  /** The rows. */
  children: ReactNode
}

/**
 * A list in pages: placeholders while the first page is loading, an error with another attempt, an empty state, and the next page
 * when a person scrolls to the end.
 *
 * @example
 * <List query={query} label={t('ideas')} empty={<Empty text={t('noIdeas')} />}>{ideas.map((idea) => …)}</List>
 */
export function List({ query, label, labelledBy, className = 'items', lines = 8, empty, children }: Props) {
  return (
    <Loaded query={query} lines={lines}>
      {() =>
        Children.count(children) === 0 && !query.hasNextPage ? (
          empty
        ) : (
          <>
            <ul
              aria-label={label}
              aria-labelledby={labelledBy}
              className={className}
              aria-busy={query.isPlaceholderData}
            >
              {children}
            </ul>
            <More query={query} />
          </>
        )
      }
    </Loaded>
  )
}
