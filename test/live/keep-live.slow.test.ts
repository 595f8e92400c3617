import { isAsyncIteratorObject } from '@orpc/shared'
import { QueryClient, QueryObserver } from '@tanstack/query-core'
import type { StandardLinkPlugin } from '@orpc/client/standard'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { type CallContext, createClient, isDefinedError } from '../../contract/client.ts'
import {
  createQueryUtils,
  keepLive,
  type KeepLiveOptions,
  type LiveStatus,
} from '../../contract/query/index.ts'
import { BreakableConnection } from '../../engine/test/fixtures/breakable-connection.ts'
import { sessionTokenIn } from '../../engine/test/fixtures/http.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()

/** Signs in a new person. Returns a query client, the helpers, and the paths of all requests so far. */
async function signIn(origin = service.origin) {
  const email = newEmail()
  const cookie = await service.signIn(email)
  const requests: string[] = []
  const updates = createCounter()
  const client = createClient(origin, {
    headers: { cookie },
    plugins: [updates.plugin],
    fetch: (request, init) => {
      requests.push(new URL(request.url).pathname)
      return fetch(request, init)
    },
  })
  const orpc = createQueryUtils(client)
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  onTestFinished(() => {
    queryClient.clear()
  })

  const statuses: LiveStatus[] = []
  const errors: unknown[] = []
  const keep = (options: KeepLiveOptions) => {
    const stop = keepLive(queryClient, orpc, {
      onStatus: (status) => void statuses.push(status),
      onError: (error) => void errors.push(error),
      ...options,
    })
    onTestFinished(stop)
    return stop
  }
  return {
    email,
    cookie,
    queryClient,
    orpc,
    requests,
    updates,
    statuses,
    errors,
    keep,
    writer: service.client({ cookie }),
  }
}

type Person = Awaited<ReturnType<typeof signIn>>

/** Keeps a query active, as a component does that shows the query. */
const observe = (queryClient: QueryClient, options: object) => {
  const observer = new QueryObserver(queryClient, options as ConstructorParameters<typeof QueryObserver>[1])
  onTestFinished(observer.subscribe(() => undefined))
}

/** Counts the updates that a client has read from its streams, and that its caller has handled. */
function createCounter() {
  let count = 0
  const plugin: StandardLinkPlugin<CallContext> = {
    init: ({ interceptors = [] }) => {
      interceptors.push(async ({ next }) => {
        const output = await next()
        if (!isAsyncIteratorObject(output)) return output
        const read = output.next.bind(output)
        // A caller requests the next update after it has handled the last one.
        let isFirst = true
        output.next = () => {
          if (!isFirst) count++
          isFirst = false
          return read()
        }
        return output
      })
    },
  }
  return { plugin, count: () => count }
}

/** Waits until a number of updates is handled, and all requests are answered. */
const settle = ({ queryClient, updates }: Person, count: number) =>
  vi.waitFor(() => {
    expect(updates.count()).toBeGreaterThanOrEqual(count)
    expect(queryClient.isFetching()).toBe(0)
  }, PATIENCE)

/** Creates a promise that resolves when `release` is called. */
function createGate() {
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  return {
    held,
    release: () => {
      release()
    },
  }
}

describe('keepLive', () => {
  test('writes the new states to queries with equal input, without requests', async () => {
    const person = await signIn()
    const { queryClient, orpc, requests, keep, writer } = person
    const pending = { status: 'pending', limit: 10 } as const
    const options = [
      orpc.counter.get.queryOptions(),
      orpc.tasks.list.queryOptions({ input: { limit: 10, status: 'pending' } }),
      orpc.notes.list.queryOptions(),
      orpc.notes.list.queryOptions({ input: {} }),
      orpc.sessions.list.queryOptions(),
    ]
    for (const each of options) observe(queryClient, each)
    keep({ topics: ['counter', 'tasks', 'notes', 'sessions'], tasks: pending })
    await settle(person, 4)
    requests.length = 0

    const { count } = await writer.counter.increment()
    await writer.tasks.create({ taskTitle: 'Write' })
    await writer.notes.create({ title: 'Plan', body: '' })
    await service.signIn(person.email)

    const outputOf = (index: number): unknown => queryClient.getQueryData(options[index]?.queryKey ?? [])
    await vi.waitFor(async () => {
      expect(outputOf(0)).toEqual({ count })
      expect(outputOf(1)).toEqual(await writer.tasks.list(pending))
      expect(outputOf(2)).toMatchObject({ notes: [{ title: 'Plan' }] })
      expect(outputOf(3)).toEqual(outputOf(2))
      expect(outputOf(4)).toMatchObject({ sessionCount: 2 })
    }, PATIENCE)
    await settle(person, 8)
    expect(requests).toEqual([])
  })

  test('invalidates queries with other inputs, and infinite queries', async () => {
    const person = await signIn()
    const { queryClient, orpc, requests, keep, writer } = person
    const task = await writer.tasks.create({ taskTitle: 'Write' })
    const one = orpc.tasks.get.queryOptions({ input: { id: task.id } })
    const completed = orpc.tasks.list.queryOptions({ input: { status: 'completed' } })
    const infinite = orpc.tasks.list.infiniteOptions({
      input: (cursor: string | undefined) => ({ limit: 1, cursor }),
      initialPageParam: undefined,
      getNextPageParam: ({ nextCursor }) => nextCursor,
    })
    const inactive = orpc.tasks.list.queryOptions({ input: { status: 'in_progress' } })
    for (const options of [one, completed]) observe(queryClient, options)
    await queryClient.infiniteQuery(infinite)
    await queryClient.query(inactive)
    keep({ topics: ['tasks'] })
    await settle(person, 1)
    await queryClient.infiniteQuery(infinite)
    await queryClient.query(inactive)
    requests.length = 0

    await writer.tasks.update({ id: task.id, status: 'completed' })

    await vi.waitFor(() => {
      expect(queryClient.getQueryData(one.queryKey)).toMatchObject({ status: 'completed', etag: '"2"' })
      expect(queryClient.getQueryData(completed.queryKey)?.taskCount).toBe(1)
    }, PATIENCE)
    await settle(person, 2)
    expect(requests.toSorted()).toEqual(['/rpc/tasks/get', '/rpc/tasks/list'])
    for (const { queryKey } of [infinite, inactive])
      expect(queryClient.getQueryState(queryKey)?.isInvalidated).toBe(true)
  })

  test('invalidates the first form of notes, and no other resource', async () => {
    const person = await signIn()
    const { queryClient, orpc, requests, keep, writer } = person
    for (const options of [
      orpc.legacyNotes.list.queryOptions(),
      orpc.tasks.list.queryOptions(),
      orpc.account.get.queryOptions(),
    ])
      observe(queryClient, options)
    keep({ topics: ['notes', 'tasks'] })
    await settle(person, 2)
    requests.length = 0

    await writer.notes.create({ title: 'Plan', body: '' })

    await vi.waitFor(() => {
      expect(queryClient.getQueryData(orpc.legacyNotes.list.queryKey())?.noteCount).toBe(1)
    }, PATIENCE)
    await settle(person, 3)
    expect(requests).toEqual(['/rpc/legacyNotes/list'])
  })

  test('writes a list with further pages, and then requests the new cursor', async () => {
    const person = await signIn()
    const { queryClient, orpc, requests, keep, writer } = person
    for (const taskTitle of ['One', 'Two']) await writer.tasks.create({ taskTitle })
    const options = orpc.tasks.list.queryOptions({ input: { limit: 2 } })
    observe(queryClient, options)
    keep({ topics: ['tasks'], tasks: { limit: 2 } })
    await settle(person, 1)
    const cursorOf = () => queryClient.getQueryData(options.queryKey)?.nextCursor
    expect(cursorOf()).toBeUndefined()

    await writer.tasks.create({ taskTitle: 'Three' })
    await vi.waitFor(() => {
      expect(cursorOf()).toBeDefined()
    }, PATIENCE)
    await settle(person, 2)
    const before = cursorOf()
    requests.length = 0
    await writer.tasks.create({ taskTitle: 'Four' })

    await vi.waitFor(() => {
      expect(cursorOf()).not.toBe(before)
    }, PATIENCE)
    await settle(person, 3)
    expect(requests).toEqual(['/rpc/tasks/list'])
    const cursor = cursorOf() ?? ''
    expect((await writer.tasks.list({ limit: 2, cursor })).tasks.map(({ title }) => title)).toEqual([
      'Two',
      'One',
    ])
  })

  test('replaces the response of a request that began before the change', async () => {
    const person = await signIn()
    const { queryClient, orpc, keep, writer, statuses } = person
    const { held, release } = createGate()
    const equal = orpc.tasks.list.queryOptions()
    const different = orpc.tasks.list.queryOptions({ input: { limit: 5 } })
    let reads = 0
    const readSlowly = async () => {
      const output = await writer.tasks.list()
      if (++reads <= 2) await held
      return output
    }
    for (const options of [equal, different]) observe(queryClient, { ...options, queryFn: readSlowly })
    await vi.waitUntil(() => reads === 2, PATIENCE)
    keep({ topics: ['tasks'] })
    await vi.waitUntil(() => statuses.includes('connected'), PATIENCE)

    await writer.tasks.create({ taskTitle: 'Write' })
    await vi.waitFor(() => {
      expect(queryClient.getQueryData(equal.queryKey)?.taskCount).toBe(1)
    }, PATIENCE)
    release()
    await settle(person, 1)

    for (const { queryKey } of [equal, different])
      expect(queryClient.getQueryData(queryKey)?.taskCount).toBe(1)
  })

  test('replaces a response from the time without a connection, even if the state has changed back', async () => {
    const connection = new BreakableConnection('127.0.0.1', Number(new URL(service.origin).port))
    onTestFinished(() => {
      connection.close()
    })
    const person = await signIn(`http://127.0.0.1:${await connection.listen()}`)
    const { queryClient, orpc, keep, writer, statuses } = person
    const options = orpc.tasks.list.queryOptions({ input: { limit: 5 } })
    const countOf = () => queryClient.getQueryData(options.queryKey)?.taskCount
    observe(queryClient, { ...options, queryFn: () => writer.tasks.list({ limit: 5 }) })
    keep({ topics: ['tasks'] })
    await settle(person, 1)

    connection.cut()
    await vi.waitUntil(() => statuses.at(-1) === 'connecting', PATIENCE)
    const { id } = await writer.tasks.create({ taskTitle: 'Write' })
    await queryClient.refetchQueries({ queryKey: options.queryKey })
    expect(countOf()).toBe(1)
    await writer.tasks.delete({ id })
    connection.state = 'open'

    await vi.waitUntil(() => statuses.at(-1) === 'connected', PATIENCE)
    await vi.waitFor(() => {
      expect(countOf()).toBe(0)
    }, PATIENCE)
  })

  test('ends without a report when the returned function is called', async () => {
    const person = await signIn()
    const { queryClient, orpc, statuses, errors, keep, writer } = person
    observe(queryClient, orpc.counter.get.queryOptions())
    const stop = keep({ topics: ['counter'] })
    await settle(person, 1)
    const before = queryClient.getQueryData(orpc.counter.get.queryKey())
    const later = await signIn()
    observe(later.queryClient, later.orpc.counter.get.queryOptions())
    later.keep({ topics: ['counter'] })
    await settle(later, 1)

    stop()
    const changed = await writer.counter.increment()
    await vi.waitFor(() => {
      expect(later.queryClient.getQueryData(later.orpc.counter.get.queryKey())).toEqual(changed)
    }, PATIENCE)
    await settle(person, 1)

    expect(queryClient.getQueryData(orpc.counter.get.queryKey())).toEqual(before)
    expect(statuses).toEqual(['connecting', 'connected'])
    expect(errors).toEqual([])
  })

  test('reports that the session has ended', async () => {
    const person = await signIn()
    const { cookie, statuses, errors, keep } = person
    keep({ topics: ['tasks'] })
    await vi.waitUntil(() => statuses.includes('connected'), PATIENCE)

    const owner = service.client({ cookie: await service.signIn(person.email) })
    await owner.sessions.revoke({ revokeSessionToken: sessionTokenIn(cookie) })

    await vi.waitUntil(() => statuses.includes('closed'), PATIENCE)
    expect(statuses).toEqual(['connecting', 'connected', 'connecting', 'closed'])
    expect(errors).toMatchObject([{ code: 'UNAUTHORIZED', status: 401, defined: true }])
  })

  test('reports that the input is refused', async () => {
    const { statuses, keep } = await signIn()
    const codes: string[] = []
    keep({
      topics: ['tasks'],
      tasks: { limit: 0 },
      onError: (error) => {
        if (!isDefinedError(error)) codes.push(error.message)
      },
    })

    await vi.waitUntil(() => statuses.includes('closed'), PATIENCE)
    expect(codes).toEqual(['Input validation failed'])
    expect(statuses).toEqual(['connecting', 'closed'])
  })
})
