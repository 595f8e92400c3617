import fc from 'fast-check'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'

import type { Call } from '../../http/server/protocol.ts'
import { createRequestReader, readTarget } from '../../http/server/request.ts'
import { limitConcurrency } from '../../guard/concurrency.ts'
import { queueListRead } from '../../procedures/lists/list-queue.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { withTableLocked, newEmail, startService } from '../fixtures/service.ts'

const service = await startService()

const readerWith = (id: string, options: { scopes?: string[]; isAbandoned?: () => boolean } = {}) => ({
  user: { id },
  ...options,
})

/** Returns a promise, and the function that resolves the promise. */
function createGate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { open, opened }
}

describe('a waiting list', () => {
  test('is not read if its client has closed the connection', async () => {
    const { open, opened } = createGate()
    const reads: string[] = []
    const read = (name: string) => async () => {
      reads.push(name)
      await opened
      return [{ bytes: 100 }]
    }
    let isClosed = false
    const isAbandoned = () => isClosed
    const ada = crypto.randomUUID()
    const running = ['first', 'second'].map((name) =>
      queueListRead(readerWith(ada, { isAbandoned }), read(name)),
    )
    const closed = queueListRead(readerWith(ada, { isAbandoned }), read('closed'))
    const last = queueListRead(readerWith(ada), read('last'))

    isClosed = true
    open()

    await expect(closed).rejects.toMatchObject({ status: 503 })
    await Promise.all([...running, last])
    expect(reads).toEqual(['first', 'second', 'last'])
  })

  test('of an app leaves one of two places to the person', async () => {
    const { open, opened } = createGate()
    const held = () => opened.then(() => [{ bytes: 100 }])
    const ada = crypto.randomUUID()
    const ofApps = Array.from({ length: 10 }, () =>
      queueListRead(readerWith(ada, { scopes: ['read'] }), held),
    )

    expect(await queueListRead(readerWith(ada), () => Promise.resolve([{ bytes: 1 }]))).toEqual([
      { bytes: 1 },
    ])

    open()
    expect(await Promise.all(ofApps)).toHaveLength(10)
  })

  test('is refused if a hundred lists of the account wait', async () => {
    const { open, opened } = createGate()
    const ada = crypto.randomUUID()
    const lists = Array.from({ length: 102 }, () =>
      queueListRead(readerWith(ada), () => opened.then(() => [{ bytes: 100 }])),
    )

    await expect(queueListRead(readerWith(ada), () => Promise.resolve([]))).rejects.toMatchObject({
      status: 503,
    })

    open()
    expect(await Promise.all(lists)).toHaveLength(102)
  })

  test('has a client that has closed the connection', async () => {
    const { createCall } = createRequestReader(service.services)
    const calls: Call[] = []
    const server = createServer((request) => {
      calls.push(createCall({ request, target: readTarget(request, service.origin), limit: 0 }))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET /api/shelves HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(() => calls.map(({ context }) => context.isAbandoned?.()), PATIENCE).toEqual([false])

    socket.destroy()

    await expect.poll(() => calls.map(({ context }) => context.isAbandoned?.()), PATIENCE).toEqual([true])
  })

  test('does not delay session lookups', async () => {
    const cookie = await service.signIn(newEmail())
    const ada = service.client({ cookie })
    const done: string[] = []

    await withTableLocked(service.databaseUrl, 'shelves', async () => {
      const list = ada.shelves.list().finally(() => done.push('list'))
      for (let turn = 0; turn < 3; turn++) await ada.account.get()
      done.push('lookups')
      void list.catch(() => undefined)
    })

    expect(done[0]).toBe('lookups')
  })
})

describe('large lists', () => {
  test('are read one at a time for all callers, with an iteration of the event loop between two reads', async () => {
    let [reading, peak, turn] = [0, 0, 0]
    const turns: number[] = []
    const count = () => {
      turn++
      if (turns.length < 6) setImmediate(count)
    }
    const read = (bytes: number) => async () => {
      peak = Math.max(peak, ++reading)
      await Promise.resolve()
      reading--
      turns.push(turn)
      return [{ bytes }]
    }
    const people = ['ada', 'bob', 'cleo', 'dan', 'eve', 'fay']
    for (const person of people) await queueListRead(readerWith(person), read(100_000))
    ;[turns.length, peak] = [0, 0]
    setImmediate(count)

    await Promise.all(people.map((person) => queueListRead(readerWith(person), read(100_000))))

    expect(peak).toBe(1)
    expect(new Set(turns).size).toBe(people.length)
  })

  test('do not delay a small list of another person', async () => {
    await queueListRead(readerWith('with large lists'), () => Promise.resolve([{ bytes: 100_000 }]))
    let finish: () => void = () => undefined
    const isFinished = new Promise<void>((resolve) => (finish = resolve))
    const large = queueListRead(readerWith('with large lists'), () =>
      isFinished.then(() => [{ bytes: 100_000 }]),
    )

    const small = await queueListRead(readerWith('with small lists'), () => Promise.resolve([{ bytes: 100 }]))

    expect(small).toEqual([{ bytes: 100 }])
    // All tests of this process share the queue.
    finish()
    await large
  })
})

describe('limitConcurrency', () => {
  const calls = fc.array(fc.record({ person: fc.constantFrom('ada', 'bob', 'cleo'), fails: fc.boolean() }), {
    maxLength: 30,
  })

  test('limits the concurrent calls of one person, and runs each call once and in order', async () => {
    const law = fc.asyncProperty(
      fc.scheduler(),
      calls,
      fc.integer({ min: 1, max: 3 }),
      async (s, calls, most) => {
        const inTurn = limitConcurrency(most)
        const running = new Map<string, number>()
        const begun = new Map<string, number[]>()
        let peak = 0
        const made = calls.map(({ person, fails }, index) =>
          inTurn(person, async () => {
            begun.set(person, [...(begun.get(person) ?? []), index])
            running.set(person, (running.get(person) ?? 0) + 1)
            peak = Math.max(peak, running.get(person) ?? 0)
            await s.schedule(Promise.resolve())
            running.set(person, (running.get(person) ?? 0) - 1)
            if (fails) throw new Error('fails')
            return index
          }),
        )

        const outcomes = Promise.allSettled(made)
        await s.waitFor(outcomes)

        expect(peak).toBeLessThanOrEqual(most)
        expect((await outcomes).map(({ status }) => status === 'rejected')).toEqual(
          calls.map(({ fails }) => fails),
        )
        for (const indices of begun.values()) expect(indices).toEqual(indices.toSorted((a, b) => a - b))
      },
    )

    await fc.assert(law)
  })

  test('does not delay calls of other people', async () => {
    const inTurn = limitConcurrency(1)
    void inTurn('ada', () => new Promise(() => undefined))
    void inTurn('ada', () => new Promise(() => undefined))

    expect(await inTurn('bob', () => Promise.resolve('answered'))).toBe('answered')
  })
})
