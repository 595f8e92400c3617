import { type AuditAction, auditActions } from 'tallystick-contract/internal'
import { describe, expect, test } from 'vitest'

import { type AuditRow, list } from '../../db/accounts/audit.ts'
import { operations } from '../../http/endpoints/auth-operations.ts'
import { AGENT, type People, type Person, ROOT, startAuditedService } from '../fixtures/audit-service.ts'
import { cookiesAfter, formType, sessionTokenIn, signInOverHttp } from '../fixtures/http.ts'
import { registerApp, setUseTime } from '../fixtures/oauth-app.ts'
import { newEmail } from '../fixtures/service.ts'

const { service, db, database, call, post, get, signIn, createPeople, entriesDuring } =
  await startAuditedService()

interface Expected {
  actor: string | null
  subject: string | null
  detail?: string | null
}
type Scenario = (people: People) => Promise<{ entries: AuditRow[]; expected: Expected }>

/** Returns a scenario in which the administrator Root calls an endpoint of better-auth’s admin plugin. */
const administration =
  (operation: string, input: (ada: Person) => object, detail: string | null = null): Scenario =>
  async ({ root, ada }) => {
    const path = `/api/auth/admin/${operation}`
    const { method } = operations[`/admin/${operation}`] ?? {}
    const query = new URLSearchParams(Object.entries(input(ada)))
    const entries = await entriesDuring(() =>
      method === 'GET'
        ? get(`${path}?${query.toString()}`, root.cookie)
        : post(path, input(ada), root.cookie),
    )
    const names = Object.keys(input(ada))
    const hasSubject = names.some((name) => ['id', 'userId', 'sessionToken'].includes(name))
    return { entries, expected: { actor: root.id, subject: hasSubject ? ada.id : null, detail } }
  }
const byId = ({ id: userId }: Person) => ({ userId })

/** For each action of the audit trail, a scenario that performs this action once. */
const scenarios: Record<AuditAction, Scenario> = {
  'sign-in': async ({ ada: { email, id } }) => ({
    entries: await entriesDuring(() => signInOverHttp(service, email, { 'user-agent': AGENT })),
    expected: { actor: id, subject: id },
  }),
  'session.revoke': async ({ ada }) => {
    const other = await signIn(ada.email)
    const entries = await entriesDuring(() =>
      post('/api/sessions/revoke', { revokeSessionToken: sessionTokenIn(other.cookie) }, ada.cookie),
    )
    return { entries, expected: { actor: ada.id, subject: ada.id, detail: entries[0]?.detail ?? '' } }
  },
  'grant.create': async ({ ada }) => {
    const app = await registerApp(service)
    const headers = { cookie: ada.cookie, 'user-agent': AGENT }
    const entries = await entriesDuring(() => app.submitConsent({ action: 'allow' }, headers))
    return { entries, expected: { actor: ada.id, subject: ada.id, detail: app.id } }
  },
  'grant.revoke': async ({ ada }) => {
    const app = await registerApp(service)
    const { refresh_token: token } = await app.obtainTokens(ada.cookie)
    const form = new URLSearchParams({ client_id: app.id, token }).toString()
    const headers = { ...formType, 'user-agent': AGENT }
    const entries = await entriesDuring(() => call('POST', '/revoke', form, headers))
    return { entries, expected: { actor: `app:${app.id}`, subject: ada.id, detail: app.id } }
  },
  'account.export': async ({ ada }) => ({
    entries: await entriesDuring(() => get('/api/me/export', ada.cookie)),
    expected: { actor: ada.id, subject: ada.id },
  }),
  'account.delete': async ({ ada }) => {
    const entries = await entriesDuring(() => post('/api/me/delete', { email: ada.email }, ada.cookie))
    const pseudonym = expect.stringMatching(/^deleted:/) as string
    expect(entries[0]?.actor).toBe(entries[0]?.subject)
    return { entries, expected: { actor: pseudonym, subject: pseudonym } }
  },
  'impersonation.start': administration('impersonate-user', byId),
  'impersonation.stop': async ({ root, ada }) => {
    const started = await post('/api/auth/admin/impersonate-user', { userId: ada.id }, root.cookie)
    const cookie = cookiesAfter(started, root.cookie)
    return {
      entries: await entriesDuring(() => post('/api/auth/admin/stop-impersonating', undefined, cookie)),
      expected: { actor: root.id, subject: ada.id },
    }
  },
  'impersonation.change': async ({ root, ada }) => {
    const started = await post('/api/auth/admin/impersonate-user', { userId: ada.id }, root.cookie)
    const cookie = cookiesAfter(started, root.cookie)
    return {
      entries: await entriesDuring(() => post('/api/shelves', { name: 'x' }, cookie)),
      expected: { actor: root.id, subject: ada.id, detail: 'shelves.create' },
    }
  },
  'admin.list-audit': async ({ root, ada }) => ({
    entries: await entriesDuring(() => get(`/api/audit?person=${ada.email}`, root.cookie)),
    expected: { actor: root.id, subject: ada.id },
  }),
  'admin.list-users': administration('list-users', () => ({ limit: '1' })),
  'admin.get-user': administration('get-user', ({ id }) => ({ id })),
  'admin.create-user': async ({ root }) => {
    const email = newEmail()
    const entries = await entriesDuring(() =>
      post('/api/auth/admin/create-user', { email, name: '', role: 'user' }, root.cookie),
    )
    const [created] = await database<{ id: string }[]>`select id from users where email = ${email}`
    return { entries, expected: { actor: root.id, subject: created?.id ?? '', detail: 'user' } }
  },
  'admin.update-user': administration('update-user', ({ id: userId }) => ({ userId, data: { name: 'x' } })),
  'admin.set-role': administration('set-role', ({ id: userId }) => ({ userId, role: 'admin' }), 'admin'),
  'admin.ban-user': administration('ban-user', byId),
  'admin.unban-user': administration('unban-user', byId),
  'admin.list-user-sessions': administration('list-user-sessions', byId),
  'admin.revoke-user-session': administration('revoke-user-session', (ada) => ({
    sessionToken: sessionTokenIn(ada.cookie),
  })),
  'admin.revoke-user-sessions': administration('revoke-user-sessions', byId),
  'admin.remove-user': async (people) => {
    const { entries, expected } = await administration('remove-user', byId)(people)
    return { entries, expected: { ...expected, subject: expect.stringMatching(/^deleted:/) as string } }
  },
}

describe('the audit trail', () => {
  test.each(auditActions)('has one entry for %s', async (action) => {
    const { entries, expected } = await scenarios[action](await createPeople())

    const isErased = action === 'account.delete'
    expect(entries).toEqual([
      {
        id: expect.any(Number),
        createdAt: expect.any(Date),
        action,
        outcome: 'accepted',
        detail: null,
        ipAddress: isErased ? null : '127.0.0.1',
        userAgent: isErased ? null : AGENT,
        ...expected,
      },
    ])
  })

  const administrative = Object.entries(operations).filter(([path]) => path.startsWith('/admin/'))

  test.each(administrative)('has an entry for each call of the operation %s', async (path, { method }) => {
    const { root, ada } = await createPeople()
    const started = await post('/api/auth/admin/impersonate-user', { userId: ada.id }, root.cookie)
    const cookie = path.endsWith('/stop-impersonating') ? cookiesAfter(started, root.cookie) : root.cookie
    const body = {
      userId: ada.id,
      role: 'user',
      data: { name: 'x' },
      email: newEmail(),
      name: '',
      sessionToken: sessionTokenIn(ada.cookie),
    }
    const address = `/api/auth${path}${path.endsWith('/get-user') ? `?id=${ada.id}` : ''}`

    const entries = await entriesDuring(() =>
      call(method, address, method === 'POST' ? body : undefined, { cookie }),
    )

    expect(entries).toMatchObject([{ outcome: 'accepted', actor: root.id }])
  })

  test('has an entry for an operation of an administrator that better-auth rejects', async () => {
    const { root } = await createPeople()

    const entries = await entriesDuring(async () => {
      await post('/api/auth/admin/ban-user', { userId: root.id }, root.cookie)
      await post('/api/auth/admin/set-role', { userId: 'unknown', role: 'admin' }, root.cookie)
    })

    expect(entries).toMatchObject([
      { action: 'admin.set-role', outcome: 'refused', actor: root.id, subject: null, detail: 'admin' },
      { action: 'admin.ban-user', outcome: 'refused', actor: root.id, subject: root.id },
    ])
  })

  test('has an entry for an impersonation that stops without the administrator’s session', async () => {
    const { root, ada } = await createPeople()
    const started = await post('/api/auth/admin/impersonate-user', { userId: ada.id }, root.cookie)
    const cookie = cookiesAfter(started)
      .split('; ')
      .filter((pair) => !pair.includes('admin_session'))
      .join('; ')

    const entries = await entriesDuring(() => post('/api/auth/admin/stop-impersonating', undefined, cookie))

    expect(entries).toMatchObject([
      { action: 'impersonation.stop', outcome: 'accepted', actor: root.id, subject: ada.id },
    ])
  })

  test('has an entry for an impersonation that ends by a sign-out', async () => {
    const { root, ada } = await createPeople()
    const started = await post('/api/auth/admin/impersonate-user', { userId: ada.id }, root.cookie)

    const entries = await entriesDuring(() => post('/api/auth/sign-out', {}, cookiesAfter(started)))

    expect(entries).toMatchObject([
      { action: 'impersonation.stop', outcome: 'accepted', actor: root.id, subject: ada.id },
    ])
  })

  test('has no entry for a changed name and a sign-out of the person', async () => {
    const { ada } = await createPeople()

    const entries = await entriesDuring(async () => {
      expect((await post('/api/auth/update-user', { name: 'Ada' }, ada.cookie)).status).toBe(200)
      expect((await post('/api/auth/sign-out', {}, ada.cookie)).status).toBe(200)
    })

    expect(entries).toEqual([])
  })

  test('has an entry for a grant that ends because a refresh token is used twice, 30 seconds later', async () => {
    const { ada } = await createPeople()
    const app = await registerApp(service)
    const { refresh_token } = await app.obtainTokens(ada.cookie)
    await app.refresh(refresh_token)
    await setUseTime(db, refresh_token, 31)

    const entries = await entriesDuring(() => app.refresh(refresh_token))

    expect(entries).toMatchObject([
      { action: 'grant.revoke', actor: null, subject: ada.id, detail: 'a refresh token was used twice' },
    ])
  })

  test('has an entry with the actor “operator” for a role from ADMIN_EMAILS', async () => {
    await post('/api/me/delete', { email: ROOT }, (await signIn(ROOT)).cookie)

    const entries = await entriesDuring(() => signIn(ROOT))

    expect(entries.map(({ action, actor, detail }) => [action, actor, detail])).toEqual([
      ['sign-in', expect.any(String), null],
      ['admin.set-role', 'operator', 'admin'],
    ])
  })

  test.each([
    ['an account', true],
    ['no account', false],
  ])('has at most four entries of rejected codes per e-mail, for an address with %s', async (_, isKnown) => {
    const { email } = isKnown ? await signIn() : { email: newEmail() }
    const guess = () => post('/api/auth/sign-in/email-otp', { email, otp: 'x' })

    const withoutCode = await entriesDuring(guess)
    await post('/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const entries = await entriesDuring(async () => {
      for (let tries = 0; tries < 9; tries++) await guess()
    })

    expect(withoutCode).toEqual([])
    expect(entries).toHaveLength(4)
    for (const entry of entries)
      expect(entry).toMatchObject({ action: 'sign-in', outcome: 'refused', actor: null })
    expect(JSON.stringify(entries)).not.toContain(email)
  })

  test('has no entry for a caller without the right to the operation', async () => {
    const { ada } = await createPeople()

    const entries = await entriesDuring(async () => {
      for (const [path, { method }] of administrative) {
        await call(method, `/api/auth${path}`, method === 'POST' ? {} : undefined)
        await call(method, `/api/auth${path}`, method === 'POST' ? {} : undefined, { cookie: ada.cookie })
      }
      await post('/api/sessions/revoke', { revokeSessionToken: 'unknown' }, ada.cookie)
      await post('/api/me/delete', { email: 'x' }, ada.cookie)
    })

    expect(entries).toEqual([])
  })

  test('holds no connection that a concurrent sign-in of a new account needs', async () => {
    const { root } = await createPeople()
    const emails = Array.from({ length: 12 }, newEmail)
    for (const email of emails) await post('/api/auth/admin/create-user', { email, name: '' }, root.cookie)

    const answers = await Promise.all(emails.map((email) => signInOverHttp(service, email)))

    expect(answers.map(({ response }) => response.status)).toEqual(emails.map(() => 200))
  })

  test('stores at most 256 characters of the User-Agent header', async () => {
    const email = newEmail()

    const entries = await entriesDuring(() =>
      signInOverHttp(service, email, { 'user-agent': 'x'.repeat(1000) }),
    )

    expect(entries[0]?.userAgent).toBe('x'.repeat(256))
  })

  test('contains no code, token or cookie', async () => {
    const { ada } = await createPeople()
    const app = await registerApp(service)
    const tokens = await app.obtainTokens(ada.cookie)
    const codes = service.letters.map(({ subject }) => subject.slice(0, 6))

    const text = JSON.stringify(
      (await list(db, { person: ada.id }, { limit: 1000 })).map(({ detail }) => detail),
    )

    for (const secret of [
      ...codes,
      tokens.access_token,
      tokens.refresh_token,
      sessionTokenIn(ada.cookie),
      ada.email,
    ])
      expect(text).not.toContain(secret)
  })
})
