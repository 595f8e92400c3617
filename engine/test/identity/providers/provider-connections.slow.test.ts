import { and, eq, like, sql } from 'drizzle-orm'
import { afterAll, describe, expect, test } from 'vitest'

import { audit } from '../../../db/accounts/audit.ts'
import { sessions } from '../../../db/accounts/sessions.ts'
import { accounts, users } from '../../../db/accounts/users.ts'
import { newEmail } from '../../fixtures/bind-service.ts'
import { registerApp, createOAuthCalls, type Tokens } from '../../fixtures/oauth-app.ts'
import { createBrowser, redirectOf, startProvider } from './provider.ts'
import { databases, oidc, startWithSignIn } from './service.ts'

const provider = await startProvider()
afterAll(() => provider.stop())

const LINK = '/api/auth/link-social'
const UNLINK = '/api/auth/unlink-account'
const codeRequired = { status: 403, body: { code: 'CODE_REQUIRED' } }

describe.each(Object.entries(databases))('the connection with a provider, on %s', async (_, environment) => {
  const service = await startWithSignIn({ oidc: [oidc(provider)] }, environment)
  const { db } = service.services

  /** A person who has just signed in with a code, with an account at the provider. */
  async function person(claims: Record<string, unknown> = {}) {
    const email = newEmail()
    const browser = createBrowser(service.origin)
    browser.enter(await service.signIn(email))
    provider.person = { sub: crypto.randomUUID(), email, email_verified: true, ...claims }
    const [user] = await db.select().from(users).where(eq(users.email, email))
    const id = user?.id ?? ''
    return {
      email,
      browser,
      id,
      connected: () => db.select().from(accounts).where(eq(accounts.userId, id)),
      trail: () =>
        db
          .select()
          .from(audit)
          .where(and(eq(audit.subject, id), like(audit.action, 'account.%'))),
      letters: () => service.letters.filter(({ to, subject }) => to === email && !/^\d{6} /.test(subject)),
      /** Calls an operation. */
      call: async (path: string, body: object) => {
        const response = await browser.post(path, body)
        return { status: response.status, body: await response.json() }
      },
    }
  }
  const start = { provider: 'acme', callbackURL: '/account' }
  type Person = Awaited<ReturnType<typeof person>>
  const firstOf = async ({ connected }: Person) => (await connected())[0]?.id ?? ''

  test('is part of the export of the account, without tokens and ids of the provider', async () => {
    const ada = await person()
    const exportAccount = async () =>
      (await (await ada.browser.send('/api/me/export')).json()) as { connections?: unknown }
    expect(await exportAccount()).toMatchObject({ connections: [] })

    await ada.browser.signIn({ callbackURL: '/account' }, LINK)

    const { connections } = await exportAccount()
    expect(connections).toEqual([{ provider: 'acme', createdAt: expect.any(Number) as number }])
  })

  test('begins after a code, and is audited and mailed', async () => {
    const ada = await person()

    expect(await ada.browser.signIn({ callbackURL: '/account' }, LINK)).toBe('/account')

    const [account] = await ada.connected()
    expect(account).toMatchObject({
      providerId: 'acme',
      accessToken: null,
      idToken: null,
      refreshToken: null,
    })
    const change = { outcome: 'accepted', actor: ada.id, subject: ada.id, detail: 'acme' }
    expect(await ada.trail()).toMatchObject([{ ...change, action: 'account.connect' }])
    expect(ada.letters()).toMatchObject([
      {
        subject: 'Acme is now connected to your account at Test library',
        text: expect.stringContaining('sign in with a code') as string,
      },
    ])
    const other = createBrowser(service.origin)
    await other.signIn()
    expect(await other.me()).toMatchObject({ id: ada.id })
    const listed = await ada.browser.send('/api/auth/list-accounts')
    expect(await listed.json()).toMatchObject([{ id: account?.id, providerId: 'acme' }])
  })

  test('ends with the sessions of the provider, and is audited and mailed', async () => {
    const ada = await person()
    await ada.browser.signIn({}, LINK)
    const other = createBrowser(service.origin)
    await other.signIn()

    expect(await ada.call(UNLINK, { accountId: await firstOf(ada) })).toMatchObject({ status: 200 })

    expect(await ada.connected()).toEqual([])
    expect(await ada.browser.me()).toMatchObject({ id: ada.id })
    expect(await other.me()).toMatchObject({ code: 'UNAUTHORIZED' })
    expect(await ada.trail()).toMatchObject([
      { action: 'account.connect' },
      { action: 'account.disconnect', outcome: 'accepted', actor: ada.id, detail: 'acme' },
    ])
    expect(ada.letters().at(-1)).toMatchObject({
      subject: 'Acme is no longer connected to your account at Test library',
    })
    expect(await createBrowser(service.origin).signIn()).toBe('/?error=NOT_CONNECTED')
  })

  test('needs a code of the last ten minutes', async () => {
    const ada = await person()
    await ada.browser.signIn({}, LINK)
    const accountId = await firstOf(ada)
    await db
      .update(sessions)
      .set({ createdAt: sql`now() - interval '10 minutes 1 second'` })
      .where(eq(sessions.userId, ada.id))

    expect(await ada.call(LINK, start)).toMatchObject(codeRequired)
    expect(await ada.call(UNLINK, { accountId })).toMatchObject(codeRequired)

    expect(await ada.connected()).toHaveLength(1)
  })

  test('needs a code, not a sign-in by a provider', async () => {
    const ada = await person()
    await ada.browser.signIn({}, LINK)
    const accountId = await firstOf(ada)
    await ada.browser.signIn()

    expect(await ada.call(LINK, start)).toMatchObject(codeRequired)
    expect(await ada.call(UNLINK, { accountId })).toMatchObject(codeRequired)
  })

  test('is refused without a session', async () => {
    const stranger = createBrowser(service.origin)

    expect((await stranger.post(LINK, start)).status).toBe(401)
    expect((await stranger.post(UNLINK, { accountId: 'a' })).status).toBe(401)
    expect((await stranger.send('/api/auth/list-accounts')).status).toBe(401)
  })

  test('is refused to apps', async () => {
    const ada = await person()
    const app = await registerApp(service)
    const tokens: Tokens = await app.obtainTokens(await createOAuthCalls(service).signIn())
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const stranger = createBrowser(service.origin)

    expect((await stranger.post(LINK, start, headers)).status).toBe(403)
    expect((await stranger.post(UNLINK, { accountId: 'a' }, headers)).status).toBe(403)
    expect(await ada.connected()).toEqual([])
  })

  test('is refused during an impersonation', async () => {
    const ada = await person()
    await ada.browser.signIn({}, LINK)
    const admin = await person()
    await db.update(users).set({ role: 'admin' }).where(eq(users.id, admin.id))
    await admin.call('/api/auth/admin/impersonate-user', { userId: ada.id })
    expect(await admin.browser.me()).toMatchObject({ id: ada.id })

    expect(await admin.call(LINK, start)).toMatchObject({ status: 403 })
    expect(await admin.call(UNLINK, { accountId: await firstOf(ada) })).toMatchObject({ status: 403 })

    expect(await ada.connected()).toHaveLength(1)
  })

  test('ends only by its own person', async () => {
    const [ada, eve] = [await person(), await person()]
    provider.person = { ...provider.person, email: ada.email }
    await ada.browser.signIn({}, LINK)

    expect(await eve.call(UNLINK, { accountId: await firstOf(ada) })).toMatchObject({ status: 404 })

    expect(await ada.connected()).toHaveLength(1)
  })

  test.each([
    ['another address', 'OTHER_ADDRESS', { email: 'other@example.com' }],
    ['an address that is not verified', 'UNVERIFIED_ADDRESS', { email_verified: false }],
  ])('is refused for %s at the provider', async (_case, code, claims) => {
    const ada = await person(claims)

    expect(await ada.browser.signIn({ callbackURL: '/account' }, LINK)).toBe(`/account?error=${code}`)

    expect(await ada.connected()).toEqual([])
    expect(await ada.trail()).toEqual([])
    expect(ada.letters()).toEqual([])
  })

  test('is refused if the person has signed out in the meantime', async () => {
    const ada = await person()
    const callback = await ada.browser.visit(await ada.browser.begin({}, LINK))
    await db.delete(sessions).where(eq(sessions.userId, ada.id))

    expect(redirectOf(await ada.browser.send(callback))).toBe('/?error=PROVIDER_FAILED')

    expect(await ada.connected()).toEqual([])
  })

  test('is not moved from one account to another', async () => {
    const ada = await person()
    await ada.browser.signIn({}, LINK)
    const { sub } = provider.person
    const eve = await person({ sub })

    expect(await eve.browser.signIn({}, LINK)).toBe('/?error=PROVIDER_FAILED')

    expect(await eve.connected()).toEqual([])
    expect(await ada.connected()).toHaveLength(1)
  })

  test('ends with the account', async () => {
    const ada = await person()
    await ada.browser.signIn({}, LINK)

    await ada.browser.post('/api/me/delete', { email: ada.email })

    expect(await ada.connected()).toEqual([])
  })
})
