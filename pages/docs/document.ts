import { queryOptions } from '@tanstack/react-query'

import type { ReferenceDocument } from '../../engine/openapi/procedure-description.ts'

/** Everything that the page knows of the application: engine/openapi/reference.ts. */
export const documentQuery = queryOptions({
  queryKey: ['reference'],
  queryFn: async ({ signal }) => {
    const response = await fetch('/docs/reference.json', { signal })
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
    return (await response.json()) as ReferenceDocument
  },
})
