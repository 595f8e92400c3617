import { eq } from 'drizzle-orm'
import { afterAll, describe, expect, test } from 'vitest'

import { audit } from '../../../db/accounts/audit.ts'
import { sessions } from '../../../db/accounts/sessions.ts'
import { accounts, users } from '../../../db/accounts/users.ts'
import { newEmail } from '../../fixtures/bind-service.ts'
import { createBrowser, startProvider } from './provider.ts'
import { databases, oidc, startWithSignIn } from './service.ts'

const provider = await startProvider()
afterAll(() => provider.stop())

const ADMIN = 'boss@example.com'

describe.each(Object.entries(databases))('a sign-in by a provider, on %s', async (_, environment) => {
  const service = await startWithSignIn(
    { oidc: [oidc(provider)] },
    { ...environment, ADMIN_EMAILS: `${ADMIN},chief@example.com` },
  )
  const { db } = service.services

  /** The provider signs in a person. */
  function become(claims: Record<string, unknown>) {
    provider.person = { sub: crypto.randomUUID(), email_verified: true, ...claims }
    return createBrowser(service.origin)
  }
  const findUser = async (email: string) =>
    (await db.select().from(users).where(eq(users.email, email))).at(0)

  test('makes an account with its session and its audit entry, and stores no token', async () => {
    const email = newEmail()
    const browser = become({
      email: email.toUpperCase(),
      name: 'Ada',
      picture: 'https://example.com/ada.png',
    })

    expect(await browser.signIn({ callbackURL: '/books?page=2' })).toBe('/books?page=2')

    expect(await browser.me()).toMatchObject({ email, name: 'Ada', emailVerified: true })
    const user = await findUser(email)
    expect(user).toMatchObject({ role: 'user', image: null })
    const id = user?.id ?? ''
    expect(await db.select().from(accounts).where(eq(accounts.userId, id))).toMatchObject([
      {
        providerId: 'acme',
        accountId: provider.person.sub,
        accessToken: null,
        refreshToken: null,
        idToken: null,
        accessTokenExpiresAt: null,
        scope: null,
        password: null,
      },
    ])
    expect(await db.select().from(sessions).where(eq(sessions.userId, id))).toMatchObject([
      { provider: 'acme' },
    ])
    expect(await db.select().from(audit).where(eq(audit.subject, id))).toMatchObject([
      { action: 'sign-in', outcome: 'accepted', actor: id, detail: 'acme', ipAddress: '127.0.0.1' },
    ])
  })

  test('finds the account again, also after a change of the address at the provider', async () => {
    const email = newEmail()
    await become({ email }).signIn()
    provider.person = { ...provider.person, email: newEmail() }
    const browser = createBrowser(service.origin)

    await browser.signIn()

    expect(await browser.me()).toMatchObject({ email })
  })

  test('leads to the same account as a code', async () => {
    const email = newEmail()
    const browser = become({ email })
    await browser.signIn()

    const { id } = await (await service.person(email)).account.get()

    expect(await browser.me()).toMatchObject({ id })
  })

  test.each([
    ['is not verified', { email_verified: false }],
    ['is not known to be verified', { email_verified: undefined }],
    ['is verified by another claim', { email_verified: undefined, emailVerified: true }],
    ['is verified by a text', { email_verified: 'yes' }],
    ['is not verified, as a text', { email_verified: 'false' }],
    ['is verified by a list', { email_verified: [true] }],
    ['is a list', { email: ['ada@example.com'] }],
    ['is missing', { email: undefined }],
    ['is no address', { email: 'ada' }],
    ['has letters that become others', { email: '\u{212A}ay@example.com' }],
  ])('is refused if the address %s', async (_reason, claims) => {
    const browser = become({ email: newEmail(), ...claims })

    const location = await browser.signIn({ callbackURL: '/books?page=2' })

    expect(location).toMatch(/^\/books\?page=2&error=(UNVERIFIED_ADDRESS|PROVIDER_FAILED)$/)
    expect(await browser.me()).toMatchObject({ code: 'UNAUTHORIZED' })
    expect(
      await db
        .select()
        .from(accounts)
        .where(eq(accounts.accountId, String(provider.person.sub))),
    ).toEqual([])
  })

  test('gets nothing with the address of another account', async () => {
    const email = newEmail()
    await service.signIn(email)
    const browser = become({ email })

    expect(await browser.signIn()).toBe('/?error=NOT_CONNECTED')

    expect(await browser.me()).toMatchObject({ code: 'UNAUTHORIZED' })
    expect(
      await db
        .select()
        .from(accounts)
        .where(eq(accounts.accountId, String(provider.person.sub))),
    ).toEqual([])
  })

  test.each([
    ['before the first sign-in of the administrator', { email: 'chief@example.com' }],
    ['in other letters', { email: 'Chief@Example.com' }],
    ['with blanks', { email: ' chief@example.com\n' }],
    ['with a full stop of another width', { email: 'chief@example\u{FF0E}com' }],
    ['without the verification', { email: 'chief@example.com', email_verified: false }],
  ])('makes nobody an administrator: the address is of ADMIN_EMAILS, %s', async (_case, claims) => {
    const browser = become(claims)

    expect(await browser.signIn()).toMatch(/^\/\?error=/)

    expect(await browser.me()).toMatchObject({ code: 'UNAUTHORIZED' })
    expect(await findUser('chief@example.com')).toBeUndefined()
  })

  test('gets nothing with the address of an administrator', async () => {
    await service.signIn(ADMIN)
    expect(await findUser(ADMIN)).toMatchObject({ role: 'admin' })
    const browser = become({ email: ADMIN })

    expect(await browser.signIn()).toBe('/?error=NOT_CONNECTED')

    expect(await browser.me()).toMatchObject({ code: 'UNAUTHORIZED' })
  })

  test('makes nobody an administrator, also if ADMIN_EMAILS has the address of the account later', async () => {
    const email = newEmail()
    await become({ email }).signIn()
    await db.update(users).set({ email: 'chief@example.com' }).where(eq(users.email, email))
    const browser = createBrowser(service.origin)

    await browser.signIn()

    expect(await browser.me()).toMatchObject({ email: 'chief@example.com' })
    expect(await findUser('chief@example.com')).toMatchObject({ role: 'user' })
    await service.signIn('chief@example.com')
    expect(await findUser('chief@example.com')).toMatchObject({ role: 'admin' })
  })

  test('is refused for a banned person, with an audit entry', async () => {
    const email = newEmail()
    await become({ email }).signIn()
    await db.update(users).set({ banned: true }).where(eq(users.email, email))
    const browser = createBrowser(service.origin)

    expect(await browser.signIn()).toBe('/?error=BANNED_USER')

    expect(await browser.me()).toMatchObject({ code: 'UNAUTHORIZED' })
    const { id = '' } = (await findUser(email)) ?? {}
    expect(await db.select().from(audit).where(eq(audit.subject, id))).toContainEqual(
      expect.objectContaining({ action: 'sign-in', outcome: 'refused', actor: null, detail: 'acme' }),
    )
  })

  test.each([
    ['with letters', { name: '<b>"Ada"</b>' }, '<b>"Ada"</b>'],
    ['with a NUL', { name: 'A\0' }, ''],
    ['that is too long', { name: 'A'.repeat(10_000) }, ''],
    ['that is no text', { name: { first: 'Ada' } }, ''],
  ])('takes a name %s only if an account can have it', async (_case, claims, name) => {
    const browser = become({ email: newEmail(), ...claims })

    await browser.signIn()

    expect(await browser.me()).toMatchObject({ name })
  })
})
