import { queryOptions } from '@tanstack/react-query'

import { client } from '../client.ts'

/** The tables of the database. */
export const tablesQuery = queryOptions({
  queryKey: ['tables'],
  queryFn: ({ signal }) => client.data.tables(undefined, { signal }),
})
