import { describe, expect, test } from 'vitest'

import { MAX_ADDRESS_STREAMS } from '../../live/stream-limits.ts'
import { openEvents } from '../fixtures/event-source.ts'
import { createFetch } from '../fixtures/http.ts'
import { bearer, registerApp } from '../fixtures/oauth-app.ts'
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
    open: (headers: Record<string, string>, topics = 'visits') =>
      openEvents(service.origin, `/api/live?topics=${topics}`, headers),
    expectRefused: async (headers: Record<string, string>, status: number, topics = 'visits') => {
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
    const sources = [await open(from(), 'loans'), await open(from(), 'shelves')]

    await expectRefused(from(), 429, 'loans')

    sources[0]?.close()
    const reopen = async () => sources[sources.push(await open(from(), 'loans')) - 1]?.status
    await expect.poll(reopen, PATIENCE).toBe(200)
    for (const source of sources) source.close()
  })

  test('for each address', async () => {
    const { open, expectRefused } = await startWith({})
    const from = { 'x-forwarded-for': newAddress() }
    const sources = await Promise.all(Array.from({ length: MAX_ADDRESS_STREAMS }, () => open(from)))
    expect(new Set(sources.map(({ status }) => status))).toEqual(new Set([200]))

    await expectRefused(from, 429)

    for (const source of sources) source.close()
  })

  test('for each app, so that the page of the person still opens streams', async () => {
    const { service, open, expectRefused } = await startWith({ MAX_PERSON_STREAMS: '4' })
    const cookie = await service.signIn(newEmail())
    const appOf = async () => bearer(await (await registerApp(service)).obtainTokens(cookie))
    const apps = [await appOf(), await appOf(), await appOf()]
    const statusOf = async (headers: Record<string, string>) => (await open(headers, 'loans')).status

    expect(await statusOf(apps[0] ?? {})).toBe(200)
    await expectRefused(apps[0] ?? {}, 429, 'loans')
    expect(await statusOf(apps[1] ?? {})).toBe(200)
    await expectRefused(apps[2] ?? {}, 429, 'loans')

    expect([await statusOf({ cookie }), await statusOf({ cookie })]).toEqual([200, 200])
    await expectRefused({ cookie }, 429, 'loans')
  })

  test('for each IPv6 /48: sixteen times the limit of a /64', async () => {
    const { open, expectRefused } = await startWith({})
    const from = (block: number, network: number) => ({
      'x-forwarded-for': `2001:db8:${block}:${network.toString(16)}::1`,
    })
    for (let network = 0; network < 16; network++) {
      const sources = Array.from({ length: MAX_ADDRESS_STREAMS }, () => open(from(1, network)))
      for (const { status } of await Promise.all(sources)) expect(status).toBe(200)
    }

    await expectRefused(from(1, 16), 429)

    expect((await open(from(2, 0))).status).toBe(200)
  })

  test('for the process: callers without a session occupy at most three quarters', async () => {
    const { service, call, open, expectRefused } = await startWith({ MAX_STREAMS: '8' })
    const from = () => ({ 'x-forwarded-for': newAddress() })
    const cookie = await service.signIn(newEmail())
    const invalid = () =>
      call('GET', '/api/live?topics=loans&loans[bookId][x]=x', undefined, { ...from(), cookie })
    for (let index = 0; index < 9; index++) expect((await invalid()).status).toBe(400)
    for (let index = 0; index < 6; index++) expect((await open(from())).status).toBe(200)

    await expectRefused(from(), 503)

    for (let index = 0; index < 2; index++)
      expect((await open({ ...from(), cookie }, 'loans')).status).toBe(200)
    await expectRefused({ ...from(), cookie }, 503, 'loans')
  })
})

test('the streams of a person have at most eight different lists of loans', async () => {
  const { service, open, expectRefused } = await startWith({})
  const cookie = await service.signIn(newEmail())
  const topics = (bookId: number) => `loans&loans[bookId]=${bookId}`
  for (let bookId = 1; bookId <= 8; bookId++)
    expect((await open({ cookie }, topics(bookId))).status).toBe(200)

  await expectRefused({ cookie }, 429, topics(9))

  expect((await open({ cookie }, topics(8))).status).toBe(200)
})

test('apps with an access token leave half of the lists of loans to the page of the person', async () => {
  const { service, open, expectRefused } = await startWith({})
  const cookie = await service.signIn(newEmail())
  const [first, second] = [
    bearer(await (await registerApp(service)).obtainTokens(cookie)),
    bearer(await (await registerApp(service)).obtainTokens(cookie)),
  ]
  const topics = (bookId: number) => `loans&loans[bookId]=${bookId}`
  for (const bookId of [1, 2]) expect((await open(first, topics(bookId))).status).toBe(200)
  for (const bookId of [3, 4]) expect((await open(second, topics(bookId))).status).toBe(200)

  await expectRefused(second, 429, topics(5))

  for (const bookId of [5, 6, 7, 8]) expect((await open({ cookie }, topics(bookId))).status).toBe(200)
})
