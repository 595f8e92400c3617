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

/** The resources that change together with the state of a topic. */
const affectedResources = {
  counter: ['counter'],
  tasks: ['tasks'],
  notes: ['notes', 'legacyNotes'],
  sessions: ['sessions', 'apps'],
} as const satisfies Record<Topic, (keyof QueryUtils)[]>

/**
 * Keeps the cached queries of the topics current, with one stream of `live.watch`. Writes each new state to the queries
 * that return the state, for example `tasks.list` with the same status and limit. Invalidates all other queries of the
 * resource. Returns the function that ends the stream.
 */
export function keepLive(
  queryClient: QueryClient,
  orpc: QueryUtils,
  { onStatus, onError, ...input }: KeepLiveOptions,
): () => void {
  const stop = new AbortController()
  const { signal } = stop
  const onRetry = () => {
    onStatus?.('connecting')
    return (isSuccess: boolean) => {
      if (!isSuccess) return
      // The service does not send a state that has changed and then changed back. A query may have requested it in between.
      for (const topic of input.topics) invalidate(queryClient, affectedQueries(queryClient, orpc, topic))
      onStatus?.('connected')
    }
  }
  const run = async () => {
    onStatus?.('connecting')
    const updates = await orpc.live.watch.call(input, { signal, context: { onRetry } })
    onStatus?.('connected')
    for await (const update of updates) applyUpdate(queryClient, orpc, update, input)
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

function applyUpdate(queryClient: QueryClient, orpc: QueryUtils, update: Update, input: Input) {
  const cache = queryClient.getQueryCache()
  const outdated = new Set(affectedQueries(queryClient, orpc, update.topic))
  for (const queryKey of keysOfStateQueries(orpc, update.topic, input.tasks)) {
    const query = cache.find({ queryKey, exact: true })
    if (!query) continue
    // Cancels a request, because its response may be older than the update.
    void query.cancel({ revert: true })
    const output = queryClient.setQueryData<object>(queryKey, (cached) => ({ ...cached, ...update.state }))
    if (!hasNextPage(output, update)) outdated.delete(query)
  }
  invalidate(queryClient, outdated)
}

/** Returns the cached queries that depend on the state of the topic. */
const affectedQueries = (queryClient: QueryClient, orpc: QueryUtils, topic: Topic) =>
  affectedResources[topic].flatMap((name) =>
    queryClient.getQueryCache().findAll({ queryKey: orpc[name].key() }),
  )

function invalidate(queryClient: QueryClient, queries: Iterable<Query>) {
  for (const { promise, queryKey, state } of queries) {
    // TanStack Query does not cancel the first request of a query. Its response may be older than the update.
    const firstRequest = state.data === undefined ? promise?.catch(() => undefined) : undefined
    void Promise.resolve(firstRequest).then(() => queryClient.invalidateQueries({ queryKey, exact: true }))
  }
}

/** Returns the keys of the queries that return the state of the topic. */
function keysOfStateQueries(
  { counter, notes, sessions, tasks }: QueryUtils,
  topic: Topic,
  filter: Input['tasks'],
) {
  if (topic === 'counter') return [counter.get.queryKey()]
  if (topic === 'notes') return [notes.list.queryKey(), notes.list.queryKey({ input: {} })]
  if (topic === 'sessions') return [sessions.list.queryKey(), sessions.list.queryKey({ input: {} })]
  const isFiltered = filter?.status !== undefined || filter?.limit !== undefined
  return [tasks.list.queryKey({ input: { ...filter } }), ...(isFiltered ? [] : [tasks.list.queryKey()])]
}

/**
 * Returns whether the list has further pages. A request must then obtain the new cursor, because a state contains no
 * cursor. The state of notes has no total: a list of notes that gets its second page is not recognized.
 */
const hasNextPage = (output: object | undefined, { topic, state }: Update) =>
  Boolean(output && 'nextCursor' in output) ||
  (topic === 'tasks' && state.taskCount > state.tasks.length) ||
  (topic === 'sessions' && state.sessionCount > state.sessions.length)
