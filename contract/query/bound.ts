// The helpers of `tallystick-contract/query`, bound to the contract of this service.

import type { QueryClient } from '@tanstack/query-core'
import {
  type ClientWithHeaders as ClientWithHeadersOf,
  createQueryUtils as createQueryUtilsOf,
  keepLive as keepLiveOf,
  type KeepLiveOptions as KeepLiveOptionsOf,
  type QueryUtils as QueryUtilsOf,
  type RelatedResources,
} from 'tallystick-contract/query'

import type { Client } from '../client.ts'
import type { Contract } from '../index.ts'

export type { LiveStatus } from 'tallystick-contract/query'

/** A client that adds `etag` and `nextCursor` from the headers of an answer to the output. */
export type ClientWithHeaders = ClientWithHeadersOf<Contract>
export type KeepLiveOptions = KeepLiveOptionsOf<Contract>
export type QueryUtils = QueryUtilsOf<Contract>

/**
 * Creates oRPC's helpers for TanStack Query: `useQuery(orpc.tasks.get.queryOptions({ input: { id } }))`. Cached outputs
 * contain `etag` and `nextCursor`, because TanStack Query caches no response headers.
 */
export const createQueryUtils = (client: Client): QueryUtils => createQueryUtilsOf<Contract>(client)

/** A change of the topic of notes also changes the notes in the first form. */
const related: RelatedResources<Contract> = { notes: ['legacyNotes'] }

/**
 * Keeps the cached queries of the topics current, with one stream of `live.watch`. Writes each new state to the queries
 * that return the state, for example `tasks.list` with the same status and limit. Invalidates all other queries of the
 * resource. Returns the function that ends the stream.
 */
export const keepLive = (queryClient: QueryClient, orpc: QueryUtils, options: KeepLiveOptions) =>
  keepLiveOf<Contract>(queryClient, orpc, options, related)
