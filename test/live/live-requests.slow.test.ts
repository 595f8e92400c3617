import { describe, expect, expectTypeOf, test } from 'vitest'

import type { Outputs } from '../../contract/client.ts'
import type { LiveUpdate } from '../../contract/index.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const setCounter = (inputValue: number) => service.stranger.counter.set({ inputValue })

describe('GET /api/live', () => {
  /** Reads the stream until it contains `text`, or ends. Returns what the stream contains. */
  async function read(origin: string, query: string, text: string, headers: Record<string, string> = {}) {
    const controller = new AbortController()
    const response = await fetch(`${origin}/api/live?${query}`, { headers, signal: controller.signal })
    const decoder = new TextDecoder()
    let received = ''
    for await (const chunk of response.body ?? []) {
      received += decoder.decode(chunk as Uint8Array, { stream: true })
      if (received.includes(text)) break
    }
    controller.abort()
    return received
  }

  test.each(['topics[0]=counter', 'topics[]=counter', 'topics=counter', 'topics=counter,counter'])(
    'accepts %s',
    async (query) => {
      await setCounter(7)

      expect(await read(service.origin, query, '\n\n')).toMatch(
        /^id: counter=[\w-]+\ndata: \{"topic":"counter","state":\{"count":7\}\}\n\n$/,
      )
    },
  )

  test.each([
    'topics[0]=counter&topics[1]=tasks',
    'topics[]=counter&topics[]=tasks',
    'topics=counter&topics=tasks',
    'topics=counter,tasks&tasks[status]=pending',
  ])('accepts %s', async (query) => {
    const cookie = await service.signIn(newEmail())

    const events = await read(service.origin, query, '"taskCount":0', { cookie })

    expect(events).toContain('{"topic":"counter","state":{"count":')
    expect(events).toContain('{"topic":"tasks","state":{"tasks":[],"taskCount":0}}')
  })
})

test('the topic of an update determines the type of its state', () => {
  const read = (update: LiveUpdate) => {
    if (update.topic === 'tasks') expectTypeOf(update.state).toEqualTypeOf<Outputs['tasks']['list']>()
    if (update.topic === 'counter') expectTypeOf(update.state).toEqualTypeOf<Outputs['counter']['get']>()
    if (update.topic === 'notes') expectTypeOf(update.state).toEqualTypeOf<Outputs['notes']['list']>()
    if (update.topic === 'sessions') expectTypeOf(update.state).toEqualTypeOf<Outputs['sessions']['list']>()
  }

  expectTypeOf(read).parameter(0).toEqualTypeOf<LiveUpdate>()
  expectTypeOf<Outputs['live']['watch']>().toExtend<AsyncIterator<LiveUpdate>>()
})
