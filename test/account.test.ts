import { describe, expect, test } from 'vitest'

import { createFetch, everyWay, somebody, startService } from './service.ts'

const service = await startService()
const call = createFetch(service)

everyWay(service, ({ person, stranger }) => {
  describe('account.get', () => {
    test('answers an account without a name, its address proved by the code', async () => {
      const email = somebody()
      const ada = await person(email)

      expect(await ada.account.get()).toEqual({
        id: expect.stringMatching(/./),
        name: '',
        email,
        emailVerified: true,
      })
    })

    test('answers the name that the person gave', async () => {
      const email = somebody()
      const ada = await person(email)
      const before = await ada.account.get()

      await call('POST', '/api/auth/update-user', { name: 'Ada' }, { cookie: await service.signIn(email) })

      expect(await ada.account.get()).toEqual({ ...before, name: 'Ada' })
    })

    test('is one account, whatever the case of the address', async () => {
      const email = somebody()
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
})
