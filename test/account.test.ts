import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, describe, expect, test, vi } from 'vitest'

import { cookieOf } from '../src/testing.ts'
import { settingsWithAddress, describeTransports, newEmail, startService } from './service.ts'
import { bearer, registerApp } from './oauth-app.ts'
import { createFetch, signInOverHttp } from './http.ts'

const root = 'root@example.com'
const service = await startService({ ...(await settingsWithAddress()), ADMIN_EMAILS: root })
const call = createFetch(service)
const database = postgres(service.databaseUrl, { max: 2, onnotice: () => undefined })

afterAll(() => database.end())

const post = (path: string, body: object | undefined, cookie?: string) =>
  call('POST', path, body, cookie === undefined ? {} : { cookie })
const get = (path: string, cookie: string) => call('GET', path, undefined, { cookie })
const idOf = async (cookie: string) => ((await get('/api/me', cookie)).body as { id: string }).id

/** Somebody with one of everything that is kept of a person. */
async function furnished(email = newEmail()) {
  const { cookie } = await signInOverHttp(service, email, { 'user-agent': 'A browser' })
  const [ada, bob] = [service.client({ cookie }), await service.person()]
  await post('/api/auth/update-user', { name: 'Ada' }, cookie)
  const task = await ada.tasks.create({ taskTitle: 'A task', taskDesc: 'Its description' })
  const note = await ada.notes.create({ title: 'A note', body: 'Its body' })
  await ada.notes.share({ id: note.id, email: 'reader@example.com', role: 'reader' })
  const given = await bob.notes.create({ title: 'Of Bob', body: 'Between us' })
  await bob.notes.share({ id: given.id, email, role: 'editor' })
  const app = await registerApp(service)
  const tokens = await app.obtainTokens(cookie)
  return { email, cookie, ada, bob, task, note, given, app, tokens, id: await idOf(cookie) }
}

/** Has an administrator stand in for somebody: the cookie that says so. */
async function standIn(userId: string, admin: string) {
  const { headers } = await post('/api/auth/admin/impersonate-user', { userId }, admin)
  // Of each name the last: better-auth ends the cookie before it sets it anew.
  const cookies = cookieOf(headers)
    .split('; ')
    .map((cookie) => [cookie.split('=', 1)[0], cookie] as const)
  const stay = [...new Map(cookies).values()].join('; ')
  expect(await idOf(stay)).toBe(userId)
  return stay
}

/** Where an export has each column. */
const exported: Record<string, string> = {
  'users.id': 'account.id',
  'users.name': 'account.name',
  'users.email': 'account.email',
  'users.email_verified': 'account.emailVerified',
  'users.role': 'account.role',
  'users.banned': 'account.ban',
  'users.ban_reason': 'account.ban.reason',
  'users.ban_expires': 'account.ban.expiresAt',
  'users.created_at': 'account.createdAt',
  'users.updated_at': 'account.updatedAt',
  'tasks.id': 'tasks.id',
  'tasks.user_id': 'tasks.userId',
  'tasks.title': 'tasks.title',
  'tasks.description': 'tasks.description',
  'tasks.status': 'tasks.status',
  'tasks.created_at': 'tasks.createdAt',
  'tasks.updated_at': 'tasks.updatedAt',
  'notes.id': 'notes.number',
  'notes.uuid': 'notes.id',
  'notes.user_id': 'account.id',
  'notes.title': 'notes.title',
  'notes.body': 'notes.body',
  'notes.created_at': 'notes.createdAt',
  'notes.updated_at': 'notes.updatedAt',
  'note_shares.note_id': 'notes.id',
  'note_shares.email': 'notes.sharedWith.email',
  'note_shares.role': 'notes.sharedWith.role',
  'note_shares.created_at': 'notes.sharedWith.createdAt',
  'note_shares.updated_at': 'notes.sharedWith.updatedAt',
  'sessions.id': 'sessions.id',
  'sessions.user_id': 'account.id',
  'sessions.ip_address': 'sessions.ipAddress',
  'sessions.user_agent': 'sessions.userAgent',
  'sessions.impersonated_by': 'sessions.byAdministrator',
  'sessions.client_id': 'apps.clientId',
  'sessions.scope': 'apps.scopes',
  'sessions.expires_at': 'sessions.expiresAt',
  'sessions.created_at': 'sessions.createdAt',
  'sessions.updated_at': 'sessions.lastActive',
  'audit.created_at': 'audit.at',
  'audit.action': 'audit.action',
  'audit.outcome': 'audit.outcome',
  'audit.actor': 'audit.actor',
  'audit.subject': 'audit.subject',
  'audit.ip_address': 'audit.ipAddress',
  'audit.user_agent': 'audit.userAgent',
  'audit.detail': 'audit.detail',
}

/** What no export has, and why: whole tables, and columns of the others. */
const leftOut: Record<string, string> = {
  'users.image': 'nothing sets it',
  'sessions.token': 'is a credential, or half of one',
  'sessions.administrator_session_id': 'is another person’s',
  'audit.id': 'numbers the entries of everybody',
  accounts: 'is empty: nobody signs in by a password, or by another site',
  verifications: 'codes under a keyed hash, for five minutes',
  oauth_records: 'codes and tokens as digests; the grants that they stand for are exported',
  oauth_clients: 'apps, and nobody’s: whoever registers one is not asked who they are',
  limits: 'how often, for an hour at most',
  rate_limits: 'is empty: an earlier release counted here',
  counter: 'everybody’s',
  idempotency: 'for a day, what was answered to a request: it is exported itself',
  'tasks.version': 'how often it changed',
  'notes.version': 'how often it changed',
  'notes.sharing': 'how often its sharing changed',
}

const known = new Set([...Object.keys(exported), ...Object.keys(leftOut)])

/** Every column of the database that nobody has thought of, as `table.column`. */
async function forgotten() {
  const columns = await database<{ name: string; table: string }[]>`
    select table_name as table, table_name || '.' || column_name as name
    from information_schema.columns where table_schema = 'public'`
  return columns.flatMap(({ name, table }) => (known.has(name) || known.has(table) ? [] : [name]))
}

/** What stands at a path, in the first of each list. */
const at = (value: unknown, path: string) =>
  path.split('.').reduce<unknown>((from, key) => {
    const first: unknown = Array.isArray(from) ? from[0] : from
    return (first as Record<string, unknown> | undefined)?.[key]
  }, value)

/** Every row of the database that holds one of these texts, as `table: row`. */
async function rowsWith(...texts: string[]) {
  const tables = await database<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'`
  const found = tables.map(async ({ name }) => {
    const rows = await database<{ row: string }[]>`
      select t::text as row from ${database(name)} t
      where t::text like any(${texts.map((text) => `%${text}%`)})`
    return rows.map(({ row }) => `${name}: ${row}`)
  })
  return (await Promise.all(found)).flat()
}

describeTransports(service, ({ person, stranger }) => {
  describe('account.get', () => {
    test('answers an account without a name, its address proved by the code', async () => {
      const email = newEmail()
      const ada = await person(email)

      expect(await ada.account.get()).toEqual({
        id: expect.stringMatching(/./),
        name: '',
        email,
        emailVerified: true,
      })
    })

    test('answers the name that the person gave', async () => {
      const email = newEmail()
      const ada = await person(email)
      const before = await ada.account.get()

      await call('POST', '/api/auth/update-user', { name: 'Ada' }, { cookie: await service.signIn(email) })

      expect(await ada.account.get()).toEqual({ ...before, name: 'Ada' })
    })

    test('is one account, whatever the case of the address', async () => {
      const email = newEmail()
      const [lower, upper] = [await person(email), await person(email.toUpperCase())]

      expect(await upper.account.get()).toEqual(await lower.account.get())
    })

    test('refuses a stranger', async () => {
      await expect(stranger.account.get()).rejects.toMatchObject({
        code: 'UNAUTHORIZED',
        defined: true,
        status: 401,
        message: 'Sign in first',
      })
    })
  })

  describe('account.export', () => {
    test('holds all that is kept of a person', async () => {
      const { email, id, task, note, given, app } = await furnished()
      const ada = await person(email, { 'user-agent': 'Another' })

      const moment = expect.any(Number)
      const kept = { lastActive: moment, createdAt: moment, expiresAt: moment }
      expect(await ada.account.export()).toEqual({
        exportedAt: moment,
        account: {
          id,
          name: 'Ada',
          email,
          emailVerified: true,
          role: 'user',
          ban: null,
          createdAt: moment,
          updatedAt: moment,
        },
        tasks: [task],
        notes: [
          {
            id: note.id,
            number: expect.any(Number),
            title: 'A note',
            body: 'Its body',
            sharedWith: [
              { email: 'reader@example.com', role: 'reader', createdAt: moment, updatedAt: moment },
            ],
            createdAt: moment,
            updatedAt: moment,
          },
        ],
        notesOfOthers: [{ id: given.id, title: 'Of Bob', role: 'editor' }],
        sessions: expect.arrayContaining([
          {
            id: expect.any(String),
            ipAddress: '127.0.0.1',
            userAgent: 'A browser',
            byAdministrator: false,
            ...kept,
          },
        ]),
        apps: [
          {
            id: expect.any(String),
            clientId: app.id,
            name: 'An app',
            scopes: ['read', 'write'],
            ...kept,
          },
        ],
        audit: expect.arrayContaining([
          {
            at: moment,
            action: 'sign-in',
            outcome: 'accepted',
            actor: 'self',
            subject: 'self',
            ipAddress: '127.0.0.1',
            userAgent: 'A browser',
            detail: null,
          },
          expect.objectContaining({ action: 'grant.create', detail: app.id }),
        ]),
      })
    })

    test('holds nothing that lets anybody in, and no more of others than was typed', async () => {
      const { email, cookie, tokens, bob } = await furnished()
      const them = await bob.account.get()
      const ada = await person(email)
      const text = JSON.stringify(await ada.account.export())

      const { sessions } = await ada.sessions.list()
      for (const secret of [
        cookie,
        tokens.access_token,
        tokens.refresh_token,
        ...sessions.map(({ token }) => token),
      ])
        expect(text).not.toContain(secret)
      for (const foreign of [them.id, them.email, 'Between us']) expect(text).not.toContain(foreign)
    })

    test('of somebody new is empty', async () => {
      const ada = await person()

      expect(await ada.account.export()).toMatchObject({ tasks: [], notes: [], notesOfOthers: [], apps: [] })
    })
  })

  describe('account.delete', () => {
    test('leaves nothing of the person, whatever there was', async () => {
      const { email, id } = await furnished()
      const ada = await person(email)

      expect(await ada.account.delete({ email: ` ${email.toUpperCase()} ` })).toEqual({ success: true })

      expect(await rowsWith(email, id)).toEqual([])
      await expect(ada.account.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    })

    test.each(['', 'ada@example.com', 'ada'])('does nothing for another address: %j', async (email) => {
      const ada = await person()
      const task = await ada.tasks.create({ taskTitle: 'Kept' })

      await expect(ada.account.delete({ email })).rejects.toMatchObject({
        code: 'WRONG_ADDRESS',
        defined: true,
        status: 400,
      })

      expect(await ada.tasks.get({ id: task.id })).toEqual(task)
    })

    test('leaves what others have', async () => {
      const [ada, bob] = [await person(), await person()]
      const { email } = await ada.account.get()
      const task = await bob.tasks.create({ taskTitle: 'Kept' })
      const note = await bob.notes.create({ title: 'Kept', body: '' })
      await bob.notes.share({ id: note.id, email, role: 'editor' })

      await ada.account.delete({ email })

      expect(await bob.tasks.list()).toEqual({ tasks: [task], taskCount: 1 })
      expect(await bob.notes.list()).toMatchObject({ notes: [note] })
    })
  })
})

describe('an export', () => {
  test('has every column of the database, or a reason why not', async () => {
    expect(await forgotten()).toEqual([])
  })

  test('is found wanting where a table, or a column, is new', async () => {
    await database`create table diaries (user_id text)`
    await database`alter table tasks add column due timestamptz`
    const found = await forgotten()
    await database`drop table diaries`
    await database`alter table tasks drop column due`

    expect(found.sort()).toEqual(['diaries.user_id', 'tasks.due'])
  })

  test('has something at each of those places', async () => {
    const { ada, id } = await furnished()
    await database`update users set banned = true, ban_reason = 'Why', ban_expires = '2020-01-01' where id = ${id}`
    const kept = await ada.account.export()

    const missing = Object.values(exported).filter((path) => at(kept, path) === undefined)
    expect(missing).toEqual([])
  })

  test('need not have the table of other ways to sign in, which stays empty', async () => {
    await furnished()

    expect(await database`select * from accounts`).toEqual([])
  })

  test('says of an administrator who stood in that one did, and neither whence nor by what', async () => {
    const { cookie, id } = await furnished()
    await standIn(id, await service.signIn(root))
    const { body } = await get('/api/me/export', cookie)

    const stays = (body as { sessions: { byAdministrator: boolean }[] }).sessions.filter(
      ({ byAdministrator }) => byAdministrator,
    )
    expect(stays).toMatchObject([{ ipAddress: null, userAgent: null }])
  })

  test('is whole, however long the lists are', async () => {
    const { ada, id } = await furnished()
    await database`insert into tasks (user_id, title) select ${id}, 'x' from generate_series(1, 3000)`
    const { tasks } = await ada.account.export()

    expect(tasks).toHaveLength(3001)
  })

  test('is measured as JSON, where a control character takes six bytes', async () => {
    const { ada, id } = await furnished()
    await database`
      insert into tasks (user_id, title, description)
      select ${id}, 'x', repeat(chr(1), 10000) from generate_series(1, 300)`

    await expect(ada.account.export()).rejects.toMatchObject({ code: 'TOO_LARGE', status: 409 })
  })

  test('is never cached, by REST as by RPC', async () => {
    const { cookie } = await furnished()
    const answers = [await get('/api/me/export', cookie), await post('/rpc/account/export', {}, cookie)]

    for (const { status, headers } of answers)
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  })
})

describe('a deleted account', () => {
  test('is signed out everywhere at once, and its apps with it', async () => {
    const { email, cookie, tokens, app } = await furnished()
    const elsewhere = await service.signIn(email)
    const { headers } = await post('/api/me/delete', { email }, cookie)

    for (const left of [{ cookie }, { cookie: elsewhere }, bearer(tokens)])
      expect(await call('GET', '/api/me', undefined, left)).toMatchObject({ status: 401 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
    expect(headers.getSetCookie()).toContainEqual(
      expect.stringMatching(/^better-auth\.session_token=; Max-Age=0; Path=\/; HttpOnly/),
    )
  })

  test('has its codes redeemed by nobody', async () => {
    const { email, cookie, app } = await furnished()
    const granted = (await app.allow(cookie)).get('code')
    await post('/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const otp = service.letters.findLast(({ to }) => to === email)?.subject.slice(0, 6)
    await post('/api/me/delete', { email }, cookie)

    expect(await app.redeem(granted)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await post('/api/auth/sign-in/email-otp', { email, otp })).toMatchObject({ status: 400 })
  })

  test('is a new and empty one when its person signs in again', async () => {
    const { email, cookie, id, bob, given } = await furnished()
    await post('/api/me/delete', { email }, cookie)
    const { cookie: again } = await signInOverHttp(service, email)

    expect(await get('/api/me', again)).toMatchObject({ body: { email, name: '' } })
    expect(await idOf(again)).not.toBe(id)
    expect(await get('/api/tasks', again)).toMatchObject({ body: { taskCount: 0 } })
    expect(await get('/api/notes', again)).toMatchObject({ body: { notes: [] } })
    expect(await bob.notes.list()).toMatchObject({ notes: [{ id: given.id, sharedWith: 0 }] })
  })

  test('may be the last administrator’s, who is one again by signing in', async () => {
    const cookie = await service.signIn(root)
    const { id } = await furnished()
    const stay = await standIn(id, cookie)

    expect(await post('/api/me/delete', { email: root }, cookie)).toMatchObject({ status: 200 })

    expect((await get('/api/me', stay)).status).toBe(401)
    expect((await get('/api/auth/admin/list-users', await service.signIn(root))).status).toBe(200)
  })

  test('is as gone where an administrator removes it', async () => {
    const { email, id } = await furnished()

    const { status } = await post('/api/auth/admin/remove-user', { userId: id }, await service.signIn(root))

    expect(status).toBe(200)
    expect(await rowsWith(email, id)).toEqual([])
  })

  test.each(['GET /api/me/export', 'POST /api/me/delete'])(
    'is for the person alone, and nobody who stands in for them: %s',
    async (operation) => {
      const { email, id, cookie } = await furnished()
      const [method = '', path = ''] = operation.split(' ')
      const stay = await standIn(id, await service.signIn(root))

      const body = method === 'POST' ? { email } : undefined
      expect(await call(method, path, body, { cookie: stay })).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', defined: true },
      })
      expect(await idOf(cookie)).toBe(id)
    },
  )

  test('is not had by another site’s page', async () => {
    const { email, id, cookie } = await furnished()
    const from = { cookie, origin: 'https://evil.example' }

    expect(await call('POST', '/api/me/delete', { email }, from)).toMatchObject({ status: 403 })
    expect(await idOf(cookie)).toBe(id)
  })
})

describe('while an account is deleted', () => {
  const acts: Record<string, (scene: Awaited<ReturnType<typeof furnished>>) => Promise<{ status: number }>> =
    {
      'a task is added': ({ cookie }) => post('/api/tasks', { taskTitle: 'x' }, cookie),
      'a note is added': ({ cookie }) => post('/api/notes', { title: 'x', body: '' }, cookie),
      'an app is let in': ({ cookie, app }) => app.submitConsent({ action: 'allow' }, { cookie }),
    }

  /** Acts while the deletion of the account has not been committed. */
  async function actMeanwhile<Answer>(id: string, act: () => Promise<Answer>) {
    let answer: Promise<Answer> | undefined
    await database.begin(async (held) => {
      await held`delete from users where id = ${id}`
      answer = act()
      await vi.waitFor(async () => {
        const waiting = await held`select 1 from pg_locks where not granted`
        expect(waiting).not.toEqual([])
      })
    })
    return answer
  }

  test.each(Object.entries(acts))('%s, and is told that nobody is signed in', async (_, act) => {
    const scene = await furnished()

    const answer = await actMeanwhile(scene.id, () => act(scene))

    expect(answer?.status).toBe(401)
  })

  test('its person signs in, and has a new account', async () => {
    const { id, email } = await furnished()

    const answer = await actMeanwhile(id, () => signInOverHttp(service, email))

    const { body } = await get('/api/me', answer?.cookie ?? '')
    expect(body).toMatchObject({ email, name: '' })
    expect(body).not.toMatchObject({ id })
  })

  test('whatever else they do is done or refused, and nothing fails', async () => {
    for (let round = 0; round < 3; round++) {
      const scene = await furnished()
      const { email, cookie, note, task, app, tokens } = scene
      const acts: (() => Promise<{ status: number }>)[] = [
        () => post('/api/me/delete', { email }, cookie),
        () => post('/api/tasks', { taskTitle: 'x' }, cookie),
        () => call('PATCH', `/api/tasks/${task.id}`, { title: 'y' }, { cookie }),
        () => post('/api/tasks/reset', undefined, cookie),
        () => post('/api/notes', { title: 'x', body: '' }, cookie),
        () => post(`/api/notes/${note.id}`, { title: 'x', body: '' }, cookie),
        () => post(`/api/notes/${note.id}/share`, { email: newEmail(), role: 'reader' }, cookie),
        () => post('/api/notes/reset', undefined, cookie),
        () => get('/api/me/export', cookie),
        () => get('/api/sessions', cookie),
        () => post('/api/auth/update-user', { name: 'x' }, cookie),
        () => app.submitConsent({ action: 'allow' }, { cookie }),
        () => app.refresh(tokens.refresh_token),
        () => call('POST', '/api/tasks', { taskTitle: 'x' }, bearer(tokens)),
      ]
      const started = [...acts, ...acts, ...acts].map(async (act) => {
        await sleep(Math.random() * 60)
        return (await act()).status
      })

      expect((await Promise.all(started)).filter((status) => status >= 500)).toEqual([])
      expect((await get('/api/me', cookie)).status).toBe(401)
    }
  })
})
