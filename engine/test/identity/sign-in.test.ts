import { eq, like } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { ErrorBody } from '../../contract/errors.ts'
import { users, verifications } from '../../db/accounts/users.ts'
import { rateLimitCounters } from '../../db/accounts/rate-limits.ts'
import { sessions } from '../../db/accounts/sessions.ts'
import {
  type Answer,
  codeSentTo,
  cookiesAfter,
  createFetch,
  errorBody,
  sessionTokenIn,
  signInOverHttp,
  validationError,
  wrongCodeFor,
} from '../fixtures/http.ts'
import { newEmail, type Service, startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)
const { db } = service.services

const MINUTE = 60_000
const wrongCode = errorBody(400, 'INVALID_OTP', 'Invalid OTP')

const signIn = async (email = newEmail()) => ({ cookie: await service.signIn(email) })
const requestCode = (email: string, send = call) =>
  send('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
const submitCode = (email: string, otp: string) => call('POST', '/api/auth/sign-in/email-otp', { email, otp })
const codeFor = (email: string) => codeSentTo(service, email) ?? ''
const me = (headers: Record<string, string>) => call('GET', '/api/me', undefined, headers)
const listSessionsOfUsers = () => db.select().from(sessions).innerJoin(users, eq(users.id, sessions.userId))

describe('sign-in by an e-mail code', () => {
  test('creates an account with an empty name and a verified address', async () => {
    const email = newEmail()

    const { cookie, response } = await signInOverHttp(service, email)

    expect(response.status).toBe(200)
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^test-library\.session_token=.+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
      ),
    ])
    expect((await me({ cookie })).body).toEqual({
      id: expect.any(String),
      name: '',
      email,
      emailVerified: true,
    })
  })

  test('finds the existing account whatever the case of the address', async () => {
    const email = newEmail()
    const { body } = await me(await signIn(email))
    const { id } = body as { id: string }

    await requestCode(email.toUpperCase())
    const answer = await submitCode(`${email[0]?.toUpperCase()}${email.slice(1)}`, codeFor(email))

    expect(answer).toMatchObject({ status: 200, body: { user: { id, email } } })
    expect(await db.select().from(users).where(eq(users.email, email))).toHaveLength(1)
  })

  test('creates a new session each time', async () => {
    const email = newEmail()
    const [first, second] = [await signIn(email), await signIn(email)]

    expect(first.cookie).not.toBe(second.cookie)
    expect(await call('GET', '/api/sessions', undefined, first)).toMatchObject({ body: { sessionCount: 2 } })
  })

  test('rejects a wrong code', async () => {
    const email = newEmail()
    await requestCode(email)

    const answer = await submitCode(email, wrongCodeFor(codeFor(email)))

    expect(answer).toMatchObject({ status: 400, body: wrongCode })
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await submitCode(email, codeFor(email))).toMatchObject({ status: 200 })
  })

  test('rejects even the correct code after three wrong codes', async () => {
    const email = newEmail()
    await requestCode(email)
    const code = codeFor(email)

    for (let tries = 0; tries < 3; tries++)
      expect((await submitCode(email, wrongCodeFor(code))).status).toBe(400)
    const answers = [await submitCode(email, code), await submitCode(email, code)]

    for (const { status, body } of answers) {
      expect([400, 403]).toContain(status)
      expect(ErrorBody.strict().parse(body)).toMatchObject({ defined: false, status })
    }
    expect(await db.select().from(users).where(eq(users.email, email))).toEqual([])
  })

  test('accepts a code once', async () => {
    const email = newEmail()
    await requestCode(email)

    const first = await submitCode(email, codeFor(email))
    const second = await submitCode(email, codeFor(email))

    expect(first.status).toBe(200)
    expect(second.body).toEqual(wrongCode)
  })

  test.each([
    ['a blank', (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`],
    ['a hyphen', (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`],
    ['blanks around the code', (code: string) => ` ${code}\u00a0`],
    ['blanks between digits', (code: string) => code.split('').join(' ')],
  ])('accepts a code with %s', async (_, spell) => {
    const email = newEmail()
    await requestCode(email)

    expect(await submitCode(email, spell(codeFor(email)))).toMatchObject({ status: 200 })
  })

  test('accepts an e-mail address with blanks around the address', async () => {
    const email = newEmail()
    await requestCode(` ${email}\t`)

    expect(await submitCode(`${email} `, codeFor(email))).toMatchObject({
      status: 200,
      body: { user: { email } },
    })
  })

  test('converts an international domain to ASCII', async () => {
    const name = newEmail().split('@')[0]
    const email = `${name}@xn--mnchen-3ya.example`
    await requestCode(`${name}@München.example`)

    expect(await submitCode(`${name}@münchen.example`, codeFor(email))).toMatchObject({
      status: 200,
      body: { user: { email } },
    })
    for (const domain of ['mün chen.example', 'example.com/../x', 'ex%61mple.com', 'exa\nmple.com'])
      expect(await submitCode(`${name}@${domain}`, '123456')).toMatchObject({ status: 400 })
  })

  test.each(['a new user', 'an existing user'])(
    'accepts a code once from concurrent requests, for %s',
    async (user) => {
      const email = newEmail()
      if (user === 'an existing user') await signIn(email)
      await requestCode(email)
      const before = await listSessionsOfUsers()

      const answers = await Promise.all(Array.from({ length: 8 }, () => submitCode(email, codeFor(email))))

      const after = await listSessionsOfUsers()
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      for (const { status, body } of answers) if (status !== 200) expect(body).toEqual(wrongCode)
      expect(after.length - before.length).toBe(1)
    },
  )

  test('accepts only the newest code', async () => {
    const email = newEmail()
    await requestCode(email)
    const first = codeFor(email)
    await requestCode(email)
    const second = codeFor(email)

    // Skips this check if the two random codes are equal, which happens in one of a million runs.
    if (first !== second) expect((await submitCode(email, first)).body).toEqual(wrongCode)
    expect((await submitCode(email, second)).status).toBe(200)
  })

  test('rejects the code of another address', async () => {
    const [ada, bob] = [newEmail(), newEmail()]
    await requestCode(ada)
    await requestCode(bob)

    if (codeFor(ada) !== codeFor(bob)) expect((await submitCode(bob, codeFor(ada))).body).toEqual(wrongCode)
    expect((await submitCode(newEmail(), codeFor(ada))).body).toEqual(wrongCode)
  })

  test('accepts a code for five minutes', async () => {
    const email = newEmail()
    await requestCode(email)
    const ofEmail = like(verifications.identifier, `%${email}`)
    const [row] = await db.select().from(verifications).where(ofEmail)
    await db
      .update(verifications)
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .where(ofEmail)

    const { status, body } = await submitCode(email, codeFor(email))

    const lifetime = (row?.expiresAt.getTime() ?? 0) - Date.now()
    expect(lifetime).toBeGreaterThan(4.5 * MINUTE)
    expect(lifetime).toBeLessThanOrEqual(5 * MINUTE)
    expect(status).toBe(400)
    expect(ErrorBody.parse(body)).toMatchObject({ defined: false, status: 400 })
  })

  test('stores no code in plain text and no unkeyed digest of a code', async () => {
    const email = newEmail()
    await requestCode(email)

    const rows = await db
      .select()
      .from(verifications)
      .where(like(verifications.identifier, `%${email}`))

    const code = codeFor(email)
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from(code))
    expect(rows).toHaveLength(1)
    expect(code).toMatch(/^\d{6}$/)
    for (const value of Object.values(rows[0] ?? {}).map(String)) {
      expect(value).not.toContain(code)
      for (const form of ['hex', 'base64', 'base64url'] as const)
        expect(value).not.toContain(Buffer.from(digest).toString(form))
    }
  })

  test('answers the same with and without an account', async () => {
    const [known, unknown] = [newEmail(), newEmail()]
    await signIn(known)
    const changing = ['date', 'x-request-id']
    const view = ({ status, body, headers }: Answer) => ({
      status,
      body,
      headers: [...headers].filter(([name]) => !changing.includes(name)),
    })

    const requested = [view(await requestCode(known)), view(await requestCode(unknown))]
    const rejected = [
      view(await submitCode(known, wrongCodeFor(codeFor(known)))),
      view(await submitCode(unknown, wrongCodeFor(codeFor(unknown)))),
    ]

    expect(requested[0]).toMatchObject({ status: 200, body: { success: true } })
    expect(requested[0]).toEqual(requested[1])
    expect(rejected[0]).toMatchObject({ status: 400 })
    expect(rejected[0]).toEqual(rejected[1])
  })

  test.each([
    ['/api/auth/email-otp/send-verification-otp', undefined, ['', '']],
    ['/api/auth/email-otp/send-verification-otp', {}, ['email', 'type']],
    ['/api/auth/email-otp/send-verification-otp', { email: 'ada', type: 'sign-in' }, ['email']],
    ['/api/auth/email-otp/send-verification-otp', { email: 1, type: 'sign-in' }, ['email']],
    ['/api/auth/email-otp/send-verification-otp', { email: 'a@b.example' }, ['type']],
    [
      '/api/auth/email-otp/send-verification-otp',
      { email: 'a@b.example', type: 'forget-password' },
      ['type'],
    ],
    [
      '/api/auth/email-otp/send-verification-otp',
      { email: 'a@b.example', type: 'email-verification' },
      ['type'],
    ],
    ['/api/auth/sign-in/email-otp', {}, ['email', 'otp']],
    ['/api/auth/sign-in/email-otp', { email: 'a@b.example', otp: 123456 }, ['otp']],
    ['/api/auth/sign-in/email-otp', { email: 'a@b.example', otp: '' }, ['otp']],
    ['/api/auth/sign-in/email-otp', { email: 'a@b.example', otp: '1\0' }, ['otp']],
    ['/api/auth/sign-in/email-otp', { email: 'a@b.example', otp: '1'.repeat(17) }, ['otp']],
    ['/api/auth/sign-in/email-otp', { email: `${'a'.repeat(250)}@b.example`, otp: '1' }, ['email']],
  ])('rejects at %s the body %j', async (path, body, fields) => {
    const answer = await call('POST', path, body)

    expect(answer.status).toBe(400)
    const { data } = ErrorBody.strict().parse(answer.body)
    const { issues } = data as { issues: { path: string }[] }
    if (body) expect(issues.map(({ path }) => path)).toEqual(fields)
    else expect(issues.length).toBeGreaterThan(0)
  })

  test.each(['{bad', '[]', 'null'])('rejects the body %s', async (body) => {
    for (const path of ['/api/auth/email-otp/send-verification-otp', '/api/auth/sign-in/email-otp'])
      expect(await call('POST', path, body)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } })
  })

  test('ignores a role, a name and an image in the request', async () => {
    const email = newEmail()
    await requestCode(email)

    await call('POST', '/api/auth/sign-in/email-otp', {
      email,
      otp: codeFor(email),
      name: 'Root',
      image: 'x',
      role: 'admin',
    })

    expect(await db.select().from(users).where(eq(users.email, email))).toMatchObject([
      { name: '', image: null, role: 'user' },
    ])
  })
})

describe('sign-out', () => {
  test('ends the session and clears the cookie', async () => {
    const [ada, other] = [await signIn(), await signIn()]

    const answer = await call('POST', '/api/auth/sign-out', undefined, ada)

    expect(answer).toMatchObject({ status: 200, body: { success: true } })
    expect(cookiesAfter(answer, ada.cookie)).toBe('')
    expect((await me(ada)).status).toBe(401)
    const token = sessionTokenIn(ada.cookie)
    expect(await db.select().from(sessions).where(eq(sessions.token, token))).toEqual([])
    expect((await me(other)).status).toBe(200)
  })

  test('keeps the other sessions of the account', async () => {
    const email = newEmail()
    const [phone, laptop] = [await signIn(email), await signIn(email)]

    await call('POST', '/api/auth/sign-out', {}, phone)

    expect((await me(laptop)).status).toBe(200)
  })

  test('does not fail without a session', async () => {
    expect((await call('POST', '/api/auth/sign-out')).status).toBeLessThan(500)
  })
})

describe('/api/auth/update-user', () => {
  test.each(['Ada', 'Ада 🎉', 'x'.repeat(120), '🎉'.repeat(120), '<b>', ''])(
    'accepts the name %s',
    async (name) => {
      const ada = await signIn()

      const answer = await call('POST', '/api/auth/update-user', { name }, ada)

      expect(answer.status).toBe(200)
      expect((await me(ada)).body).toMatchObject({ name })
    },
  )

  test.each([
    ['x'.repeat(121), 'Must have at most 120 characters'],
    ['🎉'.repeat(121), 'Must have at most 120 characters'],
    ['a\0b', 'Contains a character that cannot be stored'],
    ['\ud800', 'Contains a character that cannot be stored'],
    [1, 'Invalid input: expected string, received number'],
    [undefined, 'Invalid input: expected string, received undefined'],
  ])('rejects the name %j', async (name, message) => {
    const ada = await signIn()

    const { body } = await call('POST', '/api/auth/update-user', { name }, ada)

    expect(body).toEqual(validationError('name', message))
  })

  test('changes only the name', async () => {
    const email = newEmail()
    const ada = await signIn(email)
    const [before] = await db.select().from(users).where(eq(users.email, email))

    await call(
      'POST',
      '/api/auth/update-user',
      {
        name: 'Ada',
        role: 'admin',
        email: newEmail(),
        emailVerified: false,
        image: 'x',
        banned: true,
        id: '1',
      },
      ada,
    )

    const [row] = await db.select().from(users).where(eq(users.email, email))
    expect(row).toEqual({ ...before, name: 'Ada', updatedAt: row?.updatedAt })
  })
})

describe('the rate limits of sign-in', async () => {
  const limited = await startService({ RATE_LIMITS: 'on', TRUSTED_PROXIES: 'loopback' })
  const send = createFetch(limited)
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const requestCodeFrom = (address: string) =>
    requestCode(newEmail(), (method, path, body) => send(method, path, body, from(address)))

  async function exhaust(address: string) {
    for (let calls = 0; calls < 10; calls++) expect((await requestCodeFrom(address)).status).toBe(200)
    return requestCodeFrom(address)
  }

  test('reject the eleventh code request in a minute, with Retry-After', async () => {
    const { letters } = limited
    const before = letters.length

    const { status, headers, body } = await exhaust('203.0.113.1')

    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(body).toEqual(errorBody(429, 'TOO_MANY_REQUESTS', 'Too many requests; try again later'))
    expect(letters.length - before).toBe(10)
  })

  test('count each IP address separately', async () => {
    expect((await exhaust('203.0.113.2')).status).toBe(429)

    expect((await requestCodeFrom('203.0.113.3')).status).toBe(200)
  })

  test('count an IPv6 /64 network as one address', async () => {
    expect((await exhaust('2001:db8:1:1::1')).status).toBe(429)

    expect((await requestCodeFrom('2001:db8:1:1:ffff::2')).status).toBe(429)
    expect((await requestCodeFrom('2001:db8:1:2::1')).status).toBe(200)
  })

  test('are stored in the database, which instances share', async () => {
    await requestCodeFrom('203.0.113.4')

    const key = 'codesByAddress:203.0.113.4'
    const rows = await limited.services.db
      .select()
      .from(rateLimitCounters)
      .where(eq(rateLimitCounters.key, key))

    expect(rows).toMatchObject([{ points: 1 }])
  })

  test('apply to concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => requestCodeFrom('203.0.113.5')))

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
  })

  test('limit the submission of codes', async () => {
    const guess = () =>
      send('POST', '/api/auth/sign-in/email-otp', { email: newEmail(), otp: '1' }, from('203.0.113.6'))
    for (let calls = 0; calls < 30; calls++) expect((await guess()).status).toBe(400)

    expect((await guess()).status).toBe(429)
  })

  test('do not count requests with an invalid body', async () => {
    const address = '203.0.113.7'
    for (let calls = 0; calls < 15; calls++)
      await send('POST', '/api/auth/email-otp/send-verification-otp', {}, from(address))

    expect((await requestCodeFrom(address)).status).toBe(200)
  })

  test('ignore address headers that do not come from a trusted proxy', async () => {
    const direct: Service = await startService({ RATE_LIMITS: 'on' })
    const plain = createFetch(direct)
    const statuses: number[] = []
    for (let calls = 0; calls < 11; calls++) {
      const headers = {
        'x-forwarded-for': `203.0.113.${calls}`,
        'x-tallystick-address': `203.0.113.${calls}`,
      }
      const answer = await requestCode(newEmail(), (method, path, body) => plain(method, path, body, headers))
      statuses.push(answer.status)
    }

    expect(statuses).toEqual([...Array<number>(10).fill(200), 429])
  })
})
