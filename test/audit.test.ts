import { desc, eq } from 'drizzle-orm'
import { Command } from 'commander'
import postgres from 'postgres'
import { afterAll, describe, expect, test } from 'vitest'

import { actions, type Action, audit, type AuditRow, insert, list } from '../db/audit.ts'
import { sessions } from '../db/sessions.ts'
import { removeExpired } from '../db/housekeeping.ts'
import { addOperatorCommands } from '../src/operator/commands.ts'
import { operations } from '../src/http/auth.ts'
import { settingsWithAddress, newEmail, startService } from './service.ts'
import { type Answer, createFetch, signInOverHttp } from './http.ts'
import { registerApp } from './oauth-app.ts'

const ROOT = 'root@example.com'
const AGENT = 'A browser/1.0'
const service = await startService({ ...(await settingsWithAddress()), ADMIN_EMAILS: ROOT })
const call = createFetch(service)
const { db } = service.services
const database = postgres(service.databaseUrl, { max: 2, onnotice: () => undefined })

afterAll(() => database.end())

const post = (path: string, body: object | undefined, cookie?: string) =>
  call('POST', path, body, { 'user-agent': AGENT, ...(cookie !== undefined && { cookie }) })
const get = (path: string, cookie: string) => call('GET', path, undefined, { 'user-agent': AGENT, cookie })

async function person(email = newEmail()) {
  const { cookie } = await signInOverHttp(service, email, { 'user-agent': AGENT })
  const { body } = await get('/api/me', cookie)
  return { email, cookie, id: (body as { id: string }).id }
}
type Person = Awaited<ReturnType<typeof person>>

const after = ({ headers }: Pick<Answer, 'headers'>, cookie: string) => {
  const pairs = [...cookie.split('; '), ...headers.getSetCookie().map((set) => set.split(';', 1)[0] ?? '')]
  return [...new Map(pairs.map((pair) => [pair.split('=', 1)[0], pair])).values()].join('; ')
}

const lastId = async () => (await db.select().from(audit).orderBy(desc(audit.id)).limit(1)).at(0)?.id ?? 0

/** The entries that something adds. */
async function during(work: () => Promise<unknown>) {
  const before = await lastId()
  await work()
  const rows = await list(db, undefined, { limit: 1000 })
  return rows.filter(({ id }) => id > before)
}

const run = async (...words: string[]) => {
  const lines: string[] = []
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined })
  const environment = { DATABASE_URL: service.databaseUrl, AUTH_SECRET: 'x'.repeat(32) }
  addOperatorCommands(program, { environment, print: (line) => lines.push(line) })
  const problem = await program.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  )
  return { lines, problem }
}

interface Scene {
  root: Person
  ada: Person
}
const scene = async (): Promise<Scene> => ({ root: await person(ROOT), ada: await person() })

interface Expected {
  actor: string | null
  subject: string | null
  detail?: string | null
}
type Scenario = (scene: Scene) => Promise<{ entries: AuditRow[]; expected: Expected }>

/** An administrator does something to a person, by an operation of the administrative area. */
const administration =
  (operation: string, input: (ada: Person) => object, detail: string | null = null): Scenario =>
  async ({ root, ada }) => {
    const path = `/api/auth/admin/${operation}`
    const { method } = operations[`/admin/${operation}`] ?? {}
    const query = new URLSearchParams(Object.entries(input(ada)))
    const entries = await during(() =>
      method === 'GET'
        ? get(`${path}?${query.toString()}`, root.cookie)
        : post(path, input(ada), root.cookie),
    )
    const names = Object.keys(input(ada))
    const isAbout = names.some((name) => ['id', 'userId', 'sessionToken'].includes(name))
    return { entries, expected: { actor: root.id, subject: isAbout ? ada.id : null, detail } }
  }
const byId = ({ id: userId }: Person) => ({ userId })

const tokenOf = ({ cookie }: Person) => /session_token=([^.]+)\./.exec(cookie)?.[1] ?? ''

/** How each action comes about, once. */
const scenarios: Record<Action, Scenario> = {
  'sign-in': async ({ ada: { email, id } }) => ({
    entries: await during(() => signInOverHttp(service, email, { 'user-agent': AGENT })),
    expected: { actor: id, subject: id },
  }),
  'session.revoke': async ({ ada }) => {
    const other = await person(ada.email)
    const entries = await during(() =>
      post('/api/sessions/revoke', { revokeSessionToken: tokenOf(other) }, ada.cookie),
    )
    return { entries, expected: { actor: ada.id, subject: ada.id, detail: entries[0]?.detail ?? '' } }
  },
  'grant.create': async ({ ada }) => {
    const app = await registerApp(service)
    const headers = { cookie: ada.cookie, 'user-agent': AGENT }
    const entries = await during(() => app.submitConsent({ action: 'allow' }, headers))
    return { entries, expected: { actor: ada.id, subject: ada.id, detail: app.id } }
  },
  'grant.revoke': async ({ ada }) => {
    const app = await registerApp(service)
    const { refresh_token: token } = await app.obtainTokens(ada.cookie)
    const form = new URLSearchParams({ client_id: app.id, token }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': AGENT }
    const entries = await during(() => call('POST', '/revoke', form, headers))
    return { entries, expected: { actor: `app:${app.id}`, subject: ada.id, detail: app.id } }
  },
  'account.export': async ({ ada }) => ({
    entries: await during(() => get('/api/me/export', ada.cookie)),
    expected: { actor: ada.id, subject: ada.id },
  }),
  'account.delete': async ({ ada }) => {
    const entries = await during(() => post('/api/me/delete', { email: ada.email }, ada.cookie))
    const pseudonym = expect.stringMatching(/^deleted:/) as string
    expect(entries[0]?.actor).toBe(entries[0]?.subject)
    return { entries, expected: { actor: pseudonym, subject: pseudonym } }
  },
  'impersonation.start': administration('impersonate-user', byId),
  'impersonation.stop': async ({ root, ada }) => {
    const begun = await post('/api/auth/admin/impersonate-user', { userId: ada.id }, root.cookie)
    const cookie = after(begun, root.cookie)
    return {
      entries: await during(() => post('/api/auth/admin/stop-impersonating', undefined, cookie)),
      expected: { actor: root.id, subject: ada.id },
    }
  },
  'admin.list-users': administration('list-users', () => ({ limit: '1' })),
  'admin.get-user': administration('get-user', ({ id }) => ({ id })),
  'admin.create-user': async ({ root }) => {
    const email = newEmail()
    const entries = await during(() =>
      post('/api/auth/admin/create-user', { email, name: '', role: 'user' }, root.cookie),
    )
    const [made] = await database<{ id: string }[]>`select id from users where email = ${email}`
    return { entries, expected: { actor: root.id, subject: made?.id ?? '', detail: 'user' } }
  },
  'admin.update-user': administration('update-user', ({ id: userId }) => ({ userId, data: { name: 'x' } })),
  'admin.set-role': administration('set-role', ({ id: userId }) => ({ userId, role: 'admin' }), 'admin'),
  'admin.ban-user': administration('ban-user', byId),
  'admin.unban-user': administration('unban-user', byId),
  'admin.list-user-sessions': administration('list-user-sessions', byId),
  'admin.revoke-user-session': administration('revoke-user-session', (ada) => ({
    sessionToken: tokenOf(ada),
  })),
  'admin.revoke-user-sessions': administration('revoke-user-sessions', byId),
  'admin.remove-user': async (people) => {
    const { entries, expected } = await administration('remove-user', byId)(people)
    return { entries, expected: { ...expected, subject: expect.stringMatching(/^deleted:/) as string } }
  },
}

describe('the audit trail', () => {
  test.each(actions)('has one entry of %s', async (action) => {
    const { entries, expected } = await scenarios[action](await scene())

    const isGone = action === 'account.delete'
    expect(entries).toEqual([
      {
        id: expect.any(Number),
        createdAt: expect.any(Date),
        action,
        outcome: 'accepted',
        detail: null,
        ipAddress: isGone ? null : '127.0.0.1',
        userAgent: isGone ? null : AGENT,
        ...expected,
      },
    ])
  })

  const administrative = Object.entries(operations).filter(([path]) => path.startsWith('/admin/'))

  test.each(administrative)(
    'has an entry of the operation %s, by whatever name',
    async (path, { method }) => {
      const { root, ada } = await scene()
      const begun = await post('/api/auth/admin/impersonate-user', { userId: ada.id }, root.cookie)
      const cookie = path.endsWith('/stop-impersonating') ? after(begun, root.cookie) : root.cookie
      const body = {
        userId: ada.id,
        role: 'user',
        data: { name: 'x' },
        email: newEmail(),
        name: '',
        sessionToken: tokenOf(ada),
      }
      const address = `/api/auth${path}${method === 'GET' ? `?id=${ada.id}` : ''}`

      const entries = await during(() =>
        call(method, address, method === 'POST' ? body : undefined, { cookie }),
      )

      expect(entries).toMatchObject([{ outcome: 'accepted', actor: root.id }])
    },
  )

  test('has an entry of what better-auth refuses an administrator', async () => {
    const { root } = await scene()

    const entries = await during(async () => {
      await post('/api/auth/admin/ban-user', { userId: root.id }, root.cookie)
      await post('/api/auth/admin/set-role', { userId: 'nobody', role: 'admin' }, root.cookie)
    })

    expect(entries).toMatchObject([
      { action: 'admin.set-role', outcome: 'refused', actor: root.id, subject: null, detail: 'admin' },
      { action: 'admin.ban-user', outcome: 'refused', actor: root.id, subject: root.id },
    ])
  })

  test('has an entry where an impersonation stops without the administrator’s session', async () => {
    const { root, ada } = await scene()
    const begun = await post('/api/auth/admin/impersonate-user', { userId: ada.id }, root.cookie)
    const cookie = after(begun, '')
      .split('; ')
      .filter((pair) => !pair.includes('admin_session'))
      .join('; ')

    const entries = await during(() => post('/api/auth/admin/stop-impersonating', undefined, cookie))

    expect(entries).toMatchObject([
      { action: 'impersonation.stop', outcome: 'accepted', actor: root.id, subject: ada.id },
    ])
  })

  test('has an entry where a refresh token that is used twice ends the grant', async () => {
    const { ada } = await scene()
    const app = await registerApp(service)
    const { refresh_token } = await app.obtainTokens(ada.cookie)
    await app.refresh(refresh_token)

    const entries = await during(() => app.refresh(refresh_token))

    expect(entries).toMatchObject([
      { action: 'grant.revoke', actor: null, subject: ada.id, detail: 'a refresh token was used twice' },
    ])
  })

  test('has an entry of the operator for the role that ADMIN_EMAILS gives', async () => {
    await post('/api/me/delete', { email: ROOT }, (await person(ROOT)).cookie)

    const entries = await during(() => person(ROOT))

    expect(entries.map(({ action, actor, detail }) => [action, actor, detail])).toEqual([
      ['sign-in', expect.any(String), null],
      ['admin.set-role', 'operator', 'admin'],
    ])
  })

  test.each([
    ['an account', true],
    ['none', false],
  ])('has at most four refused codes for each letter, for an address with %s', async (_, isKnown) => {
    const { email } = isKnown ? await person() : { email: newEmail() }
    const guess = () => post('/api/auth/sign-in/email-otp', { email, otp: 'x' })

    const unasked = await during(guess)
    await post('/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const entries = await during(async () => {
      for (let tries = 0; tries < 9; tries++) await guess()
    })

    expect(unasked).toEqual([])
    expect(entries).toHaveLength(4)
    for (const entry of entries)
      expect(entry).toMatchObject({ action: 'sign-in', outcome: 'refused', actor: null })
    expect(JSON.stringify(entries)).not.toContain(email)
  })

  test('has nothing of a stranger, an ordinary person or an app who may not', async () => {
    const { ada } = await scene()

    const entries = await during(async () => {
      for (const [path, { method }] of administrative) {
        await call(method, `/api/auth${path}`, method === 'POST' ? {} : undefined)
        await call(method, `/api/auth${path}`, method === 'POST' ? {} : undefined, { cookie: ada.cookie })
      }
      await post('/api/sessions/revoke', { revokeSessionToken: 'unknown' }, ada.cookie)
      await post('/api/me/delete', { email: 'x' }, ada.cookie)
    })

    expect(entries).toEqual([])
  })

  test('keeps no connection that another sign-in waits for: people made by an administrator sign in at once', async () => {
    const { root } = await scene()
    const emails = Array.from({ length: 12 }, newEmail)
    for (const email of emails) await post('/api/auth/admin/create-user', { email, name: '' }, root.cookie)

    const answers = await Promise.all(emails.map((email) => signInOverHttp(service, email)))

    expect(answers.map(({ response }) => response.status)).toEqual(emails.map(() => 200))
  })

  test('keeps 256 characters of a browser at most', async () => {
    const email = newEmail()
    const entries = await during(() => signInOverHttp(service, email, { 'user-agent': 'x'.repeat(1000) }))

    expect(entries[0]?.userAgent).toBe('x'.repeat(256))
  })

  test('holds no code, token or cookie', async () => {
    const { ada } = await scene()
    const app = await registerApp(service)
    const tokens = await app.obtainTokens(ada.cookie)
    const codes = service.letters.map(({ subject }) => subject.slice(0, 6))

    const text = JSON.stringify((await list(db, ada.id, { limit: 1000 })).map(({ detail }) => detail))

    for (const secret of [...codes, tokens.access_token, tokens.refresh_token, tokenOf(ada), ada.email])
      expect(text).not.toContain(secret)
  })
})

describe('an entry', () => {
  /** Makes the database refuse something while a test does it. */
  async function refusing(event: string, table: string, work: () => Promise<void>) {
    await database.unsafe(`
      create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end';
      create trigger refuse before ${event} on ${table} execute function refuse()`)
    await work().finally(() => database.unsafe('drop function refuse cascade'))
  }
  const roleOf = async ({ id }: Person) =>
    (await database<{ role: string }[]>`select role from users where id = ${id}`).at(0)?.role

  test.each<[string, (scene: Scene) => Promise<{ status: number }>]>([
    [
      'a role',
      ({ root, ada }) => post('/api/auth/admin/set-role', { userId: ada.id, role: 'admin' }, root.cookie),
    ],
    ['a removal', ({ root, ada }) => post('/api/auth/admin/remove-user', { userId: ada.id }, root.cookie)],
    ['a ban', ({ root, ada }) => post('/api/auth/admin/ban-user', { userId: ada.id }, root.cookie)],
    ['a deletion', ({ ada }) => post('/api/me/delete', { email: ada.email }, ada.cookie)],
    [
      'a revocation',
      ({ ada }) => post('/api/sessions/revoke', { revokeSessionToken: tokenOf(ada) }, ada.cookie),
    ],
    [
      'a grant',
      async ({ ada }) =>
        (await registerApp(service)).submitConsent({ action: 'allow' }, { cookie: ada.cookie }),
    ],
  ])('that cannot be written undoes the change: %s', async (name, act) => {
    const people = await scene()
    const { ada } = people
    const other = await person(ada.email)
    const before = await database`select id from sessions where user_id = ${ada.id}`

    await refusing('insert', 'audit', async () => {
      const target = name === 'a revocation' ? { ...people, ada: { ...other, cookie: other.cookie } } : people
      const status =
        name === 'a revocation'
          ? (await post('/api/sessions/revoke', { revokeSessionToken: tokenOf(ada) }, other.cookie)).status
          : (await act(target)).status
      expect(status).toBe(500)
    })

    expect(await roleOf(ada)).toBe('user')
    expect(await database`select id from sessions where user_id = ${ada.id}`).toEqual(before)
    expect((await get('/api/me', ada.cookie)).status).toBe(200)
  })

  test('of success is not left by a change that fails', async () => {
    const { root, ada } = await scene()

    const entries = await during(() =>
      refusing('update', 'users', async () => {
        const answer = await post('/api/auth/admin/set-role', { userId: ada.id, role: 'admin' }, root.cookie)
        expect(answer.status).toBe(500)
      }),
    )

    expect(entries).toEqual([])
  })

  test.each([
    `update audit set outcome = 'refused'`,
    `update audit set actor = 'somebody'`,
    `update audit set subject = null`,
    `update audit set ip_address = null`,
    `update audit set user_agent = 'other'`,
    `update audit set created_at = now()`,
    `update audit set detail = 'x'`,
    `update audit set actor = 'deleted:x' where actor like 'deleted:%'`,
    'delete from audit',
    'truncate audit',
  ])('cannot be changed: %s', async (statement) => {
    const { ada } = await scene()
    await post('/api/me/delete', { email: ada.email }, ada.cookie)
    const before = await database`select * from audit order by id`

    await expect(database.unsafe(statement)).rejects.toThrow('The audit trail is append-only')

    expect(await database`select * from audit order by id`).toEqual(before)
  })

  test('goes when it is older than is kept, and no earlier', async () => {
    const { ada } = await scene()
    const days = [20, 40, 100].map((count) => new Date(Date.now() - count * 86_400_000))
    for (const createdAt of days)
      await db.insert(audit).values({ createdAt, action: 'sign-in', outcome: 'refused', subject: ada.id })
    const ages = async () =>
      (await list(db, ada.id, { limit: 10 })).filter(({ outcome }) => outcome === 'refused').length

    await removeExpired(db)
    const kept = [await ages()]
    await removeExpired(db, 60)
    kept.push(await ages())
    await removeExpired(db, 30)
    kept.push(await ages())

    expect(kept).toEqual([3, 2, 1])
  })
})

describe('a deleted person', () => {
  test.each<[string, (scene: Scene) => Promise<unknown>]>([
    ['who deletes the account', ({ ada }) => post('/api/me/delete', { email: ada.email }, ada.cookie)],
    [
      'whom an administrator removes',
      ({ root, ada }) => post('/api/auth/admin/remove-user', { userId: ada.id }, root.cookie),
    ],
  ])('has one pseudonym in every entry: %s', async (_, remove) => {
    const { root, ada } = await scene()
    await post('/api/auth/admin/set-role', { userId: ada.id, role: 'user' }, root.cookie)
    const before = (await list(db, ada.id, { limit: 10 })).map(({ id }) => id)

    await remove({ root, ada })

    const all = await list(db, undefined, { limit: 1000 })
    expect(JSON.stringify(all)).not.toContain(ada.id)
    const rows = all.filter(({ id }) => before.includes(id))
    const [pseudonym = ''] = rows.map(({ subject }) => subject)
    expect(pseudonym).toMatch(/^deleted:[\w-]{36}$/)
    expect(rows).toMatchObject([
      { action: 'admin.set-role', actor: root.id, subject: pseudonym, ipAddress: '127.0.0.1' },
      { action: 'sign-in', actor: pseudonym, subject: pseudonym, ipAddress: null, userAgent: null },
    ])
    expect(all.find(({ id }) => id > (before[0] ?? 0))).toMatchObject({ subject: pseudonym })
  })

  test('is not named by an entry that is written later', async () => {
    const { ada } = await scene()
    await post('/api/me/delete', { email: ada.email }, ada.cookie)

    const entries = await during(() =>
      insert(db, {
        actor: ada.id,
        subject: ada.id,
        action: 'account.export',
        outcome: 'accepted',
        ipAddress: null,
        userAgent: null,
      }),
    )

    expect(entries).toMatchObject([{ actor: null, subject: null }])
  })
})

describe('an export', () => {
  test('has the person’s entries, of others neither who, whence nor by what', async () => {
    const { root, ada } = await scene()
    await post('/api/auth/admin/list-user-sessions', { userId: ada.id }, root.cookie)
    await run('sessions', 'revoke', ada.email, '--id', 'unknown')

    const { body } = await get('/api/me/export', ada.cookie)

    const { audit } = body as { audit: object[] }
    const common = { at: expect.any(Number), outcome: 'accepted', subject: 'self', detail: null }
    expect(audit).toEqual([
      {
        ...common,
        action: 'admin.list-user-sessions',
        actor: 'administrator',
        ipAddress: null,
        userAgent: null,
      },
      { ...common, action: 'sign-in', actor: 'self', ipAddress: '127.0.0.1', userAgent: AGENT },
    ])
    expect(JSON.stringify(audit)).not.toContain(root.id)
  })

  test('of an administrator does not say whom an entry is about', async () => {
    const { root, ada } = await scene()
    await post('/api/auth/admin/ban-user', { userId: ada.id }, root.cookie)

    const { body } = await get('/api/me/export', root.cookie)

    const { audit } = body as { audit: object[] }
    expect(audit).toContainEqual(
      expect.objectContaining({
        action: 'admin.ban-user',
        actor: 'self',
        subject: 'other',
        userAgent: AGENT,
      }),
    )
    expect(JSON.stringify(audit)).not.toContain(ada.id)
  })
})

describe('the operator', () => {
  test('is the actor of what commands do', async () => {
    const { ada } = await scene()
    const [session] = await db.select().from(sessions).where(eq(sessions.userId, ada.id))

    const entries = await during(async () => {
      await run('admin', 'grant', ada.email)
      await run('admin', 'revoke', ada.email)
      await run('sessions', 'revoke', ada.email, '--id', session?.id ?? '')
      await person(ada.email)
      await run('sessions', 'revoke', ada.email, '--all')
    })

    const about = (action: Action, detail: unknown) => ({
      ...{ action, detail, actor: 'operator', subject: ada.id, outcome: 'accepted' },
    })
    expect(entries.reverse()).toMatchObject([
      about('admin.set-role', 'admin'),
      about('admin.set-role', 'user'),
      about('session.revoke', session?.id),
      { action: 'sign-in', actor: ada.id },
      about('session.revoke', expect.any(String)),
    ])
  })

  test('reads the trail of one person, newest first, page by page', async () => {
    const { root, ada } = await scene()
    await post('/api/auth/admin/ban-user', { userId: ada.id }, root.cookie)
    await post('/api/auth/admin/unban-user', { userId: ada.id }, root.cookie)

    const whole = await run('audit', '--person', ada.email)
    const first = await run('audit', '--person', ada.email, '--limit', '2')
    const place = first.lines.at(-1)?.split(' ').at(-1) ?? ''
    const rest = await run('audit', '--person', ada.email, '--before', place)

    expect(whole.lines).toEqual([
      expect.stringMatching(
        /^\S+Z {2}admin\.unban-user {2}accepted {2}root@example\.com {2}\S+@example\.com {2}127\.0\.0\.1 {2}- {2}A browser/,
      ),
      expect.stringContaining('admin.ban-user'),
      expect.stringContaining(`sign-in  accepted  ${ada.email}  ${ada.email}`),
    ])
    expect(first.lines).toEqual([
      ...whole.lines.slice(0, 2),
      expect.stringMatching(/^Older entries: --before /),
    ])
    expect(rest.lines).toEqual(whole.lines.slice(2))
  })

  test('reads the trail of everybody, 100 entries unless told otherwise', async () => {
    const { ada } = await scene()
    await db.insert(audit).values(
      Array.from({ length: 150 }, () => ({
        action: 'sign-in' as const,
        outcome: 'refused' as const,
        subject: ada.id,
      })),
    )

    const { lines } = await run('audit')

    expect(lines).toHaveLength(101)
  })

  test.each([
    [['--limit', '0'], '--limit 0: must be a whole number from 1 to 1000'],
    [['--limit', '1001'], '--limit 1001: must be'],
    [
      ['--before', 'yesterday'],
      '--before yesterday: must be the value in the last line of the previous output',
    ],
    [['--person', 'nobody@example.com'], 'No account has the address nobody@example.com'],
  ])('is told what is wrong with %j', async (options, problem) => {
    expect((await run('audit', ...options)).problem).toContain(problem)
  })
})
