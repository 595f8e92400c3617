import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { ErrorBody } from '../../contract/errors.ts'
import { users } from '../../db/accounts/users.ts'
import { sessions } from '../../db/accounts/sessions.ts'
import {
  codeSentTo,
  cookiesAfter,
  createFetch,
  errorBody,
  notFound,
  sessionTokenIn,
} from '../fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'
import { books, shelves } from '../library/db.ts'

const ROOT = 'root@example.com'
const service = await startService({ ADMIN_EMAILS: `other@example.com, Root@Example.com` })
const call = createFetch(service)
const { app, db, auth } = service.services

const MINUTE = 60_000

const signIn = async (email = newEmail()) => ({ cookie: await service.signIn(email) })
const signInAsRoot = () => signIn(ROOT)
const me = (headers: Record<string, string>) => call('GET', '/api/me', undefined, headers)
const idOf = async (headers: Record<string, string>) => ((await me(headers)).body as { id: string }).id
const sessionOf = async (cookie: string) =>
  (
    await db
      .select()
      .from(sessions)
      .where(eq(sessions.token, sessionTokenIn(cookie)))
  ).at(0)
const submitCode = async (email: string) => {
  await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
  return call('POST', '/api/auth/sign-in/email-otp', { email, otp: codeSentTo(service, email) })
}

describe('an endpoint of better-auth that the service does not serve', () => {
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

  test('is found in the complete list of the endpoints of better-auth', () => {
    expect(all).toEqual(
      expect.arrayContaining([...offered, '/sign-up/email', '/change-email', '/delete-user']),
    )
    expect(all.length).toBeGreaterThan(40)
  })

  test.each([...new Set(all)].filter((path) => !offered.includes(path)))('is not found: %s', async (path) => {
    const root = await signInAsRoot()

    for (const method of ['GET', 'POST'])
      expect((await call(method, `/api/auth${path}`, undefined, root)).body).toEqual(notFound)
  })

  test.each([
    '',
    '/',
    '/nope',
    '/constructor',
    '//sign-out',
    '/sign-out/',
    '/Sign-Out',
    '/%2573ign-out',
    '/admin',
  ])('is not found at /api/auth%s', async (path) => {
    const ada = await signIn()

    expect((await call('POST', `/api/auth${path}`, undefined, ada)).body).toEqual(notFound)
    expect((await me(ada)).status).toBe(200)
  })
})

describe('an administrative endpoint', () => {
  const admin = (operation: string, body: unknown, headers: Record<string, string>) =>
    call('POST', `/api/auth/admin/${operation}`, body, headers)
  const list = (query: string, headers: Record<string, string>) =>
    call('GET', `/api/auth/admin/list-users?${query}`, undefined, headers)

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

  test.each(operations)(
    'rejects other callers before the service reads the body: %s %s',
    async (method, operation, body) => {
      const ada = await signIn()
      const path = `/api/auth/admin/${operation}`

      for (const sent of [body, method === 'POST' ? '{bad' : undefined]) {
        expect((await call(method, path, sent)).body).toEqual(errorBody(401, 'UNAUTHORIZED', 'Sign in first'))
        expect((await call(method, path, sent, ada)).body).toEqual(
          errorBody(403, 'FORBIDDEN', 'Only an administrator may do this'),
        )
      }
    },
  )

  test.each(operations.filter(([, operation]) => !/list|create|get/.test(operation)))(
    'does not fail for an absent user: %s %s',
    async (method, operation, body) => {
      const root = await signInAsRoot()

      const answer = await call(method, `/api/auth/admin/${operation}`, body, root)

      expect(answer.status).toBeLessThan(500)
      if (answer.status !== 200) ErrorBody.strict().parse(answer.body)
    },
  )

  test('accepts a user who signed in with an address of ADMIN_EMAILS', async () => {
    const root = await signInAsRoot()

    const answer = await list(`searchField=email&searchValue=${ROOT}&searchOperator=contains`, root)

    expect(answer).toMatchObject({
      status: 200,
      body: { total: 1, users: [{ email: ROOT, role: 'admin' }] },
    })
  })

  test('grants and revokes the role of an administrator', async () => {
    const [root, ada] = [await signInAsRoot(), await signIn()]
    const userId = await idOf(ada)

    expect(await admin('set-role', { userId, role: 'admin' }, root)).toMatchObject({ status: 200 })
    expect((await list('limit=1', ada)).status).toBe(200)
    expect(await admin('set-role', { userId, role: 'user' }, root)).toMatchObject({ status: 200 })
    expect((await list('limit=1', ada)).status).toBe(403)
  })

  test.each(['superuser', 'constructor', '', 'admin,user', ['admin'], null, undefined, 1])(
    'rejects the role %j',
    async (role) => {
      const [root, ada] = [await signInAsRoot(), await signIn()]
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

  test('bans a user immediately in every session, until the ban is lifted', async () => {
    const email = newEmail()
    const [root, phone, laptop] = [await signInAsRoot(), await signIn(email), await signIn(email)]
    const userId = await idOf(phone)

    expect(await admin('ban-user', { userId, banReason: 'Rude' }, root)).toMatchObject({ status: 200 })

    for (const device of [phone, laptop]) expect((await me(device)).status).toBe(401)
    const rejected = await submitCode(email)
    expect(rejected.status).toBe(403)
    expect(ErrorBody.strict().parse(rejected.body)).toMatchObject({ code: 'BANNED_USER', status: 403 })
    expect(rejected.headers.getSetCookie()).toEqual([])

    expect(await admin('unban-user', { userId }, root)).toMatchObject({ status: 200 })
    expect((await me(await signIn(email))).status).toBe(200)
  })

  test('bans a user for a limited time', async () => {
    const email = newEmail()
    const [root, ada] = [await signInAsRoot(), await signIn(email)]
    const userId = await idOf(ada)

    await admin('ban-user', { userId, banExpiresIn: 3600 }, root)
    const [during] = await db.select().from(users).where(eq(users.id, userId))
    await db
      .update(users)
      .set({ banExpires: new Date(Date.now() - 1000) })
      .where(eq(users.id, userId))

    expect(during?.banExpires?.getTime()).toBeGreaterThan(Date.now() + 59 * MINUTE)
    expect((await me(await signIn(email))).status).toBe(200)
  })

  test.each([0, -1, 1.5, 'x', 1e12])('rejects a ban of %j seconds', async (banExpiresIn) => {
    const [root, ada] = [await signInAsRoot(), await signIn()]

    const answer = await admin('ban-user', { userId: await idOf(ada), banExpiresIn }, root)

    expect(answer.status).toBe(400)
    expect((await me(ada)).status).toBe(200)
  })

  test('rejects a session that still exists after a ban', async () => {
    const ada = await signIn()
    const userId = await idOf(ada)

    await db.update(users).set({ banned: true }).where(eq(users.id, userId))

    expect((await me(ada)).status).toBe(401)
    expect((await call('POST', '/api/auth/update-user', { name: 'x' }, ada)).status).toBe(401)
  })

  test('removes a user with the user’s shelves and loans', async () => {
    const email = newEmail()
    const [root, ada, bookId] = [await signInAsRoot(), await signIn(email), crypto.randomUUID()]
    const userId = await idOf(ada)
    await db.insert(books).values({ id: bookId, title: 'A book', copies: 1 })
    expect(await call('POST', '/api/shelves', { name: 'One' }, ada)).toMatchObject({ status: 200 })
    expect(await call('POST', '/api/loans', { bookId }, ada)).toMatchObject({ status: 200 })

    expect(await admin('remove-user', { userId }, root)).toMatchObject({ status: 200 })

    expect((await me(ada)).status).toBe(401)
    expect(await db.select().from(shelves).where(eq(shelves.userId, userId))).toEqual([])
    const again = await signIn(email)
    expect(await idOf(again)).not.toBe(userId)
    expect(await call('GET', '/api/shelves', undefined, again)).toMatchObject({ body: { shelves: [] } })
    expect(await call('GET', '/api/loans', undefined, again)).toMatchObject({ body: { loans: [] } })
  })

  test.each(['ban-user', 'remove-user'])('rejects an administrator’s own account: %s', async (operation) => {
    const root = await signInAsRoot()

    const answer = await admin(operation, { userId: await idOf(root) }, root)

    expect(answer.status).toBe(400)
    expect((await me(root)).status).toBe(200)
  })

  test('creates, reads and renames a user, who can then sign in', async () => {
    const [root, email] = [await signInAsRoot(), newEmail()]

    const created = await admin('create-user', { email, name: 'Ada' }, root)
    const { id } = (created.body as { user: { id: string } }).user
    await admin('update-user', { userId: id, data: { name: 'Eve', role: 'admin' } }, root)

    expect(created).toMatchObject({ status: 200, body: { user: { email, role: 'user' } } })
    expect(await call('GET', `/api/auth/admin/get-user?id=${id}`, undefined, root)).toMatchObject({
      status: 200,
      body: { id, name: 'Eve', role: 'user' },
    })
    expect((await me(await signIn(email))).body).toEqual({ id, name: 'Eve', email, emailVerified: true })
    expect((await admin('create-user', { email, name: 'Ada' }, root)).status).toBe(400)
  })

  test('lists and revokes the sessions of a user', async () => {
    const email = newEmail()
    const [root, phone, laptop] = [await signInAsRoot(), await signIn(email), await signIn(email)]
    const userId = await idOf(phone)

    const listed = await admin('list-user-sessions', { userId }, root)
    await admin('revoke-user-session', { sessionToken: sessionTokenIn(phone.cookie) }, root)

    expect((listed.body as { sessions: unknown[] }).sessions).toHaveLength(2)
    expect([(await me(phone)).status, (await me(laptop)).status]).toEqual([401, 200])
    await admin('revoke-user-sessions', { userId }, root)
    expect((await me(laptop)).status).toBe(401)
  })

  test('starts an impersonation, and restores the administrator’s own session when it stops', async () => {
    const [email, root] = [newEmail(), await signInAsRoot()]
    const userId = await idOf(await signIn(email))

    const started = await admin('impersonate-user', { userId }, root)
    const acting = { cookie: cookiesAfter(started, root.cookie) }
    const account = await me(acting)
    const stopped = await admin('stop-impersonating', undefined, acting)

    expect(started.status).toBe(200)
    expect(account).toMatchObject({ status: 200, body: { id: userId, email } })
    expect(await sessionOf(acting.cookie)).toBeUndefined()
    expect(stopped.status).toBe(200)
    expect((await me(acting)).status).toBe(401)
    expect((await me({ cookie: cookiesAfter(stopped, acting.cookie) })).body).toMatchObject({ email: ROOT })
  })

  test.each(['all cookies', 'the session cookie alone'])(
    'starts an impersonation of one hour, which requests do not extend, with %s',
    async (sent) => {
      const root = await signInAsRoot()
      const userId = await idOf(await signIn())
      const acting = cookiesAfter(await admin('impersonate-user', { userId }, root), root.cookie)
      const cookies = acting.split('; ')
      const cookie = (sent === 'all cookies' ? cookies : cookies.filter(isSessionCookie)).join('; ')

      const account = await me({ cookie })

      expect(account).toMatchObject({ status: 200, body: { id: userId } })
      expect((await sessionOf(acting))?.expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 60 * MINUTE)
    },
  )

  const isSessionCookie = (cookie: string) => cookie.startsWith(`${app.cookiePrefix}.session_token=`)

  test('starts no impersonation of an administrator and none during an impersonation', async () => {
    const [root, other, ada] = [await signInAsRoot(), await signIn('other@example.com'), await signIn()]
    const started = await admin('impersonate-user', { userId: await idOf(ada) }, root)
    const acting = { cookie: cookiesAfter(started, root.cookie) }
    const userId = await idOf(other)

    const answers = [
      await admin('impersonate-user', { userId }, root),
      await admin('impersonate-user', { userId }, acting),
      await list('', acting),
    ]

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
  })

  test('rejects the end of an impersonation that was not started', async () => {
    const ada = await signIn()

    const answer = await admin('stop-impersonating', undefined, ada)

    expect(answer.status).toBe(400)
    ErrorBody.strict().parse(answer.body)
  })
})
