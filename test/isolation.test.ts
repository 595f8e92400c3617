import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { ensure } from '../db/auth.ts'
import { open } from '../db/index.ts'
import { list } from '../db/tasks.ts'
import { limitConcurrency } from '../src/procedures/concurrency.ts'
import { holding, somebody, startService } from './service.ts'

const service = await startService()

describe('a list that waits', () => {
  test('delays no session lookup', async () => {
    const cookie = await service.signIn(somebody())
    const ada = service.client({ cookie })
    const done: string[] = []

    await holding(service.databaseUrl, 'tasks', async () => {
      const list = ada.tasks.list().finally(() => done.push('list'))
      for (let turn = 0; turn < 3; turn++) await ada.account.get()
      done.push('lookups')
      void list.catch(() => undefined)
    })

    expect(done[0]).toBe('lookups')
  })
})

describe('lists on the embedded database', () => {
  test('leave a turn of the event loop to others after each of them', async () => {
    const { db, close } = await open('memory:')
    const { id } = await ensure(db, { email: 'ada@example.com', name: '' })
    await list(db, id, { limit: 1 })
    const turns: number[] = []
    let turn = 0
    const count = () => {
      turn++
      if (turns.length < 6) setImmediate(count)
    }
    setImmediate(count)

    const lists = Array.from({ length: 6 }, () => list(db, id, { limit: 1 }).then(() => turns.push(turn)))
    await Promise.all(lists)
    await close()

    expect(new Set(turns).size).toBe(6)
  })
})

describe('limitConcurrency', () => {
  const calls = fc.array(fc.record({ person: fc.constantFrom('ada', 'bob', 'cleo'), fails: fc.boolean() }), {
    maxLength: 30,
  })

  test('runs at most so many calls of one person at once, each of them once and in order', async () => {
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

  test('keeps nobody waiting for another person', async () => {
    const inTurn = limitConcurrency(1)
    void inTurn('ada', () => new Promise(() => undefined))
    void inTurn('ada', () => new Promise(() => undefined))

    expect(await inTurn('bob', () => Promise.resolve('answered'))).toBe('answered')
  })
})
