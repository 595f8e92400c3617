import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { createTurns } from '../../procedures/lists/turns.ts'

/** Blocks the process, as a statement of the embedded database does. */
function work(duration: number) {
  const end = performance.now() + duration
  while (performance.now() < end);
}

describe('turns', () => {
  test('of accounts alternate, also if one account has many', async () => {
    const takeTurn = createTurns()
    const order: string[] = []
    const turn = (id: string) => takeTurn(id, () => Promise.resolve(void order.push(id)))

    await Promise.all(['ada', 'ada', 'ada', 'bob', 'ada', 'cleo', 'bob'].map(turn))

    expect(order.slice(0, 3)).toEqual(['ada', 'bob', 'cleo'])
    expect(order.filter((id) => id === 'ada')).toHaveLength(4)
  })

  test('asked for at the end of another begin in a later iteration of the event loop', async () => {
    const takeTurn = createTurns()
    let isLater = false
    setImmediate(() => (isLater = true))

    await takeTurn('ada', () => Promise.resolve())

    expect(await takeTurn('bob', () => Promise.resolve(isLater))).toBe(true)
  })

  test('happen one at a time, each in a new iteration of the event loop', async () => {
    const takeTurn = createTurns()
    let [running, peak, iteration] = [0, 0, 0]
    const iterations: number[] = []
    const count = () => {
      iteration++
      if (iterations.length < 3) setImmediate(count)
    }
    setImmediate(count)

    await Promise.all(
      ['ada', 'bob', 'cleo'].map((id) =>
        takeTurn(id, async () => {
          peak = Math.max(peak, ++running)
          await Promise.resolve()
          running--
          iterations.push(iteration)
        }),
      ),
    )

    expect(peak).toBe(1)
    expect(new Set(iterations).size).toBe(3)
  })

  test('are followed by a pause of the account, as long as the turn', async () => {
    const takeTurn = createTurns()
    const turns: { begin: number; end: number }[] = []
    const turn = () =>
      takeTurn('ada', () => {
        const begin = performance.now()
        work(30)
        turns.push({ begin, end: performance.now() })
        return Promise.resolve()
      })

    await Promise.all([turn(), turn(), turn()])

    for (const [index, { begin }] of turns.slice(1).entries()) {
      const previous = turns[index] ?? { begin: 0, end: 0 }
      // Timers of Node.js can end a millisecond early.
      expect(begin - previous.end).toBeGreaterThanOrEqual(previous.end - previous.begin - 1)
    }
  })

  test('of another account begin during a pause', async () => {
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    onTestFinished(() => {
      clock.mockRestore()
    })
    const takeTurn = createTurns()
    const order: string[] = []
    const turn = (id: string, duration: number) =>
      takeTurn(id, () => {
        order.push(id)
        now += duration
        return Promise.resolve()
      })

    const ofAda = [turn('ada', 50), turn('ada', 0)]
    await ofAda[0]
    await Promise.all([1, 2, 3].map(() => turn('bob', 0)))
    now += 50
    await Promise.all(ofAda)

    expect(order).toEqual(['ada', 'bob', 'bob', 'bob', 'ada'])
  })

  test('follow a turn that fails, and leave out a closed connection', async () => {
    const takeTurn = createTurns()
    const order: string[] = []

    const failed = takeTurn('ada', () => Promise.reject(new Error('x')))
    const abandoned = takeTurn(
      'bob',
      () => Promise.resolve(void order.push('bob')),
      () => true,
    )
    const last = takeTurn('cleo', () => Promise.resolve(void order.push('cleo')))

    await expect(failed).rejects.toThrow('x')
    await expect(abandoned).rejects.toMatchObject({ status: 503 })
    await last
    expect(order).toEqual(['cleo'])
  })
})
