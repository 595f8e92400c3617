import { keepPreviousData } from '@tanstack/react-query'

/** Number of items of a page. */
const PAGE_SIZE = 100

/**
 * Options of a query for a list in pages, with the other fields of its input, for example the search. A changed input shows the
 * previous rows until the new rows arrive.
 *
 * @example
 * useInfiniteQuery(orpc.ideas.list.infiniteOptions(pagesOf({ q: search.q })))
 */
export const pagesOf = <Input extends object>(input: Input) => ({
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ nextCursor }: { nextCursor?: string }) => nextCursor,
  placeholderData: keepPreviousData,
  input: (cursor: string | undefined) => ({ limit: PAGE_SIZE, cursor, ...input }),
})
