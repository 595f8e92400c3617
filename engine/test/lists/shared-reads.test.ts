import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { createSharedReads, keyOf, type SharedRead } from '../../procedures/lists/shared-reads.ts'
import { newEmail, startService, withTableLocked } from '../fixtures/service.ts'
import { shelfRows, shelfShares } from '../library/db.ts'

const service = await startService()

/** Shares reads of numbers: pages that are not large. */
function createShare() {
  const sharedReads = createSharedReads()
  return async (account: string, key: string, read: SharedRead<number>, isAbandoned: () => boolean) => {
    const share = sharedReads(account, key, isAbandoned)
    return (await share(async (...parameters) => ({ value: await read(...parameters), isLarge: false })))
      .value
  }
}

/** A queue with one slot: `next` lets the oldest waiting read begin, and answers with the number of reads that have begun. */
function createQueue() {
  const waiting: (() => void)[] = []
  let begun = 0
  const read: SharedRead<number> = async (begin, isAbandoned) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    if (isAbandoned?.()) throw new Error('abandoned')
    begin()
    return ++begun
  }
  return { read, next: () => waiting.shift()?.(), waiting }
}

const never = () => false

/** Lets the reads reach the queue. */
const arrive = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('equal reads', () => {
  test('that wait share one statement, and a later one has its own', async () => {
    const share = createShare()
    const { read, next, waiting } = createQueue()
    const first = [share('Ada', 'a', read, never), share('Ada', 'a', read, never)]
    const other = share('Ada', 'b', read, never)
    await arrive()
    expect(waiting).toHaveLength(2)
    const joined = share('Ada', 'a', read, never)
    next()
    expect(await Promise.all([...first, joined])).toEqual([1, 1, 1])
    const later = share('Ada', 'a', read, never)
    await arrive()
    next()
    expect(await other).toBe(2)
    next()
    expect(await later).toBe(3)
  })

  test('do not share a statement that is sent', async () => {
    const share = createShare()
    let answer: ((value: number) => void) | undefined
    const sent = share(
      'Ada',
      'a',
      (begin) => {
        begin()
        return new Promise((resolve) => (answer = resolve))
      },
      never,
    )
    await arrive()
    expect(await share('Ada', 'a', () => Promise.resolve(2), never)).toBe(2)
    answer?.(1)
    expect(await sent).toBe(1)
  })

  test('run as long as one of their callers waits, and fail if all are gone', async () => {
    const share = createShare()
    const { read, next } = createQueue()
    const gone = () => true
    const shared = [share('Ada', 'a', read, gone), share('Ada', 'a', read, never)]
    await arrive()
    next()
    expect(await Promise.all(shared)).toEqual([1, 1])

    const abandoned = [share('Ada', 'a', read, gone), share('Ada', 'a', read, gone)]
    await arrive()
    next()
    expect(await Promise.allSettled(abandoned)).toMatchObject([
      { status: 'rejected' },
      { status: 'rejected' },
    ])
    const retried = share('Ada', 'a', read, never)
    await arrive()
    next()
    expect(await retried).toBe(2)
  })
})

test('a large result is not shared: each caller reads in its own turn', async () => {
  const share = createSharedReads()
  let reads = 0
  const read = (begin: () => void) => {
    begin()
    return Promise.resolve({ value: ++reads, isLarge: true })
  }
  const results = await Promise.all([share('Ada', 'a', never)(read), share('Ada', 'a', never)(read)])
  expect(results.map(({ value }) => value)).toEqual([1, 2])
})

test('at most a hundred calls of an account join reads', async () => {
  const share = createShare()
  const { read, next } = createQueue()
  const first = share('Ada', 'a', read, never)
  const joined = Array.from({ length: 100 }, () => share('Ada', 'a', read, never))
  await expect(share('Ada', 'a', read, never)).rejects.toMatchObject({ status: 503 })
  const ofBob = [share('Bob', 'b', read, never), share('Bob', 'b', read, never)]
  await arrive()
  next()
  expect(await Promise.all([first, ...joined])).toEqual([1, ...joined.map(() => 1)])
  next()
  expect(await Promise.all(ofBob)).toEqual([2, 2])
  const again = [share('Ada', 'a', read, never), share('Ada', 'a', read, never)]
  await arrive()
  next()
  expect(await Promise.all(again)).toEqual([3, 3])
})

test('a key tells apart values that have the same text, and is undefined for objects', () => {
  const keys = [
    ['1'],
    [1],
    [1n],
    ['null'],
    [null],
    [undefined],
    ['a', 'b'],
    ['a,b'],
    [NaN],
    ['NaN'],
    [true],
    ['true'],
  ]
  expect(new Set(keys.map(keyOf)).size).toBe(keys.length)
  expect(keyOf(['a', 1n, null])).toBe(keyOf(['a', 1n, null]))
  expect(keyOf(['a', new Date()])).toBeUndefined()
  expect(keyOf([new Set(['a'])])).toBeUndefined()
})

test('lists of one account on many connections share a statement, which sees every change before it', async () => {
  const email = newEmail()
  const [ada, bob, cleo] = await Promise.all([service.person(), service.person(email), service.person()])
  const shelf = await ada.shelves.create({ name: 'Poetry' })
  await ada.shelves.share({ id: shelf.id, email, role: 'reader' })
  const statements = vi.spyOn(shelfRows, 'list')
  onTestFinished(() => {
    statements.mockRestore()
  })
  const lists: ReturnType<typeof bob.shelves.list>[] = []
  const listAsBob = (count: number) => {
    for (let index = 0; index < count; index++) lists.push(bob.shelves.list())
  }

  let other: ReturnType<typeof bob.shelves.list> | undefined
  await withTableLocked(service.databaseUrl, 'shelves', async () => {
    // An account has at most two lists at the same time: they wait for the lock, and all others wait for them.
    for (const sent of [1, 2]) {
      listAsBob(1)
      await expect.poll(() => statements.mock.calls.length).toBe(sent)
    }
    listAsBob(10)
    await service.services.db.delete(shelfShares)
    listAsBob(10)
    other = cleo.shelves.list()
    await expect.poll(() => statements.mock.calls.length).toBe(3)
  })

  const [, , ...shared] = await Promise.all(lists)
  expect(shared).toEqual(shared.map(() => ({ shelves: [] })))
  expect(await other).toEqual({ shelves: [] })
  // Two of Bob, one of Cleo, and one for twenty calls of Bob.
  expect(statements).toHaveBeenCalledTimes(4)
})
