import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'

import { add, get, set } from '../db/counter.ts'
import { createTallystick } from '../src/testing.ts'
import { describeTransports, startService } from './fixtures/service.ts'

const service = await startService()
const other = await createTallystick({ DATABASE_URL: service.databaseUrl })
afterAll(() => other.close())

const limit = Number.MAX_SAFE_INTEGER

const near = fc.integer({ min: -3, max: 3 }).map((by) => (by < 0 ? limit + by + 1 : by - limit))
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ step: fc.constantFrom(1, -1) }) },
  { weight: 1, arbitrary: fc.record({ value: fc.oneof(fc.integer(), near) }) },
)

describe('concurrent changes', () => {
  test('return the results of some sequential order', async () => {
    const { db } = service.services
    const law = fc.asyncProperty(fc.array(change, { maxLength: 40 }), async (changes) => {
      let count = await get(db)
      const expected = changes.map((change) => {
        const next = 'step' in change ? count + change.step : change.value
        if (!Number.isSafeInteger(next)) return undefined
        return (count = next)
      })

      const answers = changes.map((change) =>
        'step' in change ? add(db, change.step) : set(db, change.value),
      )

      expect(await Promise.all(answers)).toEqual(expected)
      expect(await get(db)).toBe(count)
    })
    await fc.assert(law, { numRuns: 200 })
  })

  test('are visible to every read that starts after their responses', async () => {
    const { db } = service.services
    await set(db, 0)

    const seen = Array.from({ length: 200 }, async () => [await add(db, 1), await get(db)] as const)

    for (const [own = 0, then] of await Promise.all(seen)) expect(then).toBeGreaterThanOrEqual(own)
  })
})

describeTransports(service, ({ person, stranger }) => {
  describe('counter.get', () => {
    test('returns the same count to every caller, with or without a session, on every instance', async () => {
      const ada = await person()
      await stranger.counter.set({ inputValue: -7 })

      expect(await stranger.counter.get()).toEqual({ count: -7 })
      expect(await ada.counter.get()).toEqual({ count: -7 })
      expect(await other.stranger.counter.get()).toEqual({ count: -7 })
    })
  })

  describe('counter.increment', () => {
    test('adds one and returns the sum', async () => {
      await stranger.counter.reset()

      expect(await stranger.counter.increment()).toEqual({ count: 1 })
      expect(await stranger.counter.increment()).toEqual({ count: 2 })
    })

    test('loses none of 1,000 increments by 50 concurrent callers of two instances', async () => {
      await stranger.counter.reset()

      const counts = await Promise.all(
        Array.from({ length: 50 }, async (_, caller) => {
          const { counter } = caller % 2 === 0 ? stranger : other.stranger
          const own: number[] = []
          while (own.length < 20) own.push((await counter.increment()).count)
          return own
        }),
      )

      const inOrder = counts.flat().sort((a, b) => a - b)
      expect(inOrder).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1))
      expect(await stranger.counter.get()).toEqual({ count: 1000 })
    })
  })

  describe('counter.decrement', () => {
    test('subtracts one and returns the difference', async () => {
      await stranger.counter.reset()

      expect(await stranger.counter.decrement()).toEqual({ count: -1 })
      expect(await stranger.counter.decrement()).toEqual({ count: -2 })
    })
  })

  describe.each([
    ['increment', limit],
    ['decrement', -limit],
  ] as const)('counter.%s', (step, end) => {
    test(`reaches ${end}, and rejects a step beyond without a change`, async () => {
      await stranger.counter.set({ inputValue: end - Math.sign(end) })

      expect(await stranger.counter[step]()).toEqual({ count: end })

      await expect(stranger.counter[step]()).rejects.toMatchObject({
        code: 'CONFLICT',
        defined: true,
        status: 409,
        message: 'The counter is at its limit',
      })
      expect(await stranger.counter.get()).toEqual({ count: end })
    })
  })

  describe('counter.set', () => {
    test.each([0, 12, -12, limit, -limit])('sets %d', async (inputValue) => {
      expect(await stranger.counter.set({ inputValue })).toEqual({ count: inputValue })

      expect(await stranger.counter.get()).toEqual({ count: inputValue })
    })

    test('ignores unknown fields', async () => {
      const signals = { inputValue: 3, count: 9, theme: 'dark' }

      expect(await stranger.counter.set(signals)).toEqual({ count: 3 })
    })

    test.each([1.5, 2 ** 53, -(2 ** 53), 1e300, '1', null, undefined])('rejects %j', async (inputValue) => {
      await stranger.counter.set({ inputValue: 5 })

      await expect(stranger.counter.set({ inputValue: inputValue as number })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        defined: false,
        status: 400,
        data: { issues: [{ path: 'inputValue', message: expect.any(String) }] },
      })

      expect(await stranger.counter.get()).toEqual({ count: 5 })
    })
  })

  describe('counter.fragment', () => {
    test('returns the count, its HTML and the time', async () => {
      await stranger.counter.set({ inputValue: 42 })
      const now = Date.now()

      const fragment = await stranger.counter.fragment()

      expect(fragment).toEqual({
        count: 42,
        html: expect.stringContaining('>42<'),
        renderedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      })
      expect(Math.abs(Date.parse(fragment.renderedAt) - now)).toBeLessThan(30_000)
    })
  })

  describe('counter.reset', () => {
    test('sets the counter to zero', async () => {
      await stranger.counter.set({ inputValue: 42 })

      expect(await stranger.counter.reset()).toEqual({ count: 0 })

      expect(await stranger.counter.get()).toEqual({ count: 0 })
    })
  })
})
