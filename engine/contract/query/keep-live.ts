import type { InferClientErrors } from '@orpc/client'
import type { InferContractRouterInputs } from '@orpc/contract'
import type { Query, QueryClient } from '@tanstack/query-core'

import type { ClientOf } from '../client.ts'
import type { EngineContract, LiveUpdateOf } from '../engine.ts'
import type { QueryUtils } from './orpc.ts'

type Input<Contract extends EngineContract> = InferContractRouterInputs<Contract>['live']['watch']

interface Update {
  topic: string
  state: object
}

/**
 * - `connecting`: the client opens the stream, or resumes the stream after a lost connection. Cached data may be old.
 * - `connected`: the client receives all changes.
 * - `closed`: the service has refused the stream. `onError` receives the reason.
 */
export type LiveStatus = 'connecting' | 'connected' | 'closed'

export type KeepLiveOptions<Contract extends EngineContract> = Input<Contract> & {
  onStatus?: (status: LiveStatus) => void
  /**
   * Receives the error after which the client does not connect again, for example UNAUTHORIZED after the end of the
   * session.
   */
  onError?: (error: InferClientErrors<ClientOf<EngineContract>['live']['watch']>) => void
}

/** The names of further resources that change together with the resource of a topic. */
export type RelatedResources<Contract extends EngineContract> = Partial<
  Record<(LiveUpdateOf<Contract> & Update)['topic'], readonly (keyof Contract)[]>
>

/**
 * Keeps the cached queries of the topics current, with one stream of `live.watch`. Writes each new state to the queries
 * that return the state, for example `loans.list` with the same filter and limit. Invalidates all other queries of the
 * resource. Returns the function that ends the stream.
 */
export function keepLive<Contract extends EngineContract>(
  queryClient: QueryClient,
  utils: QueryUtils<Contract>,
  { onStatus, onError, ...options }: KeepLiveOptions<Contract>,
  related: RelatedResources<Contract> = {},
): () => void {
  // The compiler cannot derive these types from a contract that is not known here.
  const live = Reflect.get(utils, 'live') as QueryUtils<EngineContract>['live']
  const resourceOf = (name: PropertyKey) => Reflect.get(utils, name) as ResourceUtils
  const input: Input<EngineContract> = options
  const relatedTo: Partial<Record<string, readonly PropertyKey[]>> = { sessions: ['apps'], ...related }
  const affectedQueries = (topic: string) =>
    [topic, ...(relatedTo[topic] ?? [])].flatMap((name) =>
      queryClient.getQueryCache().findAll({ queryKey: resourceOf(name).key() }),
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
    const updates = await live.watch.call(input, { signal, context: { onRetry } })
    onStatus?.('connected')
    for await (const update of updates as AsyncIterable<Update>) {
      const outdated = new Set(affectedQueries(update.topic))
      for (const query of applyUpdate(queryClient, resourceOf(update.topic), update, input))
        outdated.delete(query)
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
function applyUpdate(
  queryClient: QueryClient,
  resource: ResourceUtils,
  update: Update,
  input: Readonly<Record<string, unknown>>,
) {
  const cache = queryClient.getQueryCache()
  return keysOfStateQueries(resource, input[update.topic]).flatMap((queryKey) => {
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

/** The helpers of a resource. oRPC creates the helpers on demand, for every name. */
interface ResourceUtils {
  key: () => readonly unknown[]
  list: StateQuery
  get: StateQuery
}

/** Returns the keys of the queries that return the state of the topic: the procedure `list` or `get` of the resource. */
function keysOfStateQueries({ list, get }: ResourceUtils, input: unknown) {
  const filter = { ...Object(input) } as Record<string, unknown>
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return [list, get].flatMap((query) => [
    query.queryKey({ input: filter }),
    ...(isFiltered ? [] : [query.queryKey()]),
  ])
}

/**
 * Returns whether the list has further pages. A request must then obtain the new cursor, because a state contains no
 * cursor. A state without a total, such as `{ loans: [] }`, does not show that its list gets a second page.
 */
function hasNextPage(output: object | undefined, { state }: Update) {
  const values: unknown[] = Object.values(state)
  const length = values.find(Array.isArray)?.length ?? Infinity
  const isPart = values.some((value) => typeof value === 'number' && value > length)
  return isPart || Boolean(output && 'nextCursor' in output)
}
