import { ORPCError } from '@orpc/client'
import { eq } from 'drizzle-orm'
import { afterAll, describe, expect, test } from 'vitest'

import { accounts, users } from '../../../db/accounts/users.ts'
import { newEmail } from '../../fixtures/bind-service.ts'
import { visits } from '../../library/db.ts'
import { createBrowser, startProvider } from './provider.ts'
import { databases, oidc, startWithSignIn } from './service.ts'

const provider = await startProvider()
afterAll(() => provider.stop())

describe.each(Object.entries(databases))(
  'the hook of an application at a sign-up, on %s',
  async (_, environment) => {
    const seen: unknown[] = []
    const service = await startWithSignIn(
      { oidc: [oidc(provider)] },
      { ...environment, ADMIN_EMAILS: 'boss@example.com' },
      async (person, { db }) => {
        seen.push({ ...person, isStored: (await db.$count(users, eq(users.id, person.id))) === 1 })
        await db.insert(visits).values({ id: seen.length, count: 1 })
        if (person.email.startsWith('refused'))
          throw new ORPCError('FORBIDDEN', { message: 'Only people of the library may sign up' })
        if (person.email.startsWith('broken')) throw new Error('The hook is broken')
      },
    )
    const { db } = service.services
    const newcomer = (kind: string) => `${kind}-${newEmail()}`

    /** Enters a code over HTTP. */
    async function enter(email: string) {
      const browser = createBrowser(service.origin)
      await browser.post('/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
      const otp = service.letters.findLast(({ to }) => to === email)?.subject.slice(0, 6) ?? ''
      const response = await browser.post('/api/auth/sign-in/email-otp', { email, otp })
      return { status: response.status, body: await response.json() }
    }
    async function signIn(email: string) {
      provider.person = { sub: crypto.randomUUID(), email, email_verified: true, name: 'Ada' }
      return createBrowser(service.origin).signIn()
    }
    const count = (email: string) => db.$count(users, eq(users.email, email))

    test('runs once for each new account, in its transaction', async () => {
      const [byCode, byProvider] = [newcomer('code'), newcomer('provider')]
      seen.length = 0
      await db.delete(visits)

      await enter(byCode)
      await enter(byCode)
      expect(await signIn(byProvider)).toBe('/')

      const stored = { id: expect.any(String) as string, isStored: true }
      expect(seen).toEqual([
        { ...stored, email: byCode, name: '' },
        { ...stored, email: byProvider, name: 'Ada' },
      ])
      expect(await db.$count(visits)).toBe(2)
    })

    test('undoes the account with its refusal, which the person sees', async () => {
      const [byCode, byProvider] = [newcomer('refused'), newcomer('refused')]
      await db.delete(visits)

      expect(await enter(byCode)).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', message: 'Only people of the library may sign up' },
      })
      expect(await signIn(byProvider)).toBe('/?error=FORBIDDEN')

      expect(await count(byCode)).toBe(0)
      expect(await count(byProvider)).toBe(0)
      expect(await db.$count(accounts, eq(accounts.accountId, String(provider.person.sub)))).toBe(0)
      expect(await db.$count(visits)).toBe(0)
    })

    test('undoes the account with its error, whose text nobody sees', async () => {
      const [byCode, byProvider] = [newcomer('broken'), newcomer('broken')]

      const answer = await enter(byCode)

      expect(answer).toMatchObject({ status: 500 })
      expect(JSON.stringify(answer)).not.toContain('broken')
      expect(await signIn(byProvider)).toBe('')
      expect(await count(byCode)).toBe(0)
      expect(await count(byProvider)).toBe(0)
    })

    test('runs for an account that an administrator makes', async () => {
      const boss = createBrowser(service.origin)
      boss.enter(await service.signIn('boss@example.com'))
      const email = newcomer('made')

      await boss.post('/api/auth/admin/create-user', { email, name: 'Ben' })

      expect(seen.at(-1)).toMatchObject({ email, name: 'Ben' })
    })
  },
)
