import { QueryClient, QueryObserver } from '@tanstack/query-core'
import { createRpcClient } from 'tallystick-contract'
import { createQueryUtils, keepLive, type KeepLiveOptions, type LiveStatus } from 'tallystick-contract/query'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { BreakableConnection } from '../../engine/test/fixtures/breakable-connection.ts'
import { newEmail, startService } from '../../engine/test/fixtures/help-desk.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import type { contract } from '../../engine/test/help-desk/contract.ts'

type Contract = typeof contract

const service = await startService()

/** Creates two projects, and signs in as a member of both, with a query client and the paths of all requests. */
async function createMember(origin = service.origin) {
  const owner = await service.person()
  const email = newEmail()
  const ids: number[] = []
  for (const name of ['One', 'Two']) {
    const { id } = await owner.projects.create({ name })
    await owner.projects.invite({ id, email })
    ids.push(id)
  }
  const [one = 0, two = 0] = ids
  const requests: string[] = []
  const client = createRpcClient<Contract>(origin, {
    headers: { cookie: await service.signIn(email) },
    fetch: (request, init) => {
      requests.push(new URL(request.url).pathname)
      return fetch(request, init)
    },
  })
  const orpc = createQueryUtils<Contract>(client)
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  onTestFinished(() => {
    queryClient.clear()
  })
  /** Keeps a query active, as a component does that shows the query. */
  const observe = (options: object) => {
    const observer = new QueryObserver(queryClient, options as ConstructorParameters<typeof QueryObserver>[1])
    onTestFinished(observer.subscribe(() => undefined))
    return () => observer.getCurrentResult()
  }
  const statuses: LiveStatus[] = []
  const keep = async (options: KeepLiveOptions<Contract>) => {
    const onStatus = (status: LiveStatus) => void statuses.push(status)
    const stop = keepLive(queryClient, orpc, { onStatus, ...options })
    onTestFinished(stop)
    await vi.waitUntil(() => statuses.at(-1) === 'connected', PATIENCE)
    return stop
  }
  const listOf = (projectId: number, search?: string) =>
    orpc.backlog.list.queryOptions({ input: { projectId, ...(search !== undefined && { search }) } })
  const titlesOf = (projectId: number) => queryClient.getQueryData(listOf(projectId).queryKey)?.titles
  /** Waits until the queries have these titles, and no request is open. */
  const settle = (first: string[] | undefined, second: string[] | undefined) =>
    vi.waitFor(() => {
      expect(titlesOf(one)).toEqual(first)
      expect(titlesOf(two)).toEqual(second)
      expect(queryClient.isFetching()).toBe(0)
    }, PATIENCE)
  return { owner, email, one, two, requests, orpc, queryClient, observe, keep, statuses, listOf, settle }
}

describe('keepLive', () => {
  test('writes the states of two projects to the queries of these projects, without requests', async () => {
    const { owner, one, two, requests, observe, keep, listOf, settle } = await createMember()
    observe(listOf(one))
    observe(listOf(two))
    await keep({ topics: ['backlog'], backlog: [{ projectId: one }, { projectId: two }] })
    await settle([], [])
    await owner.tickets.create({ projectId: one, title: 'Before' })
    await settle(['Before'], [])
    requests.length = 0

    await owner.tickets.create({ projectId: two, title: 'Two' })
    await settle(['Before'], ['Two'])
    await owner.tickets.create({ projectId: one, title: 'One' })
    await settle(['One', 'Before'], ['Two'])

    expect(requests).toEqual([])
  })

  test('requests other queries of the project that changes, and none of the other project', async () => {
    const { owner, one, two, orpc, queryClient, observe, keep, listOf, settle } = await createMember()
    const [filtered, other] = [listOf(one, 'e'), listOf(two, 'e')]
    const pages = orpc.backlog.list.infiniteOptions({
      input: () => ({ projectId: one }),
      initialPageParam: undefined,
      getNextPageParam: () => undefined,
    })
    observe(listOf(one))
    observe(listOf(two))
    await keep({ topics: ['backlog'], backlog: [{ projectId: one }, { projectId: two }] })
    // The first states have arrived.
    for (const projectId of [one, two]) await owner.tickets.create({ projectId, title: 'First' })
    await settle(['First'], ['First'])
    await queryClient.query(filtered)
    await queryClient.query(other)
    await queryClient.infiniteQuery(pages)
    const isOutdated = ({ queryKey }: { queryKey: readonly unknown[] }) =>
      queryClient.getQueryState(queryKey)?.isInvalidated
    expect([filtered, pages, other].map(isOutdated)).toEqual([false, false, false])

    await owner.tickets.create({ projectId: one, title: 'One' })
    await settle(['One', 'First'], ['First'])

    await vi.waitFor(() => {
      expect([filtered, pages].map(isOutdated)).toEqual([true, true])
    }, PATIENCE)
    expect(isOutdated(other)).toBe(false)
  })

  test('removes the data of a project after the membership has ended, and keeps the other project', async () => {
    const { owner, email, one, two, queryClient, observe, keep, listOf, statuses, settle } =
      await createMember()
    const [first] = [observe(listOf(one)), observe(listOf(two))]
    await queryClient.query(listOf(one, 'e'))
    await keep({ topics: ['backlog'], backlog: [{ projectId: one }, { projectId: two }] })
    await settle([], [])

    await owner.projects.exclude({ id: one, email })
    await settle(undefined, [])
    await owner.tickets.create({ projectId: two, title: 'Two' })
    await settle(undefined, ['Two'])

    expect(first()).toMatchObject({ status: 'error', error: { code: 'NOT_FOUND' } })
    expect(queryClient.getQueryData(listOf(one, 'e').queryKey)).toBeUndefined()
    expect(statuses).toEqual(['connecting', 'connected'])
  })

  test('continues after a lost connection, in which the membership has ended', async () => {
    const connection = new BreakableConnection('127.0.0.1', Number(new URL(service.origin).port))
    onTestFinished(() => {
      connection.close()
    })
    const member = await createMember(`http://127.0.0.1:${await connection.listen()}`)
    const { owner, email, one, two, observe, keep, listOf, statuses, settle } = member
    observe(listOf(one))
    observe(listOf(two))
    await keep({ topics: ['backlog'], backlog: [{ projectId: one }, { projectId: two }] })
    await settle([], [])
    // Both states have arrived.
    for (const [title, projectId] of [
      ['One', one],
      ['Two', two],
    ] as const)
      await owner.tickets.create({ projectId, title })
    await settle(['One'], ['Two'])

    connection.cut()
    await vi.waitUntil(() => statuses.at(-1) === 'connecting', PATIENCE)
    await owner.projects.exclude({ id: one, email })
    await owner.tickets.create({ projectId: two, title: 'New' })
    connection.state = 'open'

    await settle(undefined, ['New', 'Two'])
    expect(statuses.at(-1)).toBe('connected')
  })

  test('watches other projects after it has been called again', async () => {
    const { owner, one, two, observe, keep, listOf, settle } = await createMember()
    observe(listOf(one))
    observe(listOf(two))
    const stop = await keep({ topics: ['backlog'], backlog: { projectId: one } })
    await settle([], [])

    stop()
    await keep({ topics: ['backlog'], backlog: { projectId: two } })
    await owner.tickets.create({ projectId: two, title: 'Two' })

    await settle([], ['Two'])
  })
})
