import { describe, expect, test } from 'vitest'

import { createFetch } from '../fixtures/http.ts'
import { registerApp } from '../fixtures/oauth-app.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService({
  RATE_LIMITS: 'on',
  TRUSTED_PROXIES: '127.0.0.1',
  ADMIN_EMAILS: 'root@example.com',
  LIMITS: 'codesByAddress=4,codesByBoth=2,codes=3,triesByAddress=8,triesByBoth=3,tries=4,auth=3,visits=1',
})
const call = createFetch(service)

let last = 0
/** Returns an IP address that no earlier call returned. */
const newAddress = () => `198.51.${100 + (last >> 8)}.${last++ & 255}`

const from = (address: string) => ({ 'x-forwarded-for': address })
const send = (email: string, address: string) =>
  call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' }, from(address))
const enter = (email: string, otp: string, address: string) =>
  call('POST', '/api/auth/sign-in/email-otp', { email, otp }, from(address))
const codeOf = (email: string) =>
  service.letters.findLast(({ to }) => to === email)?.subject.slice(0, 6) ?? ''
const wrong = '00000x'

async function signInFrom(email: string, address: string) {
  expect((await send(email, address)).status).toBe(200)
  return enter(email, codeOf(email), address)
}

/** Exhausts a person’s rate limits for codes and attempts, with requests from several other networks. */
async function lockOut(email: string) {
  for (let calls = 0; calls < 4; calls++) await send(email, newAddress())
  for (let calls = 0; calls < 5; calls++) await enter(email, wrong, newAddress())
  expect((await send(email, newAddress())).status).toBe(429)
  expect((await enter(email, wrong, newAddress())).status).toBe(429)
}

describe('a rate-limited address', () => {
  test('does not consume codes of other people', async () => {
    const here = newAddress()
    const victims = Array.from({ length: 5 }, newEmail)
    for (let calls = 0; calls < 4; calls++) await send(newEmail(), here)

    for (const victim of victims)
      for (let calls = 0; calls < 4; calls++) expect((await send(victim, here)).status).toBe(429)

    for (const victim of victims) expect((await signInFrom(victim, newAddress())).status).toBe(200)
  })

  test('does not consume attempts of other people', async () => {
    const [here, victim] = [newAddress(), newEmail()]
    await send(victim, newAddress())
    for (let calls = 0; calls < 8; calls++) await enter(newEmail(), wrong, here)

    for (let calls = 0; calls < 10; calls++) {
      const { status, headers } = await enter(victim, wrong, here)
      expect([status, headers.get('ratelimit-policy')]).toEqual([429, '"triesByAddress";q=8;w=60'])
    }

    expect((await enter(victim, codeOf(victim), newAddress())).status).toBe(200)
  })

  test('does not consume limits of other people on the pages of an app', async () => {
    const [here, victim] = [newAddress(), newEmail()]
    const app = await registerApp(service)
    for (let calls = 0; calls < 4; calls++) await send(newEmail(), here)

    for (let calls = 0; calls < 4; calls++) {
      const page = await app.submitConsent({ action: 'send', email: victim }, from(here))
      expect(await page.text()).toContain('Too many requests')
    }

    expect((await signInFrom(victim, newAddress())).status).toBe(200)
  })
})

describe('one address', () => {
  test('cannot exhaust the codes of a person', async () => {
    const [here, victim] = [newAddress(), newEmail()]
    const asked = [await send(victim, here), await send(victim, here), await send(victim, here)]

    expect(asked.map(({ status }) => status)).toEqual([200, 200, 429])
    expect((await signInFrom(victim, newAddress())).status).toBe(200)
  })

  test('cannot exhaust the attempts of a person', async () => {
    const [here, victim] = [newAddress(), newEmail()]
    for (let calls = 0; calls < 6; calls++) await enter(victim, wrong, here)

    expect((await signInFrom(victim, newAddress())).status).toBe(200)
  })
})

describe('a person in a network in which the person has a session', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:7:7::1', '2001:db8:7:7:ffff::2'],
  ])(
    'can sign in while others exhaust the codes and attempts of the person: %s',
    async (home, sameNetwork) => {
      const email = newEmail()
      await signInFrom(email, home)
      await lockOut(email)

      expect((await signInFrom(email, sameNetwork)).status).toBe(200)
      expect((await send(email, newAddress())).status).toBe(429)
    },
  )

  test('is limited in this network as well', async () => {
    const [email, home] = [newEmail(), '192.0.2.8']
    await signInFrom(email, home)

    expect((await send(email, home)).status).toBe(200)
    const { status, headers } = await send(email, home)
    expect([status, headers.get('ratelimit-policy')]).toEqual([429, '"codesByBoth";q=2;w=900'])
  })

  test('is limited in the network of an administrator who impersonates the person', async () => {
    const [email, office] = [newEmail(), '192.0.2.9']
    await signInFrom(email, newAddress())
    const { headers } = await signInFrom('root@example.com', office)
    const cookie = headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
    const { body } = await call('GET', `/api/auth/admin/list-users?searchValue=${email}`, undefined, {
      cookie,
    })
    const userId = (body as { users: { id: string }[] }).users.at(0)?.id
    const impersonation = { cookie, ...from(office) }
    expect((await call('POST', '/api/auth/admin/impersonate-user', { userId }, impersonation)).status).toBe(
      200,
    )
    await lockOut(email)

    expect((await send(email, office)).status).toBe(429)
  })
})

describe('an address', () => {
  test('has a limit for other sign-in requests, independent of other addresses', async () => {
    const here = newAddress()
    const ask = (address: string) => call('GET', '/api/auth/get-session', undefined, from(address))
    const statuses = [
      await ask(here),
      await ask(here),
      await ask(here),
      await ask(here),
      await ask(newAddress()),
    ]

    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 429, 200])
  })
})

describe('an IPv6 /48', () => {
  const visit = async (address: string) =>
    (await call('POST', '/api/visits/add', undefined, from(address))).status

  test('has the limits of sixteen /64 networks, independent of other networks', async () => {
    const statuses: number[] = []
    for (let network = 0; network < 20; network++) statuses.push(await visit(`2001:db8:1:${network}::1`))

    expect(statuses).toEqual([...Array<number>(16).fill(200), 429, 429, 429, 429])
    expect(await visit('2001:db8:2:1::1')).toBe(200)
  })

  test('is not affected by rejected requests of one /64 network', async () => {
    for (let calls = 0; calls < 30; calls++)
      expect(await visit('2001:db8:3:1::1')).toBe(calls === 0 ? 200 : 429)

    expect(await visit('2001:db8:3:2::1')).toBe(200)
  })
})

describe('on a service that only this machine can reach', () => {
  const ask = (origin: string, email: string) =>
    createFetch({ origin })('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
  /** Returns the statuses of requests for twelve codes of one person, from this machine. */
  async function askTwelveTimes(environment: Record<string, string>) {
    const started = await startService({ RATE_LIMITS: 'on', ...environment })
    const email = newEmail()
    const statuses: number[] = []
    for (let calls = 0; calls < 12; calls++) statuses.push((await ask(started.origin, email)).status)
    return { started, email, statuses }
  }

  test('codes are not limited, and attempts are', async () => {
    const { started, email, statuses } = await askTwelveTimes({})

    expect(new Set(statuses)).toEqual(new Set([200]))
    const tries: number[] = []
    for (let calls = 0; calls < 16; calls++) {
      const { status } = await createFetch(started)('POST', '/api/auth/sign-in/email-otp', {
        email,
        otp: wrong,
      })
      tries.push(status)
    }
    expect(tries.at(-1)).toBe(429)
  })

  test.each([
    ['another HOST', { HOST: '0.0.0.0' }],
    ['another BASE_URL', { BASE_URL: 'https://example.com' }],
    ['a number in LIMITS', { LIMITS: 'codesByBoth=5' }],
  ])('codes are limited with %s', async (_, environment) => {
    const { statuses } = await askTwelveTimes(environment)

    expect(statuses.slice(0, 6)).toEqual([200, 200, 200, 200, 200, 429])
  })
})
