import type { InferContractRouterOutputs } from '@orpc/contract'
import type { LiveUpdateOf } from 'tallystick-contract'
import { describe, expect, expectTypeOf, test } from 'vitest'

import { newEmail, startService } from '../fixtures/service.ts'
import type { contract } from '../library/contract.ts'

type Outputs = InferContractRouterOutputs<typeof contract>
type LiveUpdate = LiveUpdateOf<typeof contract>

const service = await startService()

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

  test.each(['topics[0]=visits', 'topics[]=visits', 'topics=visits', 'topics=visits,visits'])(
    'accepts %s',
    async (query) => {
      expect(await read(service.origin, query, '\n\n')).toMatch(
        /^id: visits=[\w-]+\ndata: \{"topic":"visits","state":\{"count":0\}\}\n\n$/,
      )
    },
  )

  test.each([
    'topics[0]=visits&topics[1]=loans',
    'topics[]=visits&topics[]=loans',
    'topics=visits&topics=loans',
    'topics=visits,loans&loans[bookId]=dune',
  ])('accepts %s', async (query) => {
    const cookie = await service.signIn(newEmail())

    const events = await read(service.origin, query, '"loans":[]', { cookie })

    expect(events).toContain('{"topic":"visits","state":{"count":')
    expect(events).toContain('{"topic":"loans","state":{"loans":[]}}')
  })
})

test('the topic of an update determines the type of its state', () => {
  const read = (update: LiveUpdate) => {
    if (update.topic === 'loans') expectTypeOf(update.state).toEqualTypeOf<Outputs['loans']['list']>()
    if (update.topic === 'visits') expectTypeOf(update.state).toEqualTypeOf<Outputs['visits']['get']>()
    if (update.topic === 'shelves') expectTypeOf(update.state).toEqualTypeOf<Outputs['shelves']['list']>()
    if (update.topic === 'sessions') expectTypeOf(update.state).toEqualTypeOf<Outputs['sessions']['list']>()
  }

  expectTypeOf(read).parameter(0).toEqualTypeOf<LiveUpdate>()
  expectTypeOf<Outputs['live']['watch']>().toExtend<AsyncIterator<LiveUpdate>>()
})
