import { describe, expect, test } from 'vitest'

import { createFetch } from '../../engine/test/fixtures/http.ts'
import { startService } from '../fixtures/service.ts'

const service = await startService({
  RATE_LIMITS: 'on',
  TRUSTED_PROXIES: '127.0.0.1',
  LIMITS: 'steps=3,reservations=2',
})
const call = createFetch(service)

describe('limits', () => {
  test('apply to counter changes of one IP address over all protocols, and not to other addresses', async () => {
    const here = { 'x-forwarded-for': '198.51.100.1' }
    const json = { json: {} }
    const answers = [
      await call('POST', '/api/counter/increment', undefined, here),
      await call('POST', '/rpc/counter/decrement', json, here),
      await call('POST', '/api/counter/set', { inputValue: 7 }, here),
      await call('POST', '/api/counter/increment', undefined, here),
      await call('POST', '/rpc/counter/reset', json, here),
    ]

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
    for (const { headers } of answers.slice(3))
      expect(headers.get('ratelimit-policy')).toBe('"steps";q=3;w=60')
    expect((await call('GET', '/api/counter', undefined, here)).status).toBe(200)
    expect(
      (await call('POST', '/api/counter/increment', undefined, { 'x-forwarded-for': '198.51.100.2' })).status,
    ).toBe(200)
  })

  test('count an IPv6 /64 network as one address', async () => {
    const from = (address: string) =>
      call('POST', '/api/reservations', { name: 'Ada', guests: 1 }, { 'x-forwarded-for': address })
    const near = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2', '2001:db8:1:2:3:4:5:6']
    const statuses = [...(await Promise.all(near.map(from))), await from('2001:db8:1:3::1')].map(
      ({ status }) => status,
    )

    expect(statuses.slice(0, 3).sort()).toEqual([200, 200, 429])
    expect(statuses[3]).toBe(200)
  })
})
