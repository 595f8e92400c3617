import { eq, like } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { verifications } from '../../db/accounts/users.ts'
import { removeExpired } from '../../db/housekeeping.ts'
import { rateLimitCounters } from '../../db/accounts/rate-limits.ts'
import { put, records } from '../../db/accounts/oauth.ts'
import { sessions } from '../../db/accounts/sessions.ts'
import { networkOf } from '../../guard/networks.ts'
import { rateLimits } from '../../app/rate-limits.ts'
import { createFetch } from '../fixtures/http.ts'
import { createTallystick, newEmail, startService } from '../fixtures/service.ts'

const settings = {
  RATE_LIMITS: 'on',
  TRUSTED_PROXIES: '127.0.0.1',
  LIMITS: 'visits=3,writes=2,codes=3,tries=4,exports=2,registrations=2,tokens=2',
}
const service = await startService(settings)
const call = createFetch(service)
const { db } = service.services

let last = 0
/** Returns a header with an IP address that no earlier call returned. */
const newAddress = () => ({ 'x-forwarded-for': `198.51.${100 + (last >> 8)}.${last++ & 255}` })

const tooMany = (headers: Headers, name: string, points: number, window: number) => {
  const wait = Number(headers.get('retry-after'))
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(window)
  expect(headers.get('ratelimit')).toBe(`"${name}";r=0;t=${wait}`)
  expect(headers.get('ratelimit-policy')).toBe(`"${name}";q=${points};w=${window}`)
}
const refused = {
  status: 429,
  body: {
    defined: false,
    code: 'TOO_MANY_REQUESTS',
    status: 429,
    message: 'Too many requests; try again later',
  },
}

describe('limits', () => {
  test('apply to visits of one IP address over all protocols, and not to other addresses', async () => {
    const here = newAddress()
    const json = { json: {} }
    const answers = [
      await call('POST', '/api/visits/add', undefined, here),
      await call('POST', '/rpc/visits/add', json, here),
      await call('POST', '/api/visits/add', {}, here),
      await call('POST', '/api/visits/add', undefined, here),
      await call('POST', '/rpc/visits/add', json, here),
    ]

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
    expect(answers[3]).toMatchObject(refused)
    for (const { headers } of answers.slice(3)) tooMany(headers, 'visits', 3, 60)
    expect((await call('GET', '/api/visits', undefined, here)).status).toBe(200)
    expect((await call('POST', '/api/visits/add', undefined, newAddress())).status).toBe(200)
  })

  test('count an IPv6 /64 network as one address', async () => {
    const from = (address: string) =>
      call('POST', '/api/visits/add', undefined, { 'x-forwarded-for': address })
    const near = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::f']
    const statuses = [...(await Promise.all(near.map(from))), await from('2001:db8:1:3::1')].map(
      ({ status }) => status,
    )

    expect(statuses.slice(0, 4).sort()).toEqual([200, 200, 200, 429])
    expect(statuses[4]).toBe(200)
  })

  test('apply to writes of one person from all addresses, and not to reads', async () => {
    const ada = { cookie: await service.signIn(newEmail()) }
    const bob = { cookie: await service.signIn(newEmail()) }
    const write = (who: Record<string, string>) =>
      call('POST', '/api/shelves', { name: 'x' }, { ...who, ...newAddress() })
    const answers = [await write(ada), await write(ada), await write(ada), await write(bob)]

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 200])
    tooMany(answers[2]?.headers ?? new Headers(), 'writes', 2, 60)
    expect(await call('GET', '/api/shelves', undefined, ada)).toMatchObject({
      status: 200,
      body: { shelves: [{}, {}] },
    })
  })

  test('apply to exports of one person from all addresses', async () => {
    const [ada, bob] = [await service.signIn(newEmail()), await service.signIn(newEmail())]
    const read = (cookie: string) => call('GET', '/api/me/export', undefined, { cookie, ...newAddress() })
    const answers = [await read(ada), await read(ada), await read(ada), await read(bob)]

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 200])
    tooMany(answers[2]?.headers ?? new Headers(), 'exports', 2, 3600)
  })

  test('continue for an e-mail address after the deletion of its account', async () => {
    const email = newEmail()
    const cookie = await service.signIn(email)
    for (let index = 0; index < 5; index++)
      for (const name of ['codes', 'tries'] as const)
        await service.services.consumeRateLimit(rateLimits[name], email)

    const { body } = await call('GET', '/api/me/export', undefined, { cookie })

    const { status } = await call('POST', '/api/me/delete', { email }, { cookie, ...newAddress() })

    expect(status).toBe(200)
    const { id } = (body as { account: { id: string } }).account
    expect(
      await db
        .select()
        .from(rateLimitCounters)
        .where(like(rateLimitCounters.key, `%${id}`)),
    ).toEqual([])
    for (const name of ['codes', 'tries'] as const)
      expect(await service.services.consumeRateLimit(rateLimits[name], email)).toMatchObject({
        error: { code: 'TOO_MANY_REQUESTS' },
      })
  })

  test('do not replace 401 for unauthenticated writes', async () => {
    const answers = [1, 2, 3, 4].map(() => call('POST', '/api/shelves', { name: 'x' }, newAddress()))

    for (const { status } of await Promise.all(answers)) expect(status).toBe(401)
  })

  test('bound the codes sent to one account by concurrent requests from many addresses and instances', async () => {
    const other = await createTallystick({ ...settings, DATABASE_URL: service.databaseUrl })
    const email = newEmail()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        call(
          'POST',
          '/api/auth/email-otp/send-verification-otp',
          { email: index % 2 ? email : email.toUpperCase(), type: 'sign-in' },
          newAddress(),
        ),
      ),
    )
    const elsewhereToo = await other.services.consumeRateLimit(rateLimits.codes, email)
    await other.close()

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9)
    expect(service.letters.filter(({ to }) => to === email)).toHaveLength(3)
    expect(elsewhereToo).toMatchObject({ error: { code: 'TOO_MANY_REQUESTS' } })
  })

  test('stop guesses of a code from many addresses, and then reject the correct code as well', async () => {
    const email = newEmail()
    await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' }, newAddress())
    const code = service.letters.findLast(({ to }) => to === email)?.subject.slice(0, 6) ?? ''
    const guess = (otp: string) => call('POST', '/api/auth/sign-in/email-otp', { email, otp }, newAddress())
    const guesses = Array.from({ length: 40 }, (_, index) =>
      guess(String((Number(code) + index + 1) % 1_000_000).padStart(6, '0')),
    )
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)

    expect(statuses).not.toContain(200)
    expect(statuses.filter((status) => status === 429)).toHaveLength(36)
    expect(await guess(code)).toMatchObject(refused)
  })

  test.each([
    [
      '/register',
      'registrations',
      3600,
      JSON.stringify({ redirect_uris: ['http://127.0.0.1/x'] }),
      'application/json',
    ],
    ['/token', 'tokens', 60, 'grant_type=authorization_code', 'application/x-www-form-urlencoded'],
  ])('bound the requests of one address to %s', async (path, name, window, body, type) => {
    const here = { 'content-type': type, ...newAddress() }
    const answers = [
      await call('POST', path, body, here),
      await call('POST', path, body, here),
      await call('POST', path, body, here),
    ]

    expect(answers.slice(0, 2).map(({ status }) => status)).not.toContain(429)
    expect(answers[2]).toMatchObject(refused)
    tooMany(answers[2]?.headers ?? new Headers(), name, 2, window)
    expect((await call('POST', path, body, { ...here, ...newAddress() })).status).not.toBe(429)
  })

  test('reset at the end of their window', async () => {
    const email = newEmail()
    for (let index = 0; index < 4; index++) await service.services.consumeRateLimit(rateLimits.codes, email)
    await db
      .update(rateLimitCounters)
      .set({ expire: new Date(Date.now() - 1) })
      .where(eq(rateLimitCounters.key, `codes:${email}`))

    expect(await service.services.consumeRateLimit(rateLimits.codes, email)).toBeUndefined()
  })
})

describe('networkOf', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8::1', networkOf('2001:db8::ffff:1')],
    [undefined, undefined],
  ])('returns the network of %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('housekeeping', () => {
  test('removes only expired rows', async () => {
    const past = new Date(Date.now() - 1000)
    const email = newEmail()
    const cookie = await service.signIn(email)
    const token = /session_token=([^.]+)/.exec(await service.signIn(email))?.[1] ?? ''
    await db.update(sessions).set({ expiresAt: past }).where(eq(sessions.token, token))
    await put(db, 'expired', {}, past)
    await put(db, 'lasting', {})
    await db.insert(verifications).values({ id: 'old', identifier: 'old', value: '', expiresAt: past })
    await db.insert(rateLimitCounters).values({ key: 'old', points: 1, expire: past })

    expect(await removeExpired(db)).toBe(true)

    expect(await db.select().from(sessions).where(eq(sessions.token, token))).toEqual([])
    expect(await db.select().from(verifications).where(eq(verifications.id, 'old'))).toEqual([])
    expect(await db.select().from(rateLimitCounters).where(eq(rateLimitCounters.key, 'old'))).toEqual([])
    expect((await db.select().from(records)).map(({ key }) => key)).toContain('lasting')
    expect((await db.select().from(records)).map(({ key }) => key)).not.toContain('expired')
    expect((await call('GET', '/api/me', undefined, { cookie })).status).toBe(200)
  })

  test('runs on one instance at a time', async () => {
    const other = await createTallystick({ DATABASE_URL: service.databaseUrl })
    const outcomes = await db.transaction(async (tx) => [
      await removeExpired(tx),
      await removeExpired(other.services.db),
    ])
    await other.close()

    expect(outcomes).toEqual([true, false])
  })
})
