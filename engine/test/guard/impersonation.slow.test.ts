import { call as callProcedure, os, traverseContractProcedures } from '@orpc/server'
import { eq, sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { isChange, type Meta, metaOf } from '../../contract/meta.ts'
import type { Context } from '../../call/context.ts'
import * as audit from '../../db/accounts/audit.ts'
import { users } from '../../db/accounts/users.ts'
import { sessions } from '../../db/accounts/sessions.ts'
import { createContext } from '../../guard/authentication.ts'
import { withCaller } from '../../guard/index.ts'
import * as operator from '../../operator/people/admin.ts'
import { addBook } from '../fixtures/books.ts'
import { cookiesAfter, createFetch, signInOverHttp } from '../fixtures/http.ts'
import { redirectUri, registerApp } from '../fixtures/oauth-app.ts'
import { newEmail, startService } from '../fixtures/service.ts'
import { app } from '../library/app.ts'
import { type Client, contract } from '../library/contract.ts'
import { shelfShares } from '../library/db.ts'

const ROOT = 'root@example.com'
const service = await startService({ ADMIN_EMAILS: ROOT })
const call = createFetch(service)
const { db } = service.services
const bookId = await addBook(service)

const AGENT = 'Administrator/1.0'

const get = (path: string, cookie: string) => call('GET', path, undefined, { cookie })
const post = (path: string, body: object | undefined, cookie: string, headers = {}) =>
  call('POST', path, body, { cookie, ...headers })
const admin = (operation: string, body: object | undefined, cookie: string) =>
  post(`/api/auth/admin/${operation}`, body, cookie)
const stop = (cookie: string) => admin('stop-impersonating', undefined, cookie)

async function signIn(email = newEmail()) {
  const { cookie } = await signInOverHttp(service, email)
  const { body } = await get('/api/me', cookie)
  return { email, cookie, id: (body as { id: string }).id }
}

/** Creates a user, and an administrator who impersonates the user. */
async function startImpersonation() {
  const [root, administrator, ada] = [await signIn(ROOT), await signIn(), await signIn()]
  await admin('set-role', { userId: administrator.id, role: 'admin' }, root.cookie)
  const started = await post('/api/auth/admin/impersonate-user', { userId: ada.id }, administrator.cookie, {
    'user-agent': AGENT,
  })
  const cookie = cookiesAfter(started, administrator.cookie)
  expect(await get('/api/me', cookie)).toMatchObject({ status: 200, body: { id: ada.id } })
  return { root, administrator, ada, cookie }
}
type Impersonation = Awaited<ReturnType<typeof startImpersonation>>

const impersonationsOf = async ({ ada }: Impersonation) =>
  (await db.select().from(sessions).where(eq(sessions.userId, ada.id))).filter(
    ({ impersonatedBy }) => impersonatedBy !== null,
  )

const setUser = (id: string, values: Partial<typeof users.$inferInsert>) =>
  db.update(users).set(values).where(eq(users.id, id))

const commandContext = {
  environment: { DATABASE_URL: service.databaseUrl, AUTH_SECRET: 'x'.repeat(32) },
  loadApp: () => Promise.resolve(app),
  print: () => undefined,
}

/**
 * Events after which the service immediately deletes the session of the impersonation. The keys complete the test title
 * “when an administrator …”.
 */
const endings: Record<string, (impersonation: Impersonation) => Promise<unknown>> = {
  'is demoted': ({ root, administrator: { id } }) =>
    admin('set-role', { userId: id, role: 'user' }, root.cookie),
  'is demoted by the operator': ({ administrator: { email } }) => operator.revoke(commandContext, email),
  'is banned': ({ root, administrator: { id } }) => admin('ban-user', { userId: id }, root.cookie),
  'is removed': ({ root, administrator: { id } }) => admin('remove-user', { userId: id }, root.cookie),
  'has every session revoked': ({ root, administrator: { id } }) =>
    admin('revoke-user-sessions', { userId: id }, root.cookie),
  'signs out': ({ administrator: { cookie } }) => post('/api/auth/sign-out', undefined, cookie),
  'deletes the account': ({ administrator: { cookie, email } }) => post('/api/me/delete', { email }, cookie),
  'impersonates a person who becomes an administrator': ({ root, ada: { id } }) =>
    admin('set-role', { userId: id, role: 'admin' }, root.cookie),
}

/**
 * Events that end an impersonation, but do not delete its session. The next request with this session deletes the
 * session.
 */
const lapses: Record<string, (impersonation: Impersonation) => Promise<unknown>> = {
  'has another role in the database': ({ administrator: { id } }) => setUser(id, { role: 'user' }),
  'is banned in the database': ({ administrator: { id } }) => setUser(id, { banned: true }),
  'has a session that expired': ({ administrator: { id } }) =>
    db
      .update(sessions)
      .set({ expiresAt: new Date(0) })
      .where(eq(sessions.userId, id)),
  'impersonates an administrator by the database': ({ ada: { id } }) => setUser(id, { role: 'admin' }),
}

describe.each(Object.entries({ ...endings, ...lapses }))('when an administrator %s', (_, end) => {
  test('the impersonation is rejected on the next request, and stops without an error', async () => {
    const impersonation = await startImpersonation()
    const { ada, cookie } = impersonation

    await end(impersonation)

    expect((await get('/api/me', cookie)).status).toBe(401)
    expect((await post('/api/shelves', { name: 'x' }, cookie)).status).toBe(401)
    expect((await post('/api/auth/update-user', { name: 'x' }, cookie)).status).toBe(401)
    expect(await get('/api/auth/get-session', cookie)).toMatchObject({ status: 200, body: null })
    const stopped = await stop(cookie)
    expect(stopped).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    expect(cookiesAfter(stopped, cookie)).toBe('')
    expect(await impersonationsOf(impersonation)).toEqual([])
    expect(await get('/api/me', ada.cookie)).toMatchObject({ status: 200, body: { id: ada.id, name: '' } })
  })
})

describe.each(Object.entries(endings))('after an administrator %s', (_, end) => {
  test('no session of the impersonation is left', async () => {
    const impersonation = await startImpersonation()

    await end(impersonation)

    expect(await impersonationsOf(impersonation)).toEqual([])
  })
})

describe('an impersonation', () => {
  test('continues after an expired ban and after the end of other sessions', async () => {
    const { administrator, root, ada, cookie } = await startImpersonation()
    await setUser(administrator.id, { banned: true, banExpires: new Date(Date.now() - 1000) })
    await admin('revoke-user-sessions', { userId: (await signIn()).id }, root.cookie)

    expect(await get('/api/me', cookie)).toMatchObject({ status: 200, body: { id: ada.id } })
  })

  test('continues when the request to stop it has an invalid token', async () => {
    const { ada, cookie } = await startImpersonation()

    const rejected = await post('/api/auth/admin/stop-impersonating', undefined, cookie, {
      authorization: 'Bearer x',
    })

    expect(rejected.status).toBe(401)
    expect(rejected.headers.getSetCookie()).toEqual([])
    expect(await get('/api/me', cookie)).toMatchObject({ status: 200, body: { id: ada.id } })
  })

  test('restores the administrator’s own session when it stops', async () => {
    const { administrator, cookie } = await startImpersonation()

    const stopped = await stop(cookie)
    const own = cookiesAfter(stopped, cookie)

    expect(stopped.status).toBe(200)
    expect(await get('/api/me', own)).toMatchObject({ body: { id: administrator.id } })
    expect(own.split('; ')).toHaveLength(1)
    expect((await get('/api/me', cookie)).status).toBe(401)
  })

  test.each(['is missing', 'is forged'])(
    'stops without the administrator’s own session if the cookie of this session %s',
    async (state) => {
      const impersonation = await startImpersonation()
      const others = impersonation.cookie.split('; ').filter((pair) => !pair.includes('admin_session'))
      const forged = state === 'is forged' ? ['better-auth.admin_session=x.y'] : []

      const stopped = await stop([...others, ...forged].join('; '))

      expect(stopped).toMatchObject({
        status: 401,
        body: { message: expect.stringContaining('Sign in again') },
      })
      expect(cookiesAfter(stopped, impersonation.cookie)).toBe('')
      expect(await impersonationsOf(impersonation)).toEqual([])
    },
  )

  test('leaves no cookie of the administrator after sign-out', async () => {
    const { cookie } = await startImpersonation()

    const left = cookiesAfter(await post('/api/auth/sign-out', undefined, cookie), cookie)

    expect(left).toBe('')
  })

  test('shows the administrator no session token and revokes no session', async () => {
    const { ada, cookie } = await startImpersonation()
    const own = (await get('/api/sessions', ada.cookie)).body as { sessions: { token: string }[] }

    const { body } = await get('/api/sessions', cookie)

    expect((body as typeof own).sessions.map(({ token }) => token)).toEqual(['', ''])
    for (const { token } of own.sessions)
      expect(await post('/api/sessions/revoke', { revokeSessionToken: token }, cookie)).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', defined: true },
      })
    expect((await get('/api/me', ada.cookie)).status).toBe(200)
  })

  test('shows the user neither address nor browser of the administrator', async () => {
    const { ada, administrator } = await startImpersonation()

    const answers = [
      await get('/api/sessions', ada.cookie),
      await get('/api/me/export', ada.cookie),
      await get('/api/auth/get-session', ada.cookie),
    ]

    const { body } = answers[0] ?? {}
    expect((body as { sessions: object[] }).sessions).toContainEqual(
      expect.objectContaining({ ipAddress: null, userAgent: null, browser: 'Unknown', os: 'Unknown' }),
    )
    const text = JSON.stringify(answers.map(({ body }) => body))
    for (const secret of [AGENT, administrator.id, administrator.email]) expect(text).not.toContain(secret)
  })

  test('cannot share a shelf, but renames and shows the shelf', async () => {
    const { ada, cookie } = await startImpersonation()
    const { body } = await post('/api/shelves', { name: 'Plan' }, ada.cookie)
    const { id } = body as { id: number }
    const email = newEmail()
    await post(`/api/shelves/${id}/share`, { email, role: 'reader' }, ada.cookie)

    const refused = await post(`/api/shelves/${id}/share`, { email, role: 'editor' }, cookie)

    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', defined: true } })
    const { email: address, role } = shelfShares
    const shares = await db
      .select({ email: address, role })
      .from(shelfShares)
      .where(eq(shelfShares.shelfId, id))
    expect(shares).toEqual([{ email, role: 'reader' }])
    expect(await call('PATCH', `/api/shelves/${id}`, { name: 'Changed' }, { cookie })).toMatchObject({
      status: 200,
      body: { name: 'Changed', can: { SHARE_SHELF: true } },
    })
  })

  describe('has an entry in the audit trail for each change', () => {
    /** For each procedure that updates a topic and permits impersonations, a call. */
    const changes: Record<
      string,
      (client: Client, ids: { loan: number; shelf: number }) => Promise<unknown>
    > = {
      'loans.create': (client) => client.loans.create({ bookId }),
      'loans.update': (client, { loan: id }) => client.loans.update({ id, remark: 'x' }),
      'loans.return': (client, { loan: id }) => client.loans.return({ id }),
      'shelves.create': (client) => client.shelves.create({ name: 'x' }),
      'shelves.rename': (client, { shelf: id }) => client.shelves.rename({ id, name: 'y' }),
    }

    test('of every procedure with a method that changes data of a caller', () => {
      const declared: string[] = []
      traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
        const { noImpersonation, access } = metaOf(procedure)
        if (isChange(procedure) && !noImpersonation && access !== 'public') declared.push(path.join('.'))
      })

      expect(declared.sort()).toEqual(Object.keys(changes).sort())
    })

    test.each(Object.entries(changes))('%s', async (name, change) => {
      const { administrator, ada, cookie } = await startImpersonation()
      const own = service.client({ cookie: ada.cookie })
      const { id: loan } = await own.loans.create({ bookId })
      const { id: shelf } = await own.shelves.create({ name: 'x' })

      await change(service.client({ cookie }), { loan, shelf })

      const entries = await audit.list(db, { person: ada.id }, { limit: 10 })
      expect(entries.filter(({ action }) => action === 'impersonation.change')).toMatchObject([
        { outcome: 'accepted', actor: administrator.id, subject: ada.id, detail: name },
      ])
    })

    test.each([
      ['GET', 0],
      ['POST', 1],
      ['PUT', 1],
      ['PATCH', 1],
      ['DELETE', 1],
    ] as const)('of a procedure that declares only the method %s: %d', async (method, count) => {
      const { ada, cookie } = await startImpersonation()
      const declared = os.$context<Context>().$meta<Meta>({ access: 'signedIn' }).use(withCaller)
      const procedure = declared.route({ method }).handler(() => 1)

      const context = createContext(service.services, { cookie })
      await callProcedure(procedure, undefined, { context, path: ['shelves', 'undeclared'] })

      const entries = await audit.list(db, { person: ada.id }, { limit: 10 })
      expect(entries.filter(({ detail }) => detail === 'shelves.undeclared')).toHaveLength(count)
    })

    test('once for repeated requests with one Idempotency-Key, and with If-Match', async () => {
      const { ada, cookie } = await startImpersonation()
      const create = () => post('/api/shelves', { name: 'x' }, cookie, { 'idempotency-key': 'key' })
      const { body, headers } = await create()
      await create()

      const path = `/api/shelves/${(body as { id: number }).id}`
      const changed = await call(
        'PATCH',
        path,
        { name: 'y' },
        { cookie, 'if-match': headers.get('etag') ?? '' },
      )

      expect(changed.status).toBe(200)
      const entries = await audit.list(db, { person: ada.id }, { limit: 10 })
      expect(entries.map(({ detail }) => detail).slice(0, 2)).toEqual(['shelves.rename', 'shelves.create'])
      expect(entries.filter(({ action }) => action === 'impersonation.change')).toHaveLength(2)
    })

    test('and none for a refused change', async () => {
      const { ada, cookie } = await startImpersonation()

      await post('/api/shelves', { name: '' }, cookie)
      await call('PATCH', '/api/loans/0', { remark: 'x' }, { cookie })

      const entries = await audit.list(db, { person: ada.id }, { limit: 10 })
      expect(entries.filter(({ action }) => action === 'impersonation.change')).toEqual([])
    })

    test('and no change without an entry', async () => {
      const { ada, cookie } = await startImpersonation()
      const own = service.client({ cookie: ada.cookie })
      await db.execute(
        sql`alter table audit add constraint failure check (detail <> 'shelves.create') not valid`,
      )

      const answer = await post('/api/shelves', { name: 'x' }, cookie)
      await db.execute(sql`alter table audit drop constraint failure`)

      expect(answer.status).toBe(500)
      expect((await own.shelves.list()).shelves).toEqual([])
    })

    test('and for the name', async () => {
      const { administrator, ada, cookie } = await startImpersonation()

      expect((await post('/api/auth/update-user', { name: 'Other' }, cookie)).status).toBe(200)

      expect((await audit.list(db, { person: ada.id }, { limit: 1 }))[0]).toMatchObject({
        action: 'impersonation.change',
        outcome: 'accepted',
        actor: administrator.id,
        subject: ada.id,
        detail: 'update-user',
      })
      expect((await get('/api/me', ada.cookie)).body).toMatchObject({ name: 'Other' })
    })
  })

  test('can be revoked by the user', async () => {
    const { ada, cookie } = await startImpersonation()
    const { body } = await get('/api/sessions', ada.cookie)
    const { sessions } = body as { sessions: { token: string; isCurrent: boolean }[] }
    const [session] = sessions.filter(({ isCurrent }) => !isCurrent)

    const revoked = await post('/api/sessions/revoke', { revokeSessionToken: session?.token }, ada.cookie)

    expect(revoked.status).toBe(200)
    expect((await get('/api/me', cookie)).status).toBe(401)
  })

  test.each([
    ['GET', '/api/auth/admin/list-users'],
    ['POST', '/api/auth/admin/impersonate-user'],
    ['POST', '/api/auth/admin/set-role'],
    ['GET', '/api/me/export'],
    ['POST', '/api/me/delete'],
  ])('cannot %s %s', async (method, path) => {
    const { ada, root, cookie } = await startImpersonation()
    const body = { userId: root.id, role: 'user', email: ada.email }

    const answer = await call(method, path, method === 'POST' ? body : undefined, { cookie })

    expect(answer.status).toBe(403)
    expect((await get('/api/me', ada.cookie)).status).toBe(200)
  })

  test('authorizes no app and is no credential for agents', async () => {
    const { cookie } = await startImpersonation()
    const app = await registerApp(service)

    const answer = await app.submitConsent({ action: 'allow' }, { cookie }, { redirect_uri: redirectUri })

    expect([answer.status, answer.headers.get('location')]).toEqual([200, null])
    expect((await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, cookie)).status).toBe(401)
  })

  test.each(['the administrator', 'another administrator'])('of %s is rejected', async (target) => {
    const { root, administrator } = await startImpersonation()
    const { id } = target === 'the administrator' ? administrator : root

    const answer = await admin('impersonate-user', { userId: id }, administrator.cookie)

    expect(answer.status).toBe(403)
    expect((await get('/api/me', administrator.cookie)).body).toMatchObject({ id: administrator.id })
  })

  test('is recorded in log, metrics and traces with the administrator and the user', async () => {
    const { ada, administrator, cookie } = await startImpersonation()
    const { caller, attributes } = createContext(service.services, { cookie })

    await caller()

    expect(attributes).toEqual({ person: ada.id, personName: ada.email, actor: administrator.id })
  })
})
