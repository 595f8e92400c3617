import type { InferClientErrors } from '@orpc/client'
import type { InferContractRouterInputs } from '@orpc/contract'
import type { Query, QueryClient } from '@tanstack/query-core'

import type { ClientOf } from '../client/client.ts'
import type { EngineContract, LiveUpdateOf } from '../built-in/engine.ts'
import type { QueryUtils } from './orpc.ts'

type Input<Contract extends EngineContract> = InferContractRouterInputs<Contract>['live']['watch']

/** A parent by the name of the field in the input: `{ projectId: 7 }`. Undefined if the topic has no parents. */
type Parent = Readonly<Record<string, unknown>> | undefined

interface Update {
  topic: string
  of?: Parent
  /** Null after the person has lost access to the parent. */
  state: object | null
}

/**
 * - `connecting`: the client opens the stream, or resumes the stream after a lost connection. Cached data may be old.
 * - `connected`: the client receives all changes.
 * - `closed`: the service has refused the stream. `onError` receives the reason.
 */
export type LiveStatus = 'connecting' | 'connected' | 'closed'

/**
 * What `keepLive` needs: the topics, the inputs of topics with an input, and functions that receive the status and an error.
 *
 * @example
 * const options: KeepLiveOptions<typeof contract> = { topics: ['loans'], onError: showError }
 */
export type KeepLiveOptions<Contract extends EngineContract> = Input<Contract> & {
  onStatus?: (status: LiveStatus) => void
  /** Receives the error after which the client does not connect again, for example UNAUTHORIZED after the end of the session. */
  onError?: (error: InferClientErrors<ClientOf<EngineContract>['live']['watch']>) => void
}

/**
 * The names of further resources that change together with the resource of a topic.
 *
 * @example
 * const related: RelatedResources<typeof contract> = { loans: ['books'] } // a change of loans also changes books
 */
export type RelatedResources<Contract extends EngineContract> = Partial<
  Record<(LiveUpdateOf<Contract> & Update)['topic'], readonly (keyof Contract)[]>
>

/**
 * Keeps the cached queries of the topics current, with one stream of `live.watch`. Writes each new state to the queries
 * that return the state, for example `loans.list` with the same filter and limit. Invalidates all other queries of the
 * resource. Returns the function that ends the stream.
 *
 * A topic of parents can have several inputs: `{ topics: ['tickets'], tickets: [{ projectId: 1 }, { projectId: 2 }] }`. An
 * update of one parent does not invalidate the queries of the others. After the person has lost access to a parent, its
 * queries are reset: active queries receive the error of the service, and the data of the others is removed. To watch other
 * parents, call the returned function, and `keepLive` again.
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
  // Apps have no topic of their own: their changes are announced in the topic of the sessions.
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
      const { topic, of, state } = update
      const affected = affectedQueries(topic).filter((query) => !isOfOtherParent(query, of))
      const current = state
        ? writeState(queryClient, resourceOf(topic), state, inputOf(Reflect.get(input, topic), of))
        : resetQueries(queryClient, affected, of)
      invalidate(
        queryClient,
        affected.filter((query) => !current.includes(query)),
      )
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
function writeState(queryClient: QueryClient, resource: ResourceUtils, state: object, input: unknown) {
  const cache = queryClient.getQueryCache()
  return keysOfStateQueries(resource, input).flatMap((queryKey) => {
    const query = cache.find({ queryKey, exact: true })
    if (!query) return []
    // Cancels a request, because its response may be older than the update.
    void query.cancel({ revert: true })
    const output = queryClient.setQueryData<object>(queryKey, (cached) => ({ ...cached, ...state }))
    return hasNextPage(output, state) ? [] : [query]
  })
}

/** Removes the data of the queries of a parent, and requests the active ones again. Returns these queries. */
function resetQueries(queryClient: QueryClient, affected: readonly Query[], of: Parent) {
  const queries = affected.filter((query) => hasParent(query, of))
  void queryClient.resetQueries({ predicate: (query) => queries.includes(query) })
  return queries
}

/** Returns the input of the parent, if the topic has one input for each parent. */
const inputOf = (input: unknown, of: Parent): unknown =>
  Array.isArray(input) ? input.find((one) => namesParent(one, of)) : input

/** A field of an input can have another type than its decoded value, for example the text 7 for the number 7. */
const namesParent = (input: unknown, of: Parent = {}) =>
  Object.entries(of).every(([field, value]) => String(Reflect.get(Object(input), field)) === String(value))

/** Returns the input of a query, which oRPC adds to the key. */
const inputOfQuery = ({ queryKey: [, options] }: Query): unknown => Reflect.get(Object(options), 'input')

const hasParent = (query: Query, of: Parent) => namesParent(inputOfQuery(query), of)

const isOfOtherParent = (query: Query, of: Parent = {}) =>
  Object.keys(of).some((field) => field in Object(inputOfQuery(query))) && !hasParent(query, of)

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
function hasNextPage(output: object | undefined, state: object) {
  const values: unknown[] = Object.values(state)
  const length = values.find(Array.isArray)?.length ?? Infinity
  const isPart = values.some((value) => typeof value === 'number' && value > length)
  return isPart || Boolean(output && 'nextCursor' in output)
}
