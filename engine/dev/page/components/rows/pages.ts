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

/** Number of items of a page. */
const PAGE_SIZE = 100

/**
 * Options of a query for a list in pages, with the other fields of its input, for example the search.
 *
 * @example
 * useInfiniteQuery(orpc.ideas.list.infiniteOptions(pagesOf({ q: search.q })))
 */
export const pagesOf = <Input extends object>(input: Input) => ({
  ...inPages,
  input: (cursor: string | undefined) => ({ limit: PAGE_SIZE, cursor, ...input }),
})
