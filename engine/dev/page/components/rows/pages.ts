import { keepPreviousData } from '@tanstack/react-query'

/**
 * Options of a query for a list in pages. A changed filter shows the previous rows until the new rows arrive.
 *
 * @example
 * useInfiniteQuery(orpc.ideas.list.infiniteOptions({ ...inPages, input: (cursor) => ({ limit: 100, cursor }) }))
 */
export const inPages = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ nextCursor }: { nextCursor?: string }) => nextCursor,
  placeholderData: keepPreviousData,
}
