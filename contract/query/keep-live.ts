import type { InferClientErrors } from '@orpc/client'
import type { Query, QueryClient } from '@tanstack/query-core'

import type { Client, Inputs, Outputs } from '../client.ts'
import type { QueryUtils } from './orpc.ts'

type Input = Inputs['live']['watch']
type Update = Outputs['live']['watch'] extends AsyncIterator<infer Value> ? Value : never
type Topic = Update['topic']

/**
 * - `connecting`: the client opens the stream, or resumes the stream after a lost connection. Cached data may be old.
 * - `connected`: the client receives all changes.
 * - `closed`: the service has refused the stream. `onError` receives the reason.
 */
export type LiveStatus = 'connecting' | 'connected' | 'closed'

export interface KeepLiveOptions extends Input {
  onStatus?: (status: LiveStatus) => void
  /**
   * Receives the error after which the client does not connect again, for example UNAUTHORIZED after the end of the
   * session.
   */
  onError?: (error: InferClientErrors<Client['live']['watch']>) => void
}

/** The names of further resources that change together with the resource of a topic. */
export type RelatedResources = Partial<Record<Topic, readonly (keyof Client)[]>>

/**
 * Keeps the cached queries of the topics current, with one stream of `live.watch`. Writes each new state to the queries
 * that return the state, for example `tasks.list` with the same status and limit. Invalidates all other queries of the
 * resource. Returns the function that ends the stream.
 */
export function keepLive(
  queryClient: QueryClient,
  orpc: QueryUtils,
  { onStatus, onError, ...input }: KeepLiveOptions,
  related: RelatedResources = {},
): () => void {
  const affectedQueries = (topic: Topic) =>
    [topic, ...(related[topic] ?? [])].flatMap((name) =>
      queryClient.getQueryCache().findAll({ queryKey: orpc[name].key() }),
    )

  const stop = new AbortController()
  const { signal } = stop
  const onRetry = () => {
    onStatus?.('connecting')
    return (isSuccess: boolean) => {
      if (!isSuccess) return
      // The service does not send a state that has changed and then changed back. A query may have requested it in between.
      for (const topic of input.topics) invalidate(queryClient, affectedQueries(topic))
      onStatus?.('connected')
    }
  }
  const run = async () => {
    onStatus?.('connecting')
    const updates = await orpc.live.watch.call(input, { signal, context: { onRetry } })
    onStatus?.('connected')
    for await (const update of updates) {
      const outdated = new Set(affectedQueries(update.topic))
      for (const query of applyUpdate(queryClient, orpc, update, input)) outdated.delete(query)
      invalidate(queryClient, outdated)
    }
  }
  run().catch((error: unknown) => {
    if (signal.aborted) return
    onStatus?.('closed')
    onError?.(error as Parameters<typeof onError>[0])
  })
  return () => {
    stop.abort()
  }
}

/** Writes a state to the queries that return the state. Returns the queries that are current now. */
function applyUpdate(queryClient: QueryClient, orpc: QueryUtils, update: Update, input: Input) {
  const cache = queryClient.getQueryCache()
  return keysOfStateQueries(orpc, update.topic, input).flatMap((queryKey) => {
    const query = cache.find({ queryKey, exact: true })
    if (!query) return []
    // Cancels a request, because its response may be older than the update.
    void query.cancel({ revert: true })
    const output = queryClient.setQueryData<object>(queryKey, (cached) => ({ ...cached, ...update.state }))
    return hasNextPage(output, update) ? [] : [query]
  })
}

function invalidate(queryClient: QueryClient, queries: Iterable<Query>) {
  for (const { promise, queryKey, state } of queries) {
    // TanStack Query does not cancel the first request of a query. Its response may be older than the update.
    const firstRequest = state.data === undefined ? promise?.catch(() => undefined) : undefined
    void Promise.resolve(firstRequest).then(() => queryClient.invalidateQueries({ queryKey, exact: true }))
  }
}

/** The helpers of a procedure that reads a state. */
interface StateQuery {
  queryKey: (options?: { input: object }) => readonly unknown[]
}

/** Returns the keys of the queries that return the state of the topic: the procedure `list` or `get` of the resource. */
function keysOfStateQueries(orpc: QueryUtils, topic: Topic, input: Readonly<Record<string, unknown>>) {
  const { list, get } = orpc[topic] as unknown as { list: StateQuery; get: StateQuery }
  const filter = { ...Object(input[topic]) } as Record<string, unknown>
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return [list, get].flatMap((query) => [
    query.queryKey({ input: filter }),
    ...(isFiltered ? [] : [query.queryKey()]),
  ])
}

/**
 * Returns whether the list has further pages. A request must then obtain the new cursor, because a state contains no
 * cursor. A state without a total, such as the notes, does not show that its list gets a second page.
 */
function hasNextPage(output: object | undefined, { state }: Update) {
  const values: unknown[] = Object.values(state)
  const length = values.find(Array.isArray)?.length ?? Infinity
  const isPart = values.some((value) => typeof value === 'number' && value > length)
  return isPart || Boolean(output && 'nextCursor' in output)
}
