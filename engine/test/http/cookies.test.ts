import { describe, expect, test } from 'vitest'

import {
  createRestClient,
  newEmail,
  type Service,
  settingsWithAddress,
  startService,
} from '../fixtures/service.ts'
import { appWithId, registerApp } from '../fixtures/oauth-app.ts'
import { createFetch } from '../fixtures/http.ts'

const NAME = '__Host-test-library.session_token'

/** A service behind a proxy that terminates TLS: the public origin is https, and the service listens on http. */
const service = await startService({
  BASE_URL: 'https://tallystick.example',
  ADMIN_EMAILS: 'root@example.com',
})
const plain = await startService(await settingsWithAddress())

const signIn = async ({ origin, letters }: Service, email = newEmail()) => {
  const call = createFetch({ origin })
  await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
  const otp = letters.findLast(({ to }) => to === email)?.subject.slice(0, 6)
  const { headers } = await call('POST', '/api/auth/sign-in/email-otp', { email, otp })
  const cookies = headers.getSetCookie()
  return { email, cookies, cookie: pairOf(cookies[0]) }
}
const pairOf = (cookie = '') => cookie.split(';', 1)[0] ?? ''
const valueOf = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1)

const call = createFetch(service)
/**
 * Returns the e-mail address of the account that a cookie authenticates, or `undefined` if the cookie is not valid.
 * Verifies that the service and better-auth find the same account.
 */
const accountsOf = async (cookie: string, { origin } = service) => {
  const [ours, theirs] = await Promise.all(
    ['/api/me', '/api/auth/get-session'].map((path) =>
      createFetch({ origin })('GET', path, undefined, { cookie }),
    ),
  )
  const me = ours?.status === 200 ? (ours.body as { email: string }).email : undefined
  const session = (theirs?.body as { user: { email: string } } | null)?.user.email
  expect(session).toBe(me)
  return me
}

/** Returns whether a cookie has the attributes that browsers require for the prefix `__Host-`. */
const isHostOnly = (cookie: string) => {
  const [pair = '', ...attributes] = cookie.split('; ')
  return (
    pair.startsWith('__Host-test-library.') &&
    attributes.includes('Secure') &&
    attributes.includes('Path=/') &&
    !attributes.some((attribute) => /^domain/i.test(attribute))
  )
}

describe('on https', () => {
  test('the session cookie has the prefix __Host- and the attributes that browsers require', async () => {
    const { cookies } = await signIn(service)

    expect(cookies).toEqual([
      expect.stringMatching(
        /^__Host-test-library\.session_token=.+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ])
  })

  test('every cookie has the prefix, including those of sign-out and impersonation', async () => {
    const [ada, root] = [await signIn(service), await signIn(service, 'root@example.com')]
    const { id } = await createRestClient(service.origin, { headers: { cookie: ada.cookie } }).account.get()
    const json = (path: string, body: object, cookie: string) => call('POST', path, body, { cookie })
    const start = await json('/api/auth/admin/impersonate-user', { userId: id }, root.cookie)
    const jar = new Map(
      start.headers.getSetCookie().map((each) => [pairOf(each).split('=')[0], pairOf(each)]),
    )
    const asAda = [...jar.values()].join('; ')
    const seen = await accountsOf(asAda)
    const end = await json('/api/auth/admin/stop-impersonating', {}, asAda)
    const out = await json('/api/auth/sign-out', {}, ada.cookie)

    expect(seen).toBe(ada.email)
    expect([start.status, end.status, out.status]).toEqual([200, 200, 200])
    const set = [start, end, out].flatMap(({ headers }) => headers.getSetCookie())
    expect(set.filter((cookie) => !isHostOnly(cookie))).toEqual([])
    expect(set.filter((cookie) => cookie.startsWith(`${NAME}=;`)).length).toBeGreaterThan(0)
    expect(set.some((cookie) => cookie.startsWith('__Host-test-library.admin_session='))).toBe(true)
    expect(await accountsOf(ada.cookie)).toBeUndefined()
  })

  test('the sign-in pages set a cookie with the prefix', async () => {
    const app = appWithId(service, (await registerApp(service)).id)
    const email = newEmail()
    await app.submitConsent({ action: 'send', email }, {})
    const otp = service.letters.findLast(({ to }) => to === email)?.subject.slice(0, 6)
    const { headers } = await app.submitConsent({ action: 'sign-in', email, otp }, {})

    expect(headers.getSetCookie()).toHaveLength(1)
    expect(isHostOnly(headers.getSetCookie()[0] ?? '')).toBe(true)
  })

  test.each([
    ['test-library.session_token', 'the name of plain http'],
    ['__Secure-test-library.session_token', 'the name before the upgrade'],
    ['__host-test-library.session_token', 'another case'],
    ['\u00a0__Host-test-library.session_token', 'a space that browsers take for a letter'],
    ['__Host-test-library.session_token\u00a0', 'such a space at the end'],
    ['__Host-test-library.session_token.0', 'the name of a part'],
  ])('a cookie with the name %j is ignored: %s', async (name) => {
    const [ada, eve] = [await signIn(service), await signIn(service)]
    const planted = `${name}=${valueOf(eve.cookie)}`

    expect(await accountsOf(eve.cookie)).toBe(eve.email)
    expect(await accountsOf(planted)).toBeUndefined()
    expect(await accountsOf(`${planted}; ${ada.cookie}`)).toBe(ada.email)
    expect(await accountsOf(`${ada.cookie}; ${planted}`)).toBe(ada.email)
  })

  test('sign-out ends the own session if another cookie was injected', async () => {
    const [ada, eve] = [await signIn(service), await signIn(service)]
    const planted = `\u00a0${NAME}=${valueOf(eve.cookie)}`

    await call('POST', '/api/auth/sign-out', {}, { cookie: `${planted}; ${ada.cookie}` })

    expect(await accountsOf(ada.cookie)).toBeUndefined()
    expect(await accountsOf(eve.cookie)).toBe(eve.email)
  })
})

describe.each([
  ['https', service],
  ['http', plain],
] as const)('two cookies with one name on %s', (_, where) => {
  const invalid = ['x', 'x.y', '', `token.${'A'.repeat(43)}%3D`, '%E0%A4%A', '"']

  test('authenticate the caller if the first or the last cookie is invalid', async () => {
    const { email, cookie } = await signIn(where)
    const name = cookie.slice(0, cookie.indexOf('='))

    for (const value of invalid)
      for (const pair of [`${name}=${value}; ${cookie}`, `${cookie}; ${name}=${value}`])
        expect(await accountsOf(pair, where)).toBe(email)
  })

  test('authenticate the caller if both cookies are equal', async () => {
    const { email, cookie } = await signIn(where)

    expect(await accountsOf(`${cookie}; ${cookie}`, where)).toBe(email)
    expect(await accountsOf(`${cookie}; ${decodeURIComponent(cookie)}`, where)).toBe(email)
  })

  test('do not authenticate the caller if both cookies are valid and differ', async () => {
    const [ada, eve] = [await signIn(where), await signIn(where)]

    expect(await accountsOf(`${ada.cookie}; ${eve.cookie}`, where)).toBeUndefined()
    expect(await accountsOf(`${eve.cookie}; ${ada.cookie}`, where)).toBeUndefined()
  })
})
