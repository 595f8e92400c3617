import type { QueryClient } from '@tanstack/query-core'

import { keepLive as keepTopicsLive, type KeepLiveOptions, type RelatedResources } from './keep-live.ts'
import type { QueryUtils } from './orpc.ts'

const related: RelatedResources = { notes: ['legacyNotes'], sessions: ['apps'] }

/**
 * Keeps the cached queries of the topics current, with one stream of `live.watch`. Writes each new state to the queries
 * that return the state, for example `tasks.list` with the same status and limit. Invalidates all other queries of the
 * resource. Returns the function that ends the stream.
 */
export const keepLive = (queryClient: QueryClient, orpc: QueryUtils, options: KeepLiveOptions) =>
  keepTopicsLive(queryClient, orpc, options, related)
