import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'

import { createBus } from '../../live/bus.ts'
import { createSharedStates } from '../../live/shared-state.ts'
import type { Source } from '../../live/source.ts'
import { findByToken } from '../../db/accounts/caller-lookup.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { startService } from '../fixtures/service.ts'

const service = await startService()

/** A bus without other processes. `announce` delivers a change like a change of another process. */
function createTestBus() {
  const receivers: ((payload: string) => void)[] = []
  const notifications: Parameters<typeof createBus>[0] = {
    notify: () => Promise.resolve(),
    listen: ({ receive }) => {
      receivers.push(receive)
      return () => Promise.resolve()
    },
  }
  const announce = (key: string) => {
    for (const receive of receivers) receive(`other ${key}`)
  }
  return { bus: createBus(notifications, service.services.log), announce }
}

function join(bus: ReturnType<typeof createBus>, source: Partial<Source>, states = createSharedStates(bus)) {
  const defaults: Source = {
    topic: 'shelves',
    name: 'shelves',
    isPrivate: true,
    contract: { meta: {}, errorMap: {}, route: {}, handler: {}, middlewares: [] },
    id: '1',
    account: 'ada',
    key: 'shelves:ada',
    read: () => Promise.resolve({}),
  }
  const joined = states.join({ ...defaults, ...source }, () => undefined)
  if (!joined) throw new Error('There are too many states')
  return joined
}

/** Waits until all promises that can settle have settled. */
async function settled() {
  for (let step = 0; step < 5; step++) await setImmediate()
}

describe('a state that streams share', () => {
  test('is read again for a stream that opens at the end of a read', async () => {
    for (let steps = 0; steps < 30; steps++) {
      const reads: (() => void)[] = []
      const read = () =>
        new Promise((resolve) => {
          reads.push(() => {
            resolve({})
          })
        })
      const { state, leave } = join(createTestBus().bus, { read })
      const first = state.refresh()
      await settled()
      reads[0]?.()
      for (let step = 0; step < steps; step++) await Promise.resolve()

      let isRefreshed = false
      const second = state.refresh().then(() => (isRefreshed = true))
      await vi.waitFor(() => {
        expect(reads, `after ${steps} steps`).toHaveLength(2)
      }, PATIENCE)
      expect(isRefreshed).toBe(false)

      reads[1]?.()
      await Promise.all([first, second])
      leave()
    }
  })

  test('is complete for a new stream after one read, even if changes arrive faster than reads end', async () => {
    const { bus, announce } = createTestBus()
    let reads = 0
    const { state, leave } = join(bus, {
      read: async () => {
        reads++
        announce('shelves:ada')
        await setImmediate()
        announce('shelves:ada')
        return {}
      },
    })

    await state.refresh()

    expect(reads).toBe(1)
    leave()
  })

  test('is sent again after two changes that cancel each other out, but not after changes of other accounts', async () => {
    const { bus, announce } = createTestBus()
    let reads = 0
    const { state, leave } = join(bus, {
      otherKeys: () => Promise.resolve(['shelves:bob']),
      read: () => Promise.resolve({ isSame: ++reads > 0 }),
    })
    await state.refresh()
    const { snapshot } = state
    const readAfter = async (key: string) => {
      const before = reads
      announce(key)
      await expect.poll(() => reads, PATIENCE).toBe(before + 1)
      await settled()
      return state.snapshot
    }

    expect(await readAfter('shelves:bob shelves:bob')).toBe(snapshot)
    expect(await readAfter('shelves:ada')).toBe(snapshot)
    expect(await readAfter('shelves:ada shelves:ada')).not.toBe(snapshot)
    expect(state.snapshot?.tag).toBe(snapshot?.tag)
    leave()
  })

  test('is read again after a share that is committed while the keys are read for the first time', async () => {
    const { bus, announce } = createTestBus()
    const shares: string[] = []
    let reads = 0
    const otherKeys = async () => {
      const found = [...shares]
      await Promise.resolve()
      if (shares.push('shelves:bob') === 1) announce('shelves:ada')
      return found
    }
    const { state, leave } = join(bus, { otherKeys, read: () => Promise.resolve({ reads: ++reads }) })
    await state.refresh()
    const before = reads

    announce('shelves:bob')

    await expect.poll(() => reads, PATIENCE).toBeGreaterThan(before)
    leave()
  })
})

describe('an account with large states', () => {
  test('reads one state at a time, pauses after each read, and does not delay another account', async () => {
    const { bus } = createTestBus()
    const states = createSharedStates(bus)
    const reads: string[] = []
    const read = (account: string, length: number) => () => {
      reads.push(account)
      return Promise.resolve({ text: 'x'.repeat(length) })
    }
    // After a state of this size, the account pauses for ten seconds.
    const ada = Array.from({ length: 20 }, (_, index) =>
      join(bus, { id: String(index), account: 'ada', read: read('ada', 20_000_000) }, states),
    )
    const bob = join(bus, { id: 'bob', account: 'bob', read: read('bob', 10) }, states)

    const [first] = ada.map(({ state }) => state.refresh())
    for (let turn = 0; turn < 3; turn++) await bob.state.refresh()
    await first

    expect(reads.filter((account) => account === 'ada')).toHaveLength(1)
    expect(reads.filter((account) => account === 'bob')).toHaveLength(3)
    for (const { leave } of [...ada, bob]) leave()
  })
})

describe('a stream', () => {
  test('leaves no listener on the signal of its caller', async () => {
    const { signal } = new AbortController()
    const events = await service.stranger.live.watch({ topics: ['visits'] }, { signal })
    expect(getEventListeners(signal, 'abort')).not.toEqual([])

    await events.return()

    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('ends if its caller has aborted the signal before the call', async () => {
    const events = await service.stranger.live.watch({ topics: ['visits'] }, { signal: AbortSignal.abort() })

    expect(await events.next()).toMatchObject({ done: true })
  })

  test('does not open for a session that ended after its authentication', async () => {
    const cookie = await service.signIn('ada@example.com')
    const { db, live } = service.services
    const token = decodeURIComponent(cookie).replace(/^[^=]*=|\..*/g, '')
    const caller = await findByToken(db, token)
    expect(caller).toBeDefined()
    await service.services.identity.signOut(cookie)

    const opened = live.open({
      topics: ['shelves'],
      caller,
      headers: {},
      reply: new Map(),
      input: {},
      given: {},
      isDatastar: false,
    })

    await expect(opened).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })
})
