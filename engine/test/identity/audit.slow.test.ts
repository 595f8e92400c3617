import { eq } from 'drizzle-orm'
import { endpoint, job } from 'tallystick'
import type { AuditAction } from 'tallystick-contract/internal'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

import { audit, insert, list } from '../../db/accounts/audit.ts'
import { removeExpired } from '../../db/housekeeping.ts'
import { sessions } from '../../db/accounts/sessions.ts'
import { AGENT, type People, type Person, startAuditedService } from '../fixtures/audit-service.ts'
import { rateLimit, withEndpoints } from '../fixtures/endpoints-app.ts'
import { sessionTokenIn } from '../fixtures/http.ts'
import { registerApp } from '../fixtures/oauth-app.ts'
import { runOperatorCommand } from '../fixtures/operator-command.ts'

const { service, db, database, post, get, signIn, createPeople, entriesDuring, run } =
  await startAuditedService()

describe('an audit entry', () => {
  /** While `work` runs, a trigger of the database rejects every `event` (such as `insert`) on a table. */
  async function withRejectedEvent(event: string, table: string, work: () => Promise<void>) {
    await database.unsafe(`
      create function reject_event() returns trigger language plpgsql as 'begin raise exception ''rejected''; end';
      create trigger reject_event before ${event} on ${table} execute function reject_event()`)
    await work().finally(() => database.unsafe('drop function reject_event cascade'))
  }
  const roleOf = async ({ id }: Person) =>
    (await database<{ role: string }[]>`select role from users where id = ${id}`).at(0)?.role

  test.each<[string, (people: People, other: Person) => Promise<{ status: number }>]>([
    [
      'a role',
      ({ root, ada }) => post('/api/auth/admin/set-role', { userId: ada.id, role: 'admin' }, root.cookie),
    ],
    ['a removal', ({ root, ada }) => post('/api/auth/admin/remove-user', { userId: ada.id }, root.cookie)],
    ['a ban', ({ root, ada }) => post('/api/auth/admin/ban-user', { userId: ada.id }, root.cookie)],
    ['a deletion', ({ ada }) => post('/api/me/delete', { email: ada.email }, ada.cookie)],
    [
      'a revocation',
      ({ ada }, other) =>
        post('/api/sessions/revoke', { revokeSessionToken: sessionTokenIn(ada.cookie) }, other.cookie),
    ],
    [
      'a grant',
      async ({ ada }) =>
        (await registerApp(service)).submitConsent({ action: 'allow' }, { cookie: ada.cookie }),
    ],
  ])('that cannot be written rolls the change back: %s', async (_, act) => {
    const people = await createPeople()
    const { ada } = people
    const other = await signIn(ada.email)
    const before = await database`select id from sessions where user_id = ${ada.id}`

    await withRejectedEvent('insert', 'audit', async () => {
      expect((await act(people, other)).status).toBe(500)
    })

    expect(await roleOf(ada)).toBe('user')
    expect(await database`select id from sessions where user_id = ${ada.id}`).toEqual(before)
    expect((await get('/api/me', ada.cookie)).status).toBe(200)
  })

  test('of success is not written by a change that fails', async () => {
    const { root, ada } = await createPeople()

    const entries = await entriesDuring(() =>
      withRejectedEvent('update', 'users', async () => {
        const answer = await post('/api/auth/admin/set-role', { userId: ada.id, role: 'admin' }, root.cookie)
        expect(answer.status).toBe(500)
      }),
    )

    expect(entries).toEqual([])
  })

  test.each([
    `update audit set outcome = 'refused'`,
    `update audit set actor = 'other'`,
    `update audit set subject = null`,
    `update audit set ip_address = null`,
    `update audit set user_agent = 'other'`,
    `update audit set created_at = now()`,
    `update audit set detail = 'x'`,
    `update audit set actor = 'deleted:x' where actor like 'deleted:%'`,
    'delete from audit',
    'truncate audit',
  ])('cannot be changed: %s', async (statement) => {
    const { ada } = await createPeople()
    await post('/api/me/delete', { email: ada.email }, ada.cookie)
    const before = await database`select * from audit order by id`

    await expect(database.unsafe(statement)).rejects.toThrow('The audit trail is append-only')

    expect(await database`select * from audit order by id`).toEqual(before)
  })

  test('is deleted after the retention period and not before', async () => {
    const { ada } = await createPeople()
    const days = [20, 40, 100].map((count) => new Date(Date.now() - count * 86_400_000))
    for (const createdAt of days)
      await db.insert(audit).values({ createdAt, action: 'sign-in', outcome: 'refused', subject: ada.id })
    const countEntries = async () =>
      (await list(db, { person: ada.id }, { limit: 10 })).filter(({ outcome }) => outcome === 'refused')
        .length

    await removeExpired(db)
    const counts = [await countEntries()]
    await removeExpired(db, 60)
    counts.push(await countEntries())
    await removeExpired(db, 30)
    counts.push(await countEntries())

    expect(counts).toEqual([3, 2, 1])
  })
})

describe('a deleted user', () => {
  test.each<[string, (people: People) => Promise<unknown>]>([
    ['who deletes the account', ({ ada }) => post('/api/me/delete', { email: ada.email }, ada.cookie)],
    [
      'whom an administrator removes',
      ({ root, ada }) => post('/api/auth/admin/remove-user', { userId: ada.id }, root.cookie),
    ],
  ])('has the same pseudonym in every entry: %s', async (_, remove) => {
    const { root, ada } = await createPeople()
    await post('/api/auth/admin/set-role', { userId: ada.id, role: 'user' }, root.cookie)
    const before = (await list(db, { person: ada.id }, { limit: 10 })).map(({ id }) => id)

    await remove({ root, ada })

    const all = await list(db, {}, { limit: 1000 })
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

  test('is not named in an entry that is written later', async () => {
    const { ada } = await createPeople()
    await post('/api/me/delete', { email: ada.email }, ada.cookie)

    const entries = await entriesDuring(() =>
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

describe('the audit part of an export', () => {
  test('has the user’s entries, without the identity, address and browser of others', async () => {
    const { root, ada } = await createPeople()
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

  test('of an administrator does not name the subject of an entry', async () => {
    const { root, ada } = await createPeople()
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

describe('an operator command', () => {
  test('is recorded with the actor “operator”', async () => {
    const { ada } = await createPeople()
    const [session] = await db.select().from(sessions).where(eq(sessions.userId, ada.id))

    const entries = await entriesDuring(async () => {
      await run('admin', 'grant', ada.email)
      await run('admin', 'revoke', ada.email)
      await run('sessions', 'revoke', ada.email, '--id', session?.id ?? '')
      await signIn(ada.email)
      await run('sessions', 'revoke', ada.email, '--all')
    })

    const operatorEntry = (action: AuditAction, detail: unknown) => ({
      ...{ action, detail, actor: 'operator', subject: ada.id, outcome: 'accepted' },
    })
    expect(entries.reverse()).toMatchObject([
      operatorEntry('admin.set-role', 'admin'),
      operatorEntry('admin.set-role', 'user'),
      operatorEntry('session.revoke', session?.id),
      { action: 'sign-in', actor: ada.id },
      operatorEntry('session.revoke', expect.any(String)),
    ])
  })

  test('lists the entries of one user, newest first, page by page', async () => {
    const { root, ada } = await createPeople()
    await post('/api/auth/admin/ban-user', { userId: ada.id }, root.cookie)
    await post('/api/auth/admin/unban-user', { userId: ada.id }, root.cookie)

    const all = await run('audit', '--person', ada.email)
    const first = await run('audit', '--person', ada.email, '--limit', '2')
    const cursor = first.lines.at(-1)?.split(' ').at(-1) ?? ''
    const rest = await run('audit', '--person', ada.email, '--before', cursor)

    expect(all.lines).toEqual([
      expect.stringMatching(
        /^\S+Z {2}admin\.unban-user {2}accepted {2}root@example\.com {2}\S+@example\.com {2}127\.0\.0\.1 {2}- {2}A browser/,
      ),
      expect.stringContaining('admin.ban-user'),
      expect.stringContaining(`sign-in  accepted  ${ada.email}  ${ada.email}`),
    ])
    expect(first.lines).toEqual([
      ...all.lines.slice(0, 2),
      expect.stringMatching(/^Older entries: --before /),
    ])
    expect(rest.lines).toEqual(all.lines.slice(2))
  })

  test('knows the actions of endpoints, jobs and providers of an application that has them', async () => {
    const limits = { rateLimit, access: { sensitive: true } } as const
    const inbox = endpoint(
      { method: 'POST', path: '/inbox', body: 'text', audit: 'inbox.receive', ...limits },
      () => new Response(),
    )
    const provider = { providerId: 'acme', name: 'Acme', discoveryUrl: undefined }
    const signIn = { oidc: [{ ...provider, clientId: undefined, clientSecret: undefined }] }
    const tidy = job({ input: z.object({}), retries: 0 }, () => Promise.resolve())
    const application = { ...withEndpoints({ inbox }), signIn, jobs: { tidy } }

    const { problem } = await runOperatorCommand(application, {}, 'audit', '--action', 'unknown')

    for (const action of ['inbox.receive', 'jobs.retry', 'account.connect', 'account.disconnect'])
      expect(problem).toContain(action)
  })

  test('lists the entries of one action or one outcome', async () => {
    const { root, ada } = await createPeople()
    await post('/api/auth/admin/ban-user', { userId: ada.id }, root.cookie)
    await post('/api/auth/admin/ban-user', { userId: root.id }, root.cookie)
    const { lines } = await run('audit', '--limit', '3')

    expect((await run('audit', '--action', 'admin.ban-user', '--limit', '2')).lines.slice(0, 2)).toEqual(
      lines.slice(0, 2),
    )
    expect((await run('audit', '--outcome', 'refused', '--limit', '1')).lines[0]).toBe(lines[0])
    expect(
      (await run('audit', '--action', 'admin.ban-user', '--outcome', 'accepted', '--limit', '1')).lines[0],
    ).toBe(lines[1])
  })

  test('lists the entries of all users, 100 by default', async () => {
    const { ada } = await createPeople()
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
    [['--action', 'sign-out'], '--action sign-out: must be one of sign-in, session.revoke, '],
    [['--outcome', 'unknown'], '--outcome unknown: must be one of accepted, refused'],
    [['--person', 'nobody@example.com'], 'No account has the address nobody@example.com'],
  ])('reports what is wrong with %j', async (options, problem) => {
    expect((await run('audit', ...options)).problem).toContain(problem)
  })
})
