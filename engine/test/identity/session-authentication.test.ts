import { eq } from 'drizzle-orm'
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'

import { sessions } from '../../db/accounts/sessions.ts'
import { cookiesAfter, createFetch, sessionTokenIn } from '../fixtures/http.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ ADMIN_EMAILS: ROOT })
const call = createFetch(service)
const { app, db, auth } = service.services

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const signIn = async (email = newEmail()) => ({ cookie: await service.signIn(email) })
const me = (headers: Record<string, string>) => call('GET', '/api/me', undefined, headers)

const isSessionOf = (cookie: string) => eq(sessions.token, sessionTokenIn(cookie))
const sessionOf = async ({ cookie }: { cookie: string }) =>
  (await db.select().from(sessions).where(isSessionOf(cookie))).at(0)
const updateSession = (cookie: string, changes: Partial<typeof sessions.$inferInsert>) =>
  db.update(sessions).set(changes).where(isSessionOf(cookie))
const ago = (milliseconds: number) => new Date(Date.now() - milliseconds)
const fromNow = (milliseconds: number) => ago(-milliseconds)

describe('a session', () => {
  const renewed = expect.stringMatching(/^test-library\.session_token=.+; Max-Age=604800;/)
  const calls = [
    ['GET', '/api/me', {}],
    ['POST', '/api/shelves', {}],
    ['GET', '/api/shelves', { 'datastar-request': 'true' }],
    ['GET', '/rpc/account/get', {}],
    ['GET', '/api/auth/get-session', {}],
    ['POST', '/api/auth/update-user', {}],
  ] as const

  test.each(calls)(
    'is extended, with a new cookie, by %s %s when less than six days are left',
    async (method, path, headers) => {
      const ada = await signIn()
      await updateSession(ada.cookie, { expiresAt: fromNow(5.9 * DAY) })

      const answer = await call(method, path, method === 'POST' ? { name: 'Ada' } : undefined, {
        ...ada,
        ...headers,
      })

      expect(answer.status).toBe(200)
      expect(answer.headers.getSetCookie()).toContainEqual(renewed)
      expect(cookiesAfter(answer, ada.cookie)).toBe(ada.cookie)
      expect((await sessionOf(ada))?.expiresAt.getTime()).toBeGreaterThan(Date.now() + 6.9 * DAY)
    },
  )

  test('is extended by a request to an administrative endpoint', async () => {
    const root = await signIn(ROOT)
    await updateSession(root.cookie, { expiresAt: fromNow(5.9 * DAY) })

    const answer = await call('GET', '/api/auth/admin/list-users?limit=1', undefined, root)

    expect(answer.status).toBe(200)
    expect(answer.headers.getSetCookie()).toContainEqual(renewed)
    expect((await sessionOf(root))?.expiresAt.getTime()).toBeGreaterThan(Date.now() + 6.9 * DAY)
  })

  test('is extended once by concurrent requests', async () => {
    const ada = await signIn()
    await updateSession(ada.cookie, { expiresAt: fromNow(5.9 * DAY) })

    const answers = await Promise.all(Array.from({ length: 8 }, () => me(ada)))
    const later = await me(ada)

    for (const { status } of answers) expect(status).toBe(200)
    expect(later.headers.getSetCookie()).toEqual([])
  })

  test('is not extended when more than six days are left', async () => {
    const ada = await signIn()
    const expiresAt = fromNow(6.1 * DAY)
    await updateSession(ada.cookie, { expiresAt })

    const answer = await me(ada)

    expect(answer.headers.getSetCookie()).toEqual([])
    expect((await sessionOf(ada))?.expiresAt).toEqual(expiresAt)
  })

  test('records the time of a request when the recorded time is older than a minute', async () => {
    const ada = await signIn()
    await updateSession(ada.cookie, { updatedAt: ago(5 * MINUTE) })

    await call('POST', '/api/shelves', { name: 'One' }, ada)
    await expect.poll(() => isActive(ada), PATIENCE).toBe(true)
    const { body } = await call('GET', '/api/sessions', undefined, ada)
    const [session] = (body as { sessions: { lastActive: number }[] }).sessions

    expect(Date.now() / 1000 - (session?.lastActive ?? 0)).toBeLessThan(30)
  })

  const isActive = async (credentials: { cookie: string }) =>
    ((await sessionOf(credentials))?.updatedAt.getTime() ?? 0) > Date.now() - MINUTE / 2

  test('does not record the time of a request when the recorded time is newer than a minute', async () => {
    const [ada, later] = [await signIn(), await signIn()]
    await updateSession(later.cookie, { updatedAt: ago(5 * MINUTE) })
    const updatedAt = ago(30_000)
    await updateSession(ada.cookie, { updatedAt })

    await me(ada)
    await me(later)
    await expect.poll(() => isActive(later), PATIENCE).toBe(true)

    expect((await sessionOf(ada))?.updatedAt).toEqual(updatedAt)
  })

  test('is returned with its user by get-session, which returns null without a session', async () => {
    const email = newEmail()
    const ada = await signIn(email)

    const known = await call('GET', '/api/auth/get-session', undefined, ada)
    const unknown = await call('GET', '/api/auth/get-session')

    expect(known.body).toMatchObject({ user: { email } })
    expect(unknown).toMatchObject({ status: 200, body: null })
  })
})

describe('a request', () => {
  const signature = (token: string, secret: string) =>
    createHmac('sha256', secret).update(token).digest('base64')
  const sign = (token: string, secret: string) => encodeURIComponent(`${token}.${signature(token, secret)}`)
  const name = `${app.cookiePrefix}.session_token`
  const secret = service.services.settings.authSecret
  const valueOf = (cookie: string) => cookie.slice(name.length + 1)

  const valid: Record<string, (cookie: string) => string | Promise<string>> = {
    unchanged: (cookie) => cookie,
    'signed again': (cookie) => `${name}=${sign(sessionTokenIn(cookie), secret)}`,
    'among other cookies': (cookie) => `a=b; ${cookie}; c="d e"`,
    'not percent-encoded': (cookie) => decodeURIComponent(cookie),
    'extended in the database': async (cookie) => {
      await updateSession(cookie, { expiresAt: fromNow(DAY) })
      return cookie
    },
  }
  const invalid: Record<string, (cookie: string) => string | Promise<string>> = {
    absent: () => '',
    'under another name': (cookie) => `session_token=${valueOf(cookie)}`,
    'prefixed with __Secure- at an http origin': (cookie) => `__Secure-${cookie}`,
    expired: async (cookie) => {
      await updateSession(cookie, { expiresAt: ago(1000) })
      return cookie
    },
    revoked: async (cookie) => {
      await db.delete(sessions).where(eq(sessions.token, sessionTokenIn(cookie)))
      return cookie
    },
    'signed out': async (cookie) => {
      await call('POST', '/api/auth/sign-out', undefined, { cookie })
      return cookie
    },
    'of a banned account': async (cookie) => {
      const { id: userId } = (await me({ cookie })).body as { id: string }
      await call('POST', '/api/auth/admin/ban-user', { userId }, await signIn(ROOT))
      return cookie
    },
    'of a removed account': async (cookie) => {
      const { id: userId } = (await me({ cookie })).body as { id: string }
      await call('POST', '/api/auth/admin/remove-user', { userId }, await signIn(ROOT))
      return cookie
    },
    'signed with another secret': (cookie) => `${name}=${sign(sessionTokenIn(cookie), 'x'.repeat(32))}`,
    'of an unknown token': () => `${name}=${sign('x'.repeat(32), secret)}`,
    'of an empty token': () => `${name}=${sign('', secret)}`,
    'of another token': (cookie) => cookie.replace('=', '=x'),
    'changed in its last character': (cookie) =>
      cookie.replace(/(.)%3D$/, (_, last) => (last === 'A' ? 'E%3D' : 'A%3D')),
    truncated: (cookie) => cookie.slice(0, -6),
    'the token alone': (cookie) => `${name}=${sessionTokenIn(cookie)}`,
    'the token with an empty signature': (cookie) => `${name}=${sessionTokenIn(cookie)}.`,
    'the signature alone': (cookie) => `${name}=.${valueOf(cookie).split('.')[1]}`,
    empty: () => `${name}=`,
    'not valid percent-encoding': (cookie) => `${cookie}%E0%A4%A`,
    'not a cookie list': () => ';;;===,,,\t"',
  }

  const isSignedInForBetterAuth = async (cookie: string) =>
    (await auth.api.getSession({ headers: new Headers({ cookie }) })) !== null
  const isSignedIn = async (cookie: string) => {
    const { status, body } = await me({ cookie })
    if (status !== 200) expect(body).toMatchObject({ code: 'UNAUTHORIZED', status: 401 })
    return status === 200
  }

  test.each(Object.entries(valid))(
    'is authenticated by a cookie that is %s, as by better-auth',
    async (_, derive) => {
      const { cookie } = await signIn()
      const sent = await derive(cookie)

      expect([await isSignedIn(sent), await isSignedInForBetterAuth(sent)]).toEqual([true, true])
    },
  )

  test.each(Object.entries(invalid))(
    'is not authenticated by a cookie that is %s, as by better-auth',
    async (_, derive) => {
      const { cookie } = await signIn()
      const sent = await derive(cookie)

      expect([await isSignedIn(sent), await isSignedInForBetterAuth(sent)]).toEqual([false, false])
    },
  )

  test.each<[string, (signature: string) => string]>([
    ['in base64url', (signed) => signed.replaceAll('+', '-').replaceAll('/', '_')],
    ['without padding', (signed) => signed.slice(0, -1)],
    ['with an extra character at its end', (signed) => `${signed}=`],
    [
      'with unused bits set in its last digit',
      (signed) => signed.replace(/.=$/, (last) => `${next(last.charAt(0))}=`),
    ],
  ])('is authenticated as by better-auth when the signature is written %s', async (_, write) => {
    const { cookie, signed } = await signInUntilSignature(/[+/]/)
    const sent = `${name}=${encodeURIComponent(`${sessionTokenIn(cookie)}.${write(signed)}`)}`

    expect(await isSignedIn(sent)).toBe(await isSignedInForBetterAuth(sent))
  })

  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const next = (digit: string) => ALPHABET.charAt(ALPHABET.indexOf(digit) + 1)

  /** Repeats the sign-in until the signature of the cookie, which is different each time, matches the pattern. */
  async function signInUntilSignature(pattern: RegExp) {
    for (;;) {
      const { cookie } = await signIn()
      const signed = signature(sessionTokenIn(cookie), secret)
      if (pattern.test(signed)) return { cookie, signed }
    }
  }

  test.each(['ADA; BOB', 'BOB; ADA', 'ADA; NONE', 'NONE; ADA'])(
    'has the same user as in better-auth when two cookies have one name: %s',
    async (pattern) => {
      const [ada, bob] = [await signIn(), await signIn()]
      const cookies: Record<string, string> = { ADA: ada.cookie, BOB: bob.cookie, NONE: `${name}=x` }
      const cookie = pattern.replace(/[A-Z]+/g, (word) => cookies[word] ?? '')

      const session = await auth.api.getSession({ headers: new Headers({ cookie }) })
      const { status, body } = await me({ cookie })

      expect(status === 200 ? (body as { id: string }).id : undefined).toBe(session?.user.id)
    },
  )

  test('is not authenticated by a session token outside the cookie', async () => {
    const { cookie } = await signIn()
    const token = sessionTokenIn(cookie)

    const attempts: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { authorization: `Bearer ${valueOf(cookie)}` },
      { 'x-session-token': token },
    ]
    for (const headers of attempts) expect((await me(headers)).status).toBe(401)
  })
})
