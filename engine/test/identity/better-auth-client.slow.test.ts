import { createAuthClient } from 'better-auth/client'
import { adminClient, emailOTPClient } from 'better-auth/client/plugins'
import { describe, expect, test } from 'vitest'

import { operations } from '../../http/endpoints/auth-operations.ts'
import { codeSentTo, cookiesAfter } from '../fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ ADMIN_EMAILS: ROOT })

/** Creates better-auth's client with a fetch function that keeps cookies, as a browser does. */
function createBrowser() {
  let cookie = ''
  const customFetchImpl: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('cookie', cookie)
    const response = await fetch(input, { ...init, headers })
    cookie = cookiesAfter(response, cookie)
    return response
  }
  return createAuthClient({
    baseURL: service.origin,
    plugins: [emailOTPClient(), adminClient()],
    fetchOptions: { customFetchImpl },
  })
}
type Browser = ReturnType<typeof createBrowser>

async function signIn(email = newEmail()) {
  const browser = createBrowser()
  await browser.emailOtp.sendVerificationOtp({ email, type: 'sign-in' })
  const { data, error } = await browser.signIn.emailOtp({ email, otp: codeSentTo(service, email) ?? '' })
  if (error) throw new Error(error.message)
  return { browser, email, user: data.user }
}
type Person = Awaited<ReturnType<typeof signIn>>

interface Call {
  /** Calls the operation as the administrator. */
  call: (root: Browser, ada: Person) => Promise<{ data: unknown; error: unknown }>
  /** The expected data. */
  data: (ada: Person) => unknown
}

const userOf = ({ user: { id }, email }: Person) =>
  expect.objectContaining({
    id,
    email,
    name: '',
    emailVerified: true,
    createdAt: expect.any(Date),
  }) as unknown
const sessionOf = ({ user: { id: userId } }: Person) =>
  expect.objectContaining({ userId, token: expect.any(String), expiresAt: expect.any(Date) }) as unknown
const success = () => ({ success: true })

/** One call of the client for each operation. */
const calls: Record<string, Call> = {
  '/email-otp/send-verification-otp': {
    call: (_, { browser, email }) => browser.emailOtp.sendVerificationOtp({ email, type: 'sign-in' }),
    data: success,
  },
  '/sign-in/email-otp': {
    call: async (_, { browser, email }) => {
      await browser.emailOtp.sendVerificationOtp({ email, type: 'sign-in' })
      return browser.signIn.emailOtp({ email, otp: codeSentTo(service, email) ?? '' })
    },
    data: (ada) => ({ token: expect.any(String) as string, user: userOf(ada) }),
  },
  '/sign-out': { call: (_, { browser }) => browser.signOut(), data: success },
  '/get-session': {
    call: (_, { browser }) => browser.getSession(),
    data: (ada) => expect.objectContaining({ user: userOf(ada), session: sessionOf(ada) }) as unknown,
  },
  '/update-user': {
    call: (_, { browser }) => browser.updateUser({ name: 'Ada' }),
    data: () => ({ status: true }),
  },
  '/admin/list-users': {
    call: (root, { email }) =>
      root.admin.listUsers({ query: { searchField: 'email', searchValue: email, limit: 10, offset: 0 } }),
    data: (ada) => expect.objectContaining({ users: [userOf(ada)], total: 1, limit: 10 }) as unknown,
  },
  '/admin/get-user': {
    call: (root, { user }) => root.admin.getUser({ query: { id: user.id } }),
    data: userOf,
  },
  '/admin/create-user': {
    call: (root) => root.admin.createUser({ email: newEmail(), name: 'Bob', role: 'user' }),
    data: () => ({ user: expect.objectContaining({ name: 'Bob', role: 'user' }) as unknown }),
  },
  '/admin/update-user': {
    call: (root, { user }) => root.admin.updateUser({ userId: user.id, data: { name: 'Eve' } }),
    data: ({ user: { id } }) => expect.objectContaining({ id, name: 'Eve' }) as unknown,
  },
  '/admin/set-role': {
    call: (root, { user }) => root.admin.setRole({ userId: user.id, role: 'admin' }),
    data: () => ({ user: expect.objectContaining({ role: 'admin' }) as unknown }),
  },
  '/admin/ban-user': {
    call: (root, { user }) => root.admin.banUser({ userId: user.id, banReason: 'Rude', banExpiresIn: 3600 }),
    data: () => ({
      user: expect.objectContaining({ banReason: 'Rude', banExpires: expect.any(Date) }) as unknown,
    }),
  },
  '/admin/unban-user': {
    call: (root, { user }) => root.admin.unbanUser({ userId: user.id }),
    data: (ada) => ({ user: userOf(ada) }),
  },
  '/admin/list-user-sessions': {
    call: (root, { user }) => root.admin.listUserSessions({ userId: user.id }),
    data: (ada) => ({ sessions: [sessionOf(ada)] }),
  },
  '/admin/revoke-user-session': {
    call: async (root, { user }) => {
      const { data } = await root.admin.listUserSessions({ userId: user.id })
      return root.admin.revokeUserSession({ sessionToken: data?.sessions[0]?.token ?? '' })
    },
    data: success,
  },
  '/admin/revoke-user-sessions': {
    call: (root, { user }) => root.admin.revokeUserSessions({ userId: user.id }),
    data: success,
  },
  '/admin/impersonate-user': {
    call: (root, { user }) => root.admin.impersonateUser({ userId: user.id }),
    data: (ada) => ({ session: sessionOf(ada), user: userOf(ada) }),
  },
  '/admin/stop-impersonating': {
    call: async (root, { user }) => {
      await root.admin.impersonateUser({ userId: user.id })
      return root.admin.stopImpersonating()
    },
    data: () =>
      expect.objectContaining({ user: expect.objectContaining({ email: ROOT }) as unknown }) as unknown,
  },
  '/admin/remove-user': {
    call: (root, { user }) => root.admin.removeUser({ userId: user.id }),
    data: success,
  },
}

describe('the client of better-auth', () => {
  test.each(Object.keys(operations))('calls %s', async (path) => {
    const [{ browser: root }, ada] = [await signIn(ROOT), await signIn()]

    const result = await calls[path]?.call(root, ada)

    expect(result).toEqual({ data: calls[path]?.data(ada), error: null })
  })

  test('gets null as the session without a sign-in', async () => {
    expect(await createBrowser().getSession()).toEqual({ data: null, error: null })
  })

  test('lists users by a filter with several values', async () => {
    const { browser: root } = await signIn(ROOT)
    const [ada, bob] = [await signIn(), await signIn()]

    const { data } = await root.admin.listUsers({
      query: { filterField: 'email', filterOperator: 'in', filterValue: [ada.email, bob.email] },
    })

    expect(data?.users.map(({ email }) => email).sort()).toEqual([ada.email, bob.email].sort())
  })

  test('gets the status, the code and the message of an error', async () => {
    const [{ browser: root }, ada, email] = [await signIn(ROOT), await signIn(), newEmail()]
    await ada.browser.emailOtp.sendVerificationOtp({ email, type: 'sign-in' })

    const errors = [
      await createBrowser().signIn.emailOtp({ email, otp: 'wrong' }),
      await createBrowser().updateUser({ name: 'x' }),
      await ada.browser.admin.listUsers({ query: {} }),
      await root.admin.getUser({ query: { id: 'unknown' } }),
      await root.admin.listUsers({ query: { limit: 0 } }),
      await root.admin.banUser({ userId: 'unknown' }),
    ].map(({ error }) => error)

    expect(errors).toMatchObject([
      { status: 400, code: 'INVALID_OTP', message: 'Invalid OTP' },
      { status: 401, code: 'UNAUTHORIZED', message: 'Sign in first' },
      { status: 403, code: 'FORBIDDEN', message: 'Only an administrator may do this' },
      { status: 404, code: 'USER_NOT_FOUND', message: 'User not found' },
      { status: 400, code: 'BAD_REQUEST', message: 'Input validation failed' },
      { status: 404, code: 'USER_NOT_FOUND', message: 'User not found' },
    ])
  })

  const endpoints = Object.values(service.services.auth.api as Record<string, { path?: string }>)
  const absent = endpoints.flatMap(({ path = '' }) => (path === '' || path in operations ? [] : [path]))

  test.each([...new Set(absent)])(
    'gets 404 from the endpoint %s, which the service does not serve',
    async (path) => {
      const { $fetch } = (await signIn()).browser

      for (const method of ['GET', 'POST'])
        expect(await $fetch(path, { method, ...(method === 'POST' && { body: {} }) })).toMatchObject({
          data: null,
          error: { status: 404, code: 'NOT_FOUND', message: 'There is nothing at this address' },
        })
    },
  )
})
