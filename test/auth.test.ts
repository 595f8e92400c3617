import { eq, like } from 'drizzle-orm'
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'

import { ErrorBody } from '../contract/errors.ts'
import { users, verifications } from '../db/auth.ts'
import { limits } from '../db/limits.ts'
import { sessions } from '../db/sessions.ts'
import { type Answer, createFetch, signInOverHttp } from './http.ts'
import { type Service, newEmail, startService } from './service.ts'

const CHIEF = 'chief@example.com'
const service = await startService({ ADMIN_EMAILS: `other@example.com, Chief@Example.com` })
const call = createFetch(service)
const { db, auth } = service.services

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const refusal = (status: number, code: string, message: string) => ({
  defined: false,
  code,
  status,
  message,
  error: message,
})
const wrongCode = refusal(400, 'INVALID_OTP', 'Invalid OTP')
const nowhere = refusal(404, 'NOT_FOUND', 'There is nothing at this address')

const someone = async (email = newEmail()) => ({ cookie: await service.signIn(email) })
const chief = () => someone(CHIEF)
const ask = (email: string, at = call) =>
  at('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
const redeem = (email: string, otp: string) => call('POST', '/api/auth/sign-in/email-otp', { email, otp })
const codeFor = (email: string) =>
  service.letters.findLast(({ to }) => to === email.toLowerCase())?.subject.slice(0, 6) ?? ''
const another = (code: string) => (code === '000000' ? '000001' : '000000')
const me = (who: Record<string, string>) => call('GET', '/api/me', undefined, who)
const idOf = async (who: Record<string, string>) => ((await me(who)).body as { id: string }).id

const tokenOf = (cookie: string) => /session_token=([^.]+)\./.exec(cookie)?.[1] ?? ''
const sessionOf = async ({ cookie }: { cookie: string }) =>
  (
    await db
      .select()
      .from(sessions)
      .where(eq(sessions.token, tokenOf(cookie)))
  ).at(0)
const change = (cookie: string, changes: Partial<typeof sessions.$inferInsert>) =>
  db
    .update(sessions)
    .set(changes)
    .where(eq(sessions.token, tokenOf(cookie)))
const ago = (milliseconds: number) => new Date(Date.now() - milliseconds)
const fromNow = (milliseconds: number) => ago(-milliseconds)

/** The cookies of somebody, after an answer has changed them. */
function after({ headers }: Answer, cookie = '') {
  const jar = new Map<string, string>()
  for (const pair of [...cookie.split('; '), ...headers.getSetCookie()]) {
    const [name = '', value = ''] = pair.split(';', 1)[0]?.split('=') ?? []
    if (value === '') jar.delete(name)
    else jar.set(name, value)
  }
  return { cookie: [...jar].map((pair) => pair.join('=')).join('; ') }
}

describe('sign-in', () => {
  test('makes an account with no name and a proved address', async () => {
    const email = newEmail()

    const { cookie, response } = await signInOverHttp(service, email)

    expect(response.status).toBe(200)
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^better-auth\.session_token=.+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
      ),
    ])
    expect((await me({ cookie })).body).toEqual({
      id: expect.any(String),
      name: '',
      email,
      emailVerified: true,
    })
  })

  test('finds the same account again, however the address is written', async () => {
    const email = newEmail()
    const first = await idOf(await someone(email))

    await ask(email.toUpperCase())
    const answer = await redeem(`${email[0]?.toUpperCase()}${email.slice(1)}`, codeFor(email))

    expect(answer).toMatchObject({ status: 200, body: { user: { id: first, email } } })
    expect(await db.select().from(users).where(eq(users.email, email))).toHaveLength(1)
  })

  test('opens another session each time', async () => {
    const email = newEmail()
    const [first, second] = [await someone(email), await someone(email)]

    expect(first.cookie).not.toBe(second.cookie)
    expect(await call('GET', '/api/sessions', undefined, first)).toMatchObject({ body: { sessionCount: 2 } })
  })

  test('refuses a wrong code', async () => {
    const email = newEmail()
    await ask(email)

    const answer = await redeem(email, another(codeFor(email)))

    expect(answer).toMatchObject({ status: 400, body: wrongCode })
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await redeem(email, codeFor(email))).toMatchObject({ status: 200 })
  })

  test('refuses even the right code after three wrong ones', async () => {
    const email = newEmail()
    await ask(email)
    const code = codeFor(email)

    for (let tries = 0; tries < 3; tries++) expect((await redeem(email, another(code))).status).toBe(400)
    const answers = [await redeem(email, code), await redeem(email, code)]

    for (const { status, body } of answers) {
      expect([400, 403]).toContain(status)
      expect(ErrorBody.strict().parse(body)).toMatchObject({ defined: false, status })
    }
    expect(await db.select().from(users).where(eq(users.email, email))).toEqual([])
  })

  test('takes a code once', async () => {
    const email = newEmail()
    await ask(email)

    expect((await redeem(email, codeFor(email))).status).toBe(200)
    expect((await redeem(email, codeFor(email))).body).toEqual(wrongCode)
  })

  test.each(['somebody new', 'somebody known'])(
    'takes a code once from many at once, for %s',
    async (who) => {
      const email = newEmail()
      if (who === 'somebody known') await someone(email)
      await ask(email)
      const before = await db.select().from(sessions).innerJoin(users, eq(users.id, sessions.userId))

      const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(email, codeFor(email))))

      const now = await db.select().from(sessions).innerJoin(users, eq(users.id, sessions.userId))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      for (const { status, body } of answers) if (status !== 200) expect(body).toEqual(wrongCode)
      expect(now.length - before.length).toBe(1)
    },
  )

  test('takes only the last code sent', async () => {
    const email = newEmail()
    await ask(email)
    const first = codeFor(email)
    await ask(email)
    const second = codeFor(email)

    // One in a million times they are the same.
    if (first !== second) expect((await redeem(email, first)).body).toEqual(wrongCode)
    expect((await redeem(email, second)).status).toBe(200)
  })

  test('takes no code of another person', async () => {
    const [ada, bob] = [newEmail(), newEmail()]
    await ask(ada)
    await ask(bob)

    if (codeFor(ada) !== codeFor(bob)) expect((await redeem(bob, codeFor(ada))).body).toEqual(wrongCode)
    expect((await redeem(newEmail(), codeFor(ada))).body).toEqual(wrongCode)
  })

  test('keeps a code for five minutes', async () => {
    const email = newEmail()
    await ask(email)
    const mine = like(verifications.identifier, `%${email}`)
    const [row] = await db.select().from(verifications).where(mine)
    await db
      .update(verifications)
      .set({ expiresAt: ago(1000) })
      .where(mine)

    const { status, body } = await redeem(email, codeFor(email))

    const lasts = (row?.expiresAt.getTime() ?? 0) - Date.now()
    expect(lasts).toBeGreaterThan(4.5 * MINUTE)
    expect(lasts).toBeLessThanOrEqual(5 * MINUTE)
    expect(status).toBe(400)
    expect(ErrorBody.parse(body)).toMatchObject({ defined: false, status: 400 })
  })

  test('does not store a code as it is', async () => {
    const email = newEmail()
    await ask(email)

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
    await someone(known)
    const changing = ['date', 'x-request-id']
    const view = ({ status, body, headers }: Answer) => ({
      status,
      body,
      headers: [...headers].filter(([name]) => !changing.includes(name)),
    })

    const asked = [view(await ask(known)), view(await ask(unknown))]
    const missed = [
      view(await redeem(known, another(codeFor(known)))),
      view(await redeem(unknown, another(codeFor(unknown)))),
    ]

    expect(asked[0]).toMatchObject({ status: 200, body: { success: true } })
    expect(asked[0]).toEqual(asked[1])
    expect(missed[0]).toMatchObject({ status: 400 })
    expect(missed[0]).toEqual(missed[1])
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
  ])('refuses at %s the body %j', async (path, body, fields) => {
    const answer = await call('POST', path, body)

    expect(answer.status).toBe(400)
    const { data } = ErrorBody.strict().parse(answer.body)
    const { issues } = data as { issues: { path: string }[] }
    if (body) expect(issues.map(({ path }) => path)).toEqual(fields)
    else expect(issues.length).toBeGreaterThan(0)
  })

  test.each(['{bad', '[]', 'null'])('refuses the body %s', async (body) => {
    for (const path of ['/api/auth/email-otp/send-verification-otp', '/api/auth/sign-in/email-otp'])
      expect(await call('POST', path, body)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } })
  })

  test('gives nobody a role, a name or a picture for the asking', async () => {
    const email = newEmail()
    await ask(email)

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
    const [ada, other] = [await someone(), await someone()]

    const answer = await call('POST', '/api/auth/sign-out', undefined, ada)

    expect(answer).toMatchObject({ status: 200, body: { success: true } })
    expect(after(answer, ada.cookie).cookie).toBe('')
    expect((await me(ada)).status).toBe(401)
    expect(await sessionOf(ada)).toBeUndefined()
    expect((await me(other)).status).toBe(200)
  })

  test('leaves the other devices signed in', async () => {
    const email = newEmail()
    const [phone, laptop] = [await someone(email), await someone(email)]

    await call('POST', '/api/auth/sign-out', {}, phone)

    expect((await me(laptop)).status).toBe(200)
  })

  test('does no harm to a stranger', async () => {
    expect((await call('POST', '/api/auth/sign-out')).status).toBeLessThan(500)
  })
})

describe('naming oneself', () => {
  test.each(['Ada', 'Ада 🎉', 'x'.repeat(120), '🎉'.repeat(120), '<b>', ''])('takes %s', async (name) => {
    const ada = await someone()

    const answer = await call('POST', '/api/auth/update-user', { name }, ada)

    expect(answer.status).toBe(200)
    expect((await me(ada)).body).toMatchObject({ name })
  })

  test.each([
    ['x'.repeat(121), 'Must have at most 120 characters'],
    ['🎉'.repeat(121), 'Must have at most 120 characters'],
    ['a\0b', 'Contains a character that cannot be stored'],
    ['\ud800', 'Contains a character that cannot be stored'],
    [1, 'Invalid input: expected string, received number'],
    [undefined, 'Invalid input: expected string, received undefined'],
  ])('refuses %j', async (name, message) => {
    const ada = await someone()

    const { body } = await call('POST', '/api/auth/update-user', { name }, ada)

    expect(body).toEqual({
      ...refusal(400, 'BAD_REQUEST', 'Input validation failed'),
      data: { issues: [{ path: 'name', message }] },
    })
  })

  test('changes nothing but the name', async () => {
    const email = newEmail()
    const ada = await someone(email)
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

describe('what is not offered', () => {
  const offered = [
    '/email-otp/send-verification-otp',
    '/sign-in/email-otp',
    '/sign-out',
    '/get-session',
    '/update-user',
    '/admin/list-users',
    '/admin/get-user',
    '/admin/create-user',
    '/admin/update-user',
    '/admin/set-role',
    '/admin/ban-user',
    '/admin/unban-user',
    '/admin/list-user-sessions',
    '/admin/revoke-user-session',
    '/admin/revoke-user-sessions',
    '/admin/impersonate-user',
    '/admin/stop-impersonating',
    '/admin/remove-user',
  ]
  const all = Object.values(auth.api as Record<string, { path?: string }>).flatMap(({ path }) => path ?? [])

  test('is most of better-auth', () => {
    expect(all).toEqual(
      expect.arrayContaining([...offered, '/sign-up/email', '/change-email', '/delete-user']),
    )
    expect(all.length).toBeGreaterThan(40)
  })

  test.each([...new Set(all)].filter((path) => !offered.includes(path)))('is not found: %s', async (path) => {
    const root = await chief()

    for (const method of ['GET', 'POST'])
      expect((await call(method, `/api/auth${path}`, undefined, root)).body).toEqual(nowhere)
  })

  test.each([
    '',
    '/',
    '/nope',
    '/constructor',
    '//sign-out',
    '/sign-out/',
    '/Sign-Out',
    '/%73ign-out',
    '/admin',
  ])('is not found at /api/auth%s', async (path) => {
    const ada = await someone()

    expect((await call('POST', `/api/auth${path}`, undefined, ada)).body).toEqual(nowhere)
    expect((await me(ada)).status).toBe(200)
  })
})

describe('a session', () => {
  const renewed = expect.stringMatching(/^better-auth\.session_token=.+; Max-Age=604800;/)
  const calls = [
    ['GET', '/api/me', {}],
    ['POST', '/api/tasks/reset', {}],
    ['GET', '/api/notes', { 'datastar-request': 'true' }],
    ['GET', '/rpc/account/get', {}],
    ['GET', '/api/auth/get-session', {}],
    ['POST', '/api/auth/update-user', {}],
  ] as const

  test.each(calls)('is renewed when due, by %s %s', async (method, path, headers) => {
    const ada = await someone()
    await change(ada.cookie, { expiresAt: fromNow(5.9 * DAY) })

    const answer = await call(method, path, method === 'POST' ? { name: '' } : undefined, {
      ...ada,
      ...headers,
    })

    expect(answer.status).toBe(200)
    expect(answer.headers.getSetCookie()).toContainEqual(renewed)
    expect(after(answer, ada.cookie)).toEqual(ada)
    expect((await sessionOf(ada))?.expiresAt.getTime()).toBeGreaterThan(Date.now() + 6.9 * DAY)
  })

  test('is renewed when due, in the administrative area too', async () => {
    const root = await chief()
    await change(root.cookie, { expiresAt: fromNow(5.9 * DAY) })

    const answer = await call('GET', '/api/auth/admin/list-users?limit=1', undefined, root)

    expect(answer.status).toBe(200)
    expect(answer.headers.getSetCookie()).toContainEqual(renewed)
    expect((await sessionOf(root))?.expiresAt.getTime()).toBeGreaterThan(Date.now() + 6.9 * DAY)
  })

  test('is renewed once, by many calls at once', async () => {
    const ada = await someone()
    await change(ada.cookie, { expiresAt: fromNow(5.9 * DAY) })

    const answers = await Promise.all(Array.from({ length: 8 }, () => me(ada)))
    const later = await me(ada)

    for (const { status } of answers) expect(status).toBe(200)
    expect(later.headers.getSetCookie()).toEqual([])
  })

  test('is left alone when not due', async () => {
    const ada = await someone()
    const expiresAt = fromNow(6.1 * DAY)
    await change(ada.cookie, { expiresAt })

    const answer = await me(ada)

    expect(answer.headers.getSetCookie()).toEqual([])
    expect((await sessionOf(ada))?.expiresAt).toEqual(expiresAt)
  })

  test('notes activity older than a minute, on any call', async () => {
    const ada = await someone()
    await change(ada.cookie, { updatedAt: ago(5 * MINUTE) })

    await call('POST', '/api/tasks/reset', undefined, ada)
    for (let waited = 0; waited < 3000 && !(await isActive(ada)); waited += 50) await sleep(50)

    expect(await isActive(ada)).toBe(true)
    const { body } = await call('GET', '/api/sessions', undefined, ada)
    const [session] = (body as { sessions: { lastActive: number }[] }).sessions
    expect(Date.now() / 1000 - (session?.lastActive ?? 0)).toBeLessThan(30)
  })

  const isActive = async (who: { cookie: string }) =>
    ((await sessionOf(who))?.updatedAt.getTime() ?? 0) > Date.now() - MINUTE / 2

  test('does not note activity within the minute', async () => {
    const ada = await someone()
    const updatedAt = ago(45_000)
    await change(ada.cookie, { updatedAt })

    await me(ada)
    await sleep(200)

    expect((await sessionOf(ada))?.updatedAt).toEqual(updatedAt)
  })

  test('answers its person to get-session, and nobody to a stranger', async () => {
    const email = newEmail()
    const ada = await someone(email)

    expect((await call('GET', '/api/auth/get-session', undefined, ada)).body).toMatchObject({
      user: { email },
    })
    expect(await call('GET', '/api/auth/get-session')).toMatchObject({ status: 200, body: null })
  })
})

describe('access', () => {
  const signature = (token: string, secret: string) =>
    createHmac('sha256', secret).update(token).digest('base64')
  const sign = (token: string, secret: string) => encodeURIComponent(`${token}.${signature(token, secret)}`)
  const name = 'better-auth.session_token'
  const secret = service.services.settings.authSecret
  const valueOf = (cookie: string) => cookie.slice(name.length + 1)

  const good: Record<string, (cookie: string) => string | Promise<string>> = {
    good: (cookie) => cookie,
    'signed again': (cookie) => `${name}=${sign(tokenOf(cookie), secret)}`,
    'among others': (cookie) => `a=b; ${cookie}; c="d e"`,
    'not encoded': (cookie) => decodeURIComponent(cookie),
    prolonged: async (cookie) => {
      await change(cookie, { expiresAt: fromNow(DAY) })
      return cookie
    },
  }
  const bad: Record<string, (cookie: string) => string | Promise<string>> = {
    absent: () => '',
    'of another name': (cookie) => `session_token=${valueOf(cookie)}`,
    'secure where that is not': (cookie) => `__Secure-${cookie}`,
    expired: async (cookie) => {
      await change(cookie, { expiresAt: ago(1000) })
      return cookie
    },
    revoked: async (cookie) => {
      await db.delete(sessions).where(eq(sessions.token, tokenOf(cookie)))
      return cookie
    },
    'signed out': async (cookie) => {
      await call('POST', '/api/auth/sign-out', undefined, { cookie })
      return cookie
    },
    'a banned person’s': async (cookie) => {
      const userId = await idOf({ cookie })
      await call('POST', '/api/auth/admin/ban-user', { userId }, await chief())
      return cookie
    },
    'a removed person’s': async (cookie) => {
      const userId = await idOf({ cookie })
      await call('POST', '/api/auth/admin/remove-user', { userId }, await chief())
      return cookie
    },
    'forged with another secret': (cookie) => `${name}=${sign(tokenOf(cookie), 'x'.repeat(32))}`,
    'of an unknown token': () => `${name}=${sign('x'.repeat(32), secret)}`,
    'of no token': () => `${name}=${sign('', secret)}`,
    'of another token': (cookie) => cookie.replace('=', '=x'),
    'tampered with at the end': (cookie) =>
      cookie.replace(/(.)%3D$/, (_, last) => (last === 'A' ? 'E%3D' : 'A%3D')),
    'cut short': (cookie) => cookie.slice(0, -6),
    'the token alone': (cookie) => `${name}=${tokenOf(cookie)}`,
    'the token with an empty signature': (cookie) => `${name}=${tokenOf(cookie)}.`,
    'the signature alone': (cookie) => `${name}=.${valueOf(cookie).split('.')[1]}`,
    empty: () => `${name}=`,
    'badly encoded': (cookie) => `${cookie}%E0%A4%A`,
    nonsense: () => ';;;===,,,\t"',
  }

  const theirs = async (cookie: string) =>
    (await auth.api.getSession({ headers: new Headers({ cookie }) })) !== null
  const ours = async (cookie: string) => {
    const { status, body } = await me({ cookie })
    if (status !== 200) expect(body).toMatchObject({ code: 'UNAUTHORIZED', status: 401 })
    return status === 200
  }

  test.each(Object.entries(good))('is given by a cookie that is %s, as better-auth says', async (_, make) => {
    const { cookie } = await someone()
    const made = await make(cookie)

    expect({ ours: await ours(made), theirs: await theirs(made) }).toEqual({ ours: true, theirs: true })
  })

  test.each(Object.entries(bad))(
    'is not given by a cookie that is %s, as better-auth says',
    async (_, make) => {
      const { cookie } = await someone()
      const made = await make(cookie)

      expect({ ours: await ours(made), theirs: await theirs(made) }).toEqual({ ours: false, theirs: false })
    },
  )

  test.each<[string, (signature: string) => string]>([
    ['in base64url', (signed) => signed.replaceAll('+', '-').replaceAll('/', '_')],
    ['without its padding', (signed) => signed.slice(0, -1)],
    ['with something after its end', (signed) => `${signed}=`],
    ['with bits to spare', (signed) => signed.replace(/.=$/, (last) => `${next(last.charAt(0))}=`)],
  ])('agrees with better-auth on a signature that is written %s', async (_, write) => {
    const { cookie, signed } = await someoneSigned(/[+/]/)
    const made = `${name}=${encodeURIComponent(`${tokenOf(cookie)}.${write(signed)}`)}`

    expect(await ours(made)).toBe(await theirs(made))
  })

  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const next = (digit: string) => ALPHABET.charAt(ALPHABET.indexOf(digit) + 1)

  /** Somebody whose signature looks like this. */
  async function someoneSigned(pattern: RegExp) {
    for (;;) {
      const { cookie } = await someone()
      const signed = signature(tokenOf(cookie), secret)
      if (pattern.test(signed)) return { cookie, signed }
    }
  }

  test.each(['ADA; BOB', 'BOB; ADA', 'ADA; NONE', 'NONE; ADA'])(
    'agrees with better-auth on who it is where two cookies have one name: %s',
    async (pattern) => {
      const [ada, bob] = [await someone(), await someone()]
      const cookies: Record<string, string> = { ADA: ada.cookie, BOB: bob.cookie, NONE: `${name}=x` }
      const cookie = pattern.replace(/[A-Z]+/g, (word) => cookies[word] ?? '')

      const session = await auth.api.getSession({ headers: new Headers({ cookie }) })
      const { status, body } = await me({ cookie })

      expect(status === 200 ? (body as { id: string }).id : undefined).toBe(session?.user.id)
    },
  )

  test('is not given by a token anywhere else', async () => {
    const { cookie } = await someone()
    const token = tokenOf(cookie)

    const attempts: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { authorization: `Bearer ${valueOf(cookie)}` },
      { 'x-session-token': token },
    ]
    for (const headers of attempts) expect((await me(headers)).status).toBe(401)
  })
})

describe('the administrative area', () => {
  const admin = (operation: string, body: unknown, who: Record<string, string>) =>
    call('POST', `/api/auth/admin/${operation}`, body, who)
  const list = (query: string, who: Record<string, string>) =>
    call('GET', `/api/auth/admin/list-users?${query}`, undefined, who)

  const operations: [string, string, unknown][] = [
    ['GET', 'list-users', undefined],
    ['GET', 'get-user?id=1', undefined],
    ['POST', 'create-user', { email: 'new@example.com', name: '' }],
    ['POST', 'update-user', { userId: '1', data: { name: '' } }],
    ['POST', 'set-role', { userId: '1', role: 'admin' }],
    ['POST', 'ban-user', { userId: '1' }],
    ['POST', 'unban-user', { userId: '1' }],
    ['POST', 'list-user-sessions', { userId: '1' }],
    ['POST', 'revoke-user-session', { sessionToken: '1' }],
    ['POST', 'revoke-user-sessions', { userId: '1' }],
    ['POST', 'impersonate-user', { userId: '1' }],
    ['POST', 'remove-user', { userId: '1' }],
  ]

  test.each(operations)('is closed to others: %s %s', async (method, operation, body) => {
    const ada = await someone()
    const path = `/api/auth/admin/${operation}`

    for (const sent of [body, method === 'POST' ? '{bad' : undefined]) {
      expect((await call(method, path, sent)).body).toEqual(refusal(401, 'UNAUTHORIZED', 'Sign in first'))
      expect((await call(method, path, sent, ada)).body).toEqual(
        refusal(403, 'FORBIDDEN', 'Only an administrator may do this'),
      )
    }
  })

  test.each(operations.filter(([, operation]) => !/list|create|get/.test(operation)))(
    'does not fail for a person who is not there: %s %s',
    async (method, operation, body) => {
      const root = await chief()

      const answer = await call(method, `/api/auth/admin/${operation}`, body, root)

      expect(answer.status).toBeLessThan(500)
      if (answer.status !== 200) ErrorBody.strict().parse(answer.body)
    },
  )

  test('opens to whoever signs in with an address among ADMIN_EMAILS', async () => {
    const root = await chief()

    const answer = await list(`searchField=email&searchValue=${CHIEF}&searchOperator=contains`, root)

    expect(answer).toMatchObject({
      status: 200,
      body: { total: 1, users: [{ email: CHIEF, role: 'admin' }] },
    })
  })

  test('lists people, by page and order', async () => {
    const root = await chief()
    const mark = crypto.randomUUID()
    const emails = ['a', 'b', 'c'].map((letter) => `${letter}-${mark}@example.com`)
    for (const email of emails) await someone(email)
    const emailsOf = ({ body }: Answer) =>
      (body as { users: { email: string }[] }).users.map(({ email }) => email)
    const search = `searchField=email&searchOperator=contains&searchValue=${mark}&sortBy=email`

    expect(emailsOf(await list(`${search}&sortDirection=asc`, root))).toEqual(emails)
    expect(emailsOf(await list(`${search}&sortDirection=desc`, root))).toEqual([...emails].reverse())
    expect(emailsOf(await list(`${search}&sortDirection=asc&limit=1&offset=1`, root))).toEqual([emails[1]])
  })

  test.each([
    ['limit=-1', 'limit'],
    ['limit=x', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['limit=1e400', 'limit'],
    ['limit=9999999999999999999', 'limit'],
    ['offset=-1', 'offset'],
    ['sortBy=nope', 'sortBy'],
    ['sortBy=constructor', 'sortBy'],
    ['sortBy=email;drop', 'sortBy'],
    ['sortDirection=up', 'sortDirection'],
    ['searchField=role&searchValue=x', 'searchField'],
    ['searchField=email&searchOperator=like&searchValue=x', 'searchOperator'],
    [`searchValue=${'x'.repeat(255)}`, 'searchValue'],
  ])('refuses the query %s', async (query, path) => {
    const root = await chief()

    const { body } = await list(query, root)

    expect(body).toEqual({
      ...refusal(400, 'BAD_REQUEST', 'Input validation failed'),
      data: { issues: [{ path, message: expect.any(String) }] },
    })
  })

  test.each([
    'limit=0',
    'limit=999999999&offset=999999999',
    'searchValue=%25%5C_',
    'searchField=name&searchValue=%27',
    'filterField=password&filterValue=x',
    ...['id', 'name', 'email', 'role', 'createdAt', 'updatedAt'].map((column) => `sortBy=${column}`),
  ])('takes the query %s', async (query) => {
    const root = await chief()

    expect((await list(query, root)).status).toBe(200)
  })

  test('makes an administrator, and an ordinary person again', async () => {
    const [root, ada] = [await chief(), await someone()]
    const userId = await idOf(ada)

    expect(await admin('set-role', { userId, role: 'admin' }, root)).toMatchObject({ status: 200 })
    expect((await list('limit=1', ada)).status).toBe(200)
    expect(await admin('set-role', { userId, role: 'user' }, root)).toMatchObject({ status: 200 })
    expect((await list('limit=1', ada)).status).toBe(403)
  })

  test.each(['superuser', 'constructor', '', 'admin,user', ['admin'], null, undefined, 1])(
    'knows no role %j',
    async (role) => {
      const [root, ada] = [await chief(), await someone()]
      const userId = await idOf(ada)

      const answers = [
        await admin('set-role', { userId, role }, root),
        ...(role === undefined
          ? []
          : [await admin('create-user', { email: newEmail(), name: '', role }, root)]),
      ]

      for (const { status, body } of answers) {
        expect(status).toBe(400)
        expect(body).toMatchObject({ code: 'BAD_REQUEST', data: { issues: [{ path: 'role' }] } })
      }
      expect(await db.select({ role: users.role }).from(users).where(eq(users.id, userId))).toEqual([
        { role: 'user' },
      ])
    },
  )

  test('bans a person at once, on every device, and lets them in again', async () => {
    const email = newEmail()
    const [root, phone, laptop] = [await chief(), await someone(email), await someone(email)]
    const userId = await idOf(phone)

    expect(await admin('ban-user', { userId, banReason: 'Rude' }, root)).toMatchObject({ status: 200 })

    for (const device of [phone, laptop]) expect((await me(device)).status).toBe(401)
    await ask(email)
    const refused = await redeem(email, codeFor(email))
    expect(refused.status).toBe(403)
    expect(ErrorBody.strict().parse(refused.body)).toMatchObject({ code: 'BANNED_USER', status: 403 })
    expect(refused.headers.getSetCookie()).toEqual([])

    expect(await admin('unban-user', { userId }, root)).toMatchObject({ status: 200 })
    expect((await me(await someone(email))).status).toBe(200)
  })

  test('bans a person for a time', async () => {
    const email = newEmail()
    const [root, ada] = [await chief(), await someone(email)]
    const userId = await idOf(ada)

    await admin('ban-user', { userId, banExpiresIn: 3600 }, root)
    const [during] = await db.select().from(users).where(eq(users.id, userId))
    await db
      .update(users)
      .set({ banExpires: ago(1000) })
      .where(eq(users.id, userId))

    expect(during?.banExpires?.getTime()).toBeGreaterThan(Date.now() + 59 * MINUTE)
    expect((await me(await someone(email))).status).toBe(200)
  })

  test.each([0, -1, 1.5, 'x', 1e12])('bans nobody for %j seconds', async (banExpiresIn) => {
    const [root, ada] = [await chief(), await someone()]

    const answer = await admin('ban-user', { userId: await idOf(ada), banExpiresIn }, root)

    expect(answer.status).toBe(400)
    expect((await me(ada)).status).toBe(200)
  })

  test('refuses a session that outlived a ban', async () => {
    const ada = await someone()
    const userId = await idOf(ada)

    await db.update(users).set({ banned: true }).where(eq(users.id, userId))

    expect((await me(ada)).status).toBe(401)
    expect((await call('POST', '/api/auth/update-user', { name: 'x' }, ada)).status).toBe(401)
  })

  test('removes a person with all that is theirs', async () => {
    const email = newEmail()
    const [root, ada, bob] = [await chief(), await someone(email), await someone()]
    const userId = await idOf(ada)
    const { body: note } = await call('POST', '/api/notes', { title: 'One', body: '' }, ada)
    await call('POST', '/api/tasks', { taskTitle: 'One' }, ada)
    const { id } = note as { id: string }

    expect(await admin('remove-user', { userId }, root)).toMatchObject({ status: 200 })

    expect((await me(ada)).status).toBe(401)
    expect(await call('POST', `/api/notes/${id}/delete`, {}, bob)).toMatchObject({ status: 404 })
    const again = await someone(email)
    expect(await idOf(again)).not.toBe(userId)
    expect(await call('GET', '/api/notes', undefined, again)).toMatchObject({ body: { notes: [] } })
    expect(await call('GET', '/api/tasks', undefined, again)).toMatchObject({ body: { taskCount: 0 } })
  })

  test.each(['ban-user', 'remove-user'])('does not let one do to oneself: %s', async (operation) => {
    const root = await chief()

    const answer = await admin(operation, { userId: await idOf(root) }, root)

    expect(answer.status).toBe(400)
    expect((await me(root)).status).toBe(200)
  })

  test('makes, reads and renames a person, who may then sign in', async () => {
    const [root, email] = [await chief(), newEmail()]

    const made = await admin('create-user', { email, name: 'Ada' }, root)
    const { id } = (made.body as { user: { id: string } }).user
    await admin('update-user', { userId: id, data: { name: 'Eve', role: 'admin' } }, root)

    expect(made).toMatchObject({ status: 200, body: { user: { email, role: 'user' } } })
    expect(await call('GET', `/api/auth/admin/get-user?id=${id}`, undefined, root)).toMatchObject({
      status: 200,
      body: { id, name: 'Eve', role: 'user' },
    })
    expect((await me(await someone(email))).body).toEqual({ id, name: 'Eve', email, emailVerified: true })
    expect((await admin('create-user', { email, name: 'Ada' }, root)).status).toBe(400)
  })

  test('lists and ends the sessions of a person', async () => {
    const email = newEmail()
    const [root, phone, laptop] = [await chief(), await someone(email), await someone(email)]
    const userId = await idOf(phone)

    const listed = await admin('list-user-sessions', { userId }, root)
    await admin('revoke-user-session', { sessionToken: tokenOf(phone.cookie) }, root)

    expect((listed.body as { sessions: unknown[] }).sessions).toHaveLength(2)
    expect([(await me(phone)).status, (await me(laptop)).status]).toEqual([401, 200])
    await admin('revoke-user-sessions', { userId }, root)
    expect((await me(laptop)).status).toBe(401)
  })

  test('lends a person’s place to an administrator, and gives their own back', async () => {
    const [email, root] = [newEmail(), await chief()]
    const userId = await idOf(await someone(email))

    const lent = await admin('impersonate-user', { userId }, root)
    const acting = after(lent, root.cookie)
    const seen = await me(acting)
    const stopped = await admin('stop-impersonating', undefined, acting)

    expect(lent.status).toBe(200)
    expect(seen).toMatchObject({ status: 200, body: { id: userId, email } })
    expect(await sessionOf(acting)).toBeUndefined()
    expect(stopped.status).toBe(200)
    expect((await me(acting)).status).toBe(401)
    expect((await me(after(stopped, acting.cookie))).body).toMatchObject({ email: CHIEF })
  })

  test.each(['all its cookies', 'the session cookie alone'])(
    'lends a place for an hour, which use does not prolong, with %s',
    async (how) => {
      const root = await chief()
      const userId = await idOf(await someone())
      const acting = after(await admin('impersonate-user', { userId }, root), root.cookie)
      const cookies = acting.cookie.split('; ')
      const cookie = (how === 'all its cookies' ? cookies : cookies.filter(isToken)).join('; ')

      expect(await me({ cookie })).toMatchObject({ status: 200, body: { id: userId } })

      expect((await sessionOf(acting))?.expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 60 * MINUTE)
    },
  )

  const isToken = (cookie: string) => cookie.startsWith('better-auth.session_token=')

  test('lends nobody an administrator’s place, nor any to those who only act', async () => {
    const [root, other, ada] = [await chief(), await someone('other@example.com'), await someone()]
    const acting = after(await admin('impersonate-user', { userId: await idOf(ada) }, root), root.cookie)

    expect((await admin('impersonate-user', { userId: await idOf(other) }, root)).status).toBe(403)
    expect((await admin('impersonate-user', { userId: await idOf(other) }, acting)).status).toBe(403)
    expect((await list('', acting)).status).toBe(403)
  })

  test('has no place to give back to somebody who took none', async () => {
    const ada = await someone()

    const answer = await admin('stop-impersonating', undefined, ada)

    expect(answer.status).toBe(400)
    ErrorBody.strict().parse(answer.body)
  })
})

describe('rate limits', async () => {
  const limited = await startService({ RATE_LIMITS: 'on', TRUSTED_PROXIES: 'loopback' })
  const at = createFetch(limited)
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const askFrom = (address: string) =>
    ask(newEmail(), (method, path, body) => at(method, path, body, from(address)))

  async function exhaust(address: string) {
    for (let calls = 0; calls < 10; calls++) expect((await askFrom(address)).status).toBe(200)
    return askFrom(address)
  }

  test('refuse the eleventh code of a minute, and say when to come back', async () => {
    const { letters } = limited
    const before = letters.length

    const { status, headers, body } = await exhaust('203.0.113.1')

    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(body).toEqual(refusal(429, 'TOO_MANY_REQUESTS', 'Too many requests; try again later'))
    expect(letters.length - before).toBe(10)
  })

  test('count each address by itself', async () => {
    expect((await exhaust('203.0.113.2')).status).toBe(429)

    expect((await askFrom('203.0.113.3')).status).toBe(200)
  })

  test('count a whole IPv6 network as one', async () => {
    expect((await exhaust('2001:db8:1:1::1')).status).toBe(429)

    expect((await askFrom('2001:db8:1:1:ffff::2')).status).toBe(429)
    expect((await askFrom('2001:db8:1:2::1')).status).toBe(200)
  })

  test('are kept in the database, so that instances share them', async () => {
    await askFrom('203.0.113.4')

    const key = 'codesByAddress:203.0.113.4'
    const rows = await limited.services.db.select().from(limits).where(eq(limits.key, key))

    expect(rows).toMatchObject([{ points: 1 }])
  })

  test('hold for parallel calls too', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => askFrom('203.0.113.5')))

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
  })

  test('refuse guesses of codes as well', async () => {
    const guess = () =>
      at('POST', '/api/auth/sign-in/email-otp', { email: newEmail(), otp: '1' }, from('203.0.113.6'))
    for (let calls = 0; calls < 30; calls++) expect((await guess()).status).toBe(400)

    expect((await guess()).status).toBe(429)
  })

  test('are not spent by what is refused at once', async () => {
    const { 'x-forwarded-for': address } = from('203.0.113.7')
    for (let calls = 0; calls < 15; calls++)
      await at('POST', '/api/auth/email-otp/send-verification-otp', {}, from(address))

    expect((await askFrom(address)).status).toBe(200)
  })

  test('cannot be escaped by a header that is not the proxy’s', async () => {
    const alone: Service = await startService({ RATE_LIMITS: 'on' })
    const plain = createFetch(alone)
    const statuses: number[] = []
    for (let calls = 0; calls < 11; calls++) {
      const headers = {
        'x-forwarded-for': `203.0.113.${calls}`,
        'x-tallystick-address': `203.0.113.${calls}`,
      }
      const answer = await ask(newEmail(), (method, path, body) => plain(method, path, body, headers))
      statuses.push(answer.status)
    }

    expect(statuses).toEqual([...Array<number>(10).fill(200), 429])
  })
})
