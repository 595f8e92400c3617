import { eq } from 'drizzle-orm'
import { afterAll, describe, expect, test } from 'vitest'

import type { Client } from '../contract/client.ts'
import { sessions } from '../engine/db/accounts/sessions.ts'
import { createTallystick } from '../src/testing.ts'
import { createFetch, signInOverHttp } from '../engine/test/fixtures/http.ts'
import { PATIENCE } from '../engine/test/fixtures/patience.ts'
import { describeTransports, newEmail, startService, transports } from './fixtures/service.ts'

const service = await startService()
const { db, settings } = service.services
const other = await createTallystick({
  DATABASE_URL: service.databaseUrl,
  AUTH_SECRET: settings.authSecret,
})
afterAll(() => other.close())

const agents = {
  iPhone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  chrome:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  firefox: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0',
}

const unauthorized = { code: 'UNAUTHORIZED', defined: true, status: 401, message: 'Sign in first' }
const unknown = {
  code: 'SESSION_NOT_FOUND',
  defined: true,
  status: 400,
  message: 'Session not found or already revoked',
}

async function tokenOf(client: Client) {
  const { sessions } = await client.sessions.list()
  return sessions.find(({ isCurrent }) => isCurrent)?.token ?? ''
}

const setRow = (token: string, values: Partial<typeof sessions.$inferInsert>) =>
  db.update(sessions).set(values).where(eq(sessions.token, token))

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

describeTransports(service, ({ person, stranger }) => {
  describe('sessions.list', () => {
    test('returns the one session of a new account', async () => {
      const ada = await person()

      const { sessions, sessionCount } = await ada.sessions.list()

      expect(sessionCount).toBe(1)
      expect(sessions).toEqual([
        {
          id: expect.stringMatching(/./),
          token: expect.stringMatching(/^.{32}$/),
          ipAddress: null,
          userAgent: null,
          browser: 'Unknown',
          os: 'Unknown',
          lastActive: expect.any(Number),
          createdAt: expect.any(Number),
          isCurrent: true,
        },
      ])
      for (const { createdAt, lastActive } of sessions) {
        expect(Math.abs(createdAt - Date.now() / 1000)).toBeLessThan(30)
        expect(lastActive).toBe(createdAt)
      }
    })

    test('returns the same three sessions to every device, each with its own session as the current one', async () => {
      const email = newEmail()
      const devices = [await person(email), await person(email), await person(email)]
      await person()

      const lists = await Promise.all(devices.map((device) => device.sessions.list()))

      const tokens = await Promise.all(devices.map(tokenOf))
      expect(new Set(tokens).size).toBe(3)
      for (const [index, { sessions, sessionCount }] of lists.entries()) {
        expect(sessionCount).toBe(3)
        expect(sessions.map(({ token }) => token)).toEqual(tokens.toReversed())
        expect(sessions.filter(({ isCurrent }) => isCurrent)).toMatchObject([{ token: tokens[index] }])
      }
    })

    test('sorts by the last activity, which each call updates', async () => {
      const email = newEmail()
      const [first, second, third] = [await person(email), await person(email), await person(email)]
      const tokens = [await tokenOf(first), await tokenOf(second), await tokenOf(third)] as const
      for (const [index, token] of tokens.entries()) await setRow(token, { updatedAt: minutesAgo(9 - index) })

      await first.account.get()

      await expect
        .poll(async () => (await first.sessions.list()).sessions.map(({ token }) => token), PATIENCE)
        .toEqual([tokens[0], tokens[2], tokens[1]])
      const { sessions } = await first.sessions.list()
      const ages = sessions.map(({ lastActive }) => Math.round((Date.now() / 1000 - lastActive) / 60))
      expect(ages).toEqual([0, 7, 8])
    })

    test.each([
      [agents.iPhone, 'Safari', 'iOS'],
      [agents.chrome, 'Chrome', 'Linux'],
      [agents.firefox, 'Firefox', 'Windows'],
      ['curious/1.0', expect.any(String), 'Unknown'],
      ['', 'Unknown', 'Unknown'],
    ])('returns the browser and the operating system of %j', async (userAgent, browser, os) => {
      const email = newEmail()
      await signInOverHttp(service, email, { 'user-agent': userAgent })
      const ada = await person(email)

      const { sessions } = await ada.sessions.list()

      expect(sessions.filter(({ isCurrent }) => !isCurrent)).toEqual([
        expect.objectContaining({ ipAddress: '127.0.0.1', userAgent: userAgent || null, browser, os }),
      ])
    })

    test('omits expired sessions, which are rejected', async () => {
      const email = newEmail()
      const [ada, gone] = [await person(email), await person(email)]
      const token = await tokenOf(gone)
      await setRow(token, { expiresAt: minutesAgo(1) })

      expect(await ada.sessions.list()).toMatchObject({ sessions: [{ isCurrent: true }], sessionCount: 1 })
      await expect(gone.account.get()).rejects.toMatchObject(unauthorized)
      await expect(ada.sessions.revoke({ revokeSessionToken: token })).rejects.toMatchObject(unknown)
    })
  })

  describe('sessions.revoke', () => {
    test('ends another device’s session immediately, on every instance', async () => {
      const email = newEmail()
      const ada = await person(email)
      const cookie = await service.signIn(email)
      const instances = [service.client({ cookie }), other.client({ cookie })] as const
      await Promise.all(instances.map((lost) => lost.account.get()))

      const answer = await ada.sessions.revoke({ revokeSessionToken: await tokenOf(instances[0]) })

      expect(answer).toEqual({ success: true })
      for (const lost of instances) await expect(lost.account.get()).rejects.toMatchObject(unauthorized)
      expect(await ada.sessions.list()).toMatchObject({ sessions: [{ isCurrent: true }], sessionCount: 1 })
    })

    test('rejects the current session, which stays valid', async () => {
      const ada = await person()
      const revokeSessionToken = await tokenOf(ada)

      await expect(ada.sessions.revoke({ revokeSessionToken })).rejects.toMatchObject({
        code: 'CURRENT_SESSION',
        defined: true,
        status: 400,
        message: 'The current session cannot be revoked; sign out instead',
      })

      expect(await tokenOf(ada)).toBe(revokeSessionToken)
    })

    test('returns the same for unknown and revoked sessions and sessions of other people, which stay valid', async () => {
      const email = newEmail()
      const [ada, revoked, bob] = [await person(email), await person(email), await person()]
      const tokens = ['unknown', await tokenOf(revoked), await tokenOf(bob)] as const
      await ada.sessions.revoke({ revokeSessionToken: tokens[1] })

      for (const revokeSessionToken of tokens)
        await expect(ada.sessions.revoke({ revokeSessionToken })).rejects.toMatchObject(unknown)

      expect(await tokenOf(bob)).toBe(tokens[2])
    })

    test.each(['', 'a\0', 5, undefined])('rejects the token %j', async (revokeSessionToken) => {
      const ada = await person()

      await expect(ada.sessions.revoke({ revokeSessionToken } as never)).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        defined: false,
        status: 400,
        data: { issues: [{ path: 'revokeSessionToken', message: expect.any(String) }] },
      })
    })
  })

  describe('sessions', () => {
    test('check authentication first', async () => {
      await expect(stranger.sessions.list()).rejects.toMatchObject(unauthorized)
      await expect(stranger.sessions.revoke({ revokeSessionToken: '' })).rejects.toMatchObject(unauthorized)
    })
  })
})

describe.each(transports)('%s', (_, connect) => {
  describe('sessions.list', () => {
    test.each([
      ['the raw token', (token: string) => token],
      ['an empty signature', (token: string) => `${token}.`],
      ['a forged signature', (token: string) => `${token}.${Buffer.alloc(32, 1).toString('base64')}`],
      ['another’s signature', (token: string, signature: string) => `${token}.${signature}`],
    ])('rejects %s', async (_, forge) => {
      const [cookie, foreign] = [await service.signIn(newEmail()), await service.signIn(newEmail())]
      const token = await tokenOf(connect(service, { cookie }))
      const [name] = cookie.split('=')
      const [, signature = ''] = decodeURIComponent(foreign).split('.').slice(-2)

      const forged = connect(service, { cookie: `${name}=${encodeURIComponent(forge(token, signature))}` })

      await expect(forged.sessions.list()).rejects.toMatchObject(unauthorized)
    })
  })
})

describe('POST /api/sessions/revoke', () => {
  test('returns the documented error', async () => {
    const cookie = await service.signIn(newEmail())

    const { status, body } = await createFetch(service)(
      'POST',
      '/api/sessions/revoke',
      { revokeSessionToken: await tokenOf(service.client({ cookie })) },
      { cookie },
    )

    expect(status).toBe(400)
    expect(body).toEqual({
      defined: true,
      code: 'CURRENT_SESSION',
      status: 400,
      message: 'The current session cannot be revoked; sign out instead',
      error: 'The current session cannot be revoked; sign out instead',
    })
  })
})
