import { describe, expect, test } from 'vitest'

import { openEvents } from '../fixtures/event-source.ts'
import { createFetch } from '../fixtures/http.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { newEmail, startService } from '../fixtures/service.ts'

let host = 0
const newAddress = () => `192.0.2.${++host}`

/** Starts a service for one test, because the streams of an earlier test may be open for longer than the test. */
async function startWith(limits: Record<string, string>) {
  const service = await startService({ TRUSTED_PROXIES: '127.0.0.1', ...limits })
  const call = createFetch(service)
  return {
    service,
    call,
    open: (headers: Record<string, string>, topics = 'counter') =>
      openEvents(service.origin, `/api/live?topics=${topics}`, headers),
    expectRefused: async (headers: Record<string, string>, status: number, topics = 'counter') => {
      const answer = await call('GET', `/api/live?topics=${topics}`, undefined, headers)
      expect(answer).toMatchObject({ status, body: { status } })
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    },
  }
}

describe('the number of open streams is limited', () => {
  test('for each person, on all addresses', async () => {
    const { service, open, expectRefused } = await startWith({ MAX_PERSON_STREAMS: '2' })
    const cookie = await service.signIn(newEmail())
    const from = () => ({ cookie, 'x-forwarded-for': newAddress() })
    const sources = [await open(from(), 'tasks'), await open(from(), 'notes')]

    await expectRefused(from(), 429, 'tasks')

    sources[0]?.close()
    const reopen = async () => sources[sources.push(await open(from(), 'tasks')) - 1]?.status
    await expect.poll(reopen, PATIENCE).toBe(200)
    for (const source of sources) source.close()
  })

  test('for each address', async () => {
    const { open, expectRefused } = await startWith({ MAX_ADDRESS_STREAMS: '4' })
    const from = { 'x-forwarded-for': newAddress() }
    const sources = await Promise.all([open(from), open(from), open(from), open(from)])
    expect(sources.map(({ status }) => status)).toEqual([200, 200, 200, 200])

    await expectRefused(from, 429)

    for (const source of sources) source.close()
  })

  test('for the process, and a refused call frees its place', async () => {
    const { service, call, open, expectRefused } = await startWith({ MAX_STREAMS: '6' })
    const from = () => ({ 'x-forwarded-for': newAddress() })
    const cookie = await service.signIn(newEmail())
    const invalid = () =>
      call('GET', '/api/live?topics=tasks&tasks[limit]=x', undefined, { ...from(), cookie })
    for (let index = 0; index < 7; index++) expect((await invalid()).status).toBe(400)
    const statuses: number[] = []
    for (let index = 0; index < 12; index++) {
      const source = await open(from())
      statuses.push(source.status)
    }

    expect(statuses.filter((status) => status === 200)).toHaveLength(6)
    await expectRefused(from(), 503)
  })
})
