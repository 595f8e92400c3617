import { queryOptions, useQuery } from '@tanstack/react-query'

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
