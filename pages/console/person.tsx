import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'

import { MAX_IDS } from '../../engine/console/bounds.ts'
import { client } from './client.ts'

const emailQuery = (id: string) =>
  queryOptions({
    queryKey: ['emails', id],
    queryFn: ({ signal }) => client.people.emails({ ids: [id] }, { signal }),
    staleTime: Infinity,
  })

/** The address of a person with the id. Shows the id until the address is known, or if the person does not exist. */
export function Person({ id }: { id: string }) {
  const { data } = useQuery(emailQuery(id))
  return data?.[0]?.email ?? id
}

/** The addresses of people by their ids. Without the ids of no people, and until the addresses are known. */
export function useEmails(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...new Set(ids)].sort().slice(0, MAX_IDS)
  const { data = [] } = useQuery({
    queryKey: ['emails', ...sorted],
    queryFn: ({ signal }) => client.people.emails({ ids: sorted }, { signal }),
    enabled: sorted.length > 0,
    placeholderData: keepPreviousData,
  })
  return new Map(data.map(({ id, email }) => [id, email]))
}
