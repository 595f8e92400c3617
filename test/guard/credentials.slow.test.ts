import { traverseContractProcedures } from '@orpc/server'
import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { metaOf } from '../../engine/contract/meta.ts'
import { ORPCError } from '../../contract/client.ts'
import { contract } from '../../contract/index.ts'
import { users } from '../../engine/db/accounts/users.ts'
import { createFetch, signInOverHttp } from '../../engine/test/fixtures/http.ts'
import { bearer, registerApp } from '../../engine/test/fixtures/oauth-app.ts'
import { newEmail, settingsWithAddress, startService, transports } from '../fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ ...(await settingsWithAddress()), ADMIN_EMAILS: ROOT })
const call = createFetch(service)

const invalidTokens = ['Bearer x', 'bearer a.b.c', 'Bearer', 'Bearer x y']
const otherSchemes = ['Basic dTpw', 'Digest username="x"', 'Bearers x', 'Bearer-like x', 'x', ' ', '']
const staleCookie = 'better-auth.session_token=stale.stale'

const publicProcedures: (readonly string[])[] = []
traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
  if (metaOf(procedure).access === 'public') publicProcedures.push(path)
})

/** Calls a procedure. Returns the result or the error as JSON, without values that differ between calls. */
async function outcomeOf(client: object, path: readonly string[], input: unknown) {
  const procedure = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], client)
  const outcome = await (procedure as (input: unknown) => Promise<object>)(input).catch((error: unknown) =>
    error instanceof ORPCError ? (error.toJSON() as object) : Promise.reject(error as Error),
  )
  return JSON.stringify(outcome, (key, value: unknown) =>
    /^(count|html|renderedAt)$/.test(key) ? null : value,
  )
}

describe('a public procedure', () => {
  describe.each(transports)('%s', (_, connect) => {
    test.each(publicProcedures.map((path) => [path.join('.'), path] as const))(
      '%s ignores credentials',
      async (_, path) => {
        for (const input of [{ inputValue: 1, name: 'Ada', guests: 2 }, { name: 5 }]) {
          const expected = await outcomeOf(connect(service, {}), path, input)
          for (const authorization of [...invalidTokens, ...otherSchemes])
            for (const cookie of [undefined, staleCookie]) {
              const headers = { authorization, ...(cookie && { cookie }) }
              expect(await outcomeOf(connect(service, headers), path, input)).toBe(expected)
            }
        }
      },
    )
  })

  test('sends events to a hypermedia page whatever the credentials', async () => {
    for (const authorization of [...invalidTokens, ...otherSchemes]) {
      const headers = { 'datastar-request': 'true', authorization, cookie: staleCookie }
      const answer = await call('GET', '/api/counter/fragment', undefined, headers)

      expect(answer.status).toBe(200)
      expect(answer.body).toContain('datastar-patch-elements')
    }
  })

  test.each(['/api/status', '/api/counter', '/api/health/live', '/.well-known/oauth-protected-resource'])(
    'sends no challenge: GET %s',
    async (path) => {
      for (const authorization of [...invalidTokens, ...otherSchemes]) {
        const { status, headers } = await call('GET', path, undefined, { authorization })

        expect([status, headers.get('www-authenticate')]).toEqual([200, null])
      }
    },
  )
})

describe('sign-in and sign-out', () => {
  test('work whatever the Authorization header and the cookie contain', async () => {
    for (const authorization of [...invalidTokens, ...otherSchemes]) {
      const email = newEmail()
      const { cookie, response } = await signInOverHttp(service, email, {
        authorization,
        cookie: staleCookie,
      })
      expect(response.status).toBe(200)

      const session = await call('GET', '/api/auth/get-session', undefined, { authorization, cookie })
      expect(session).toMatchObject({ status: 200, body: { user: { email } } })

      const out = await call('POST', '/api/auth/sign-out', {}, { authorization, cookie })
      expect(out).toMatchObject({ status: 200, body: { success: true } })
      expect(await call('GET', '/api/auth/get-session', undefined, { cookie })).toMatchObject({ body: null })
    }
  })

  test('return no session and no error for a stale cookie', async () => {
    for (const authorization of ['', 'Bearer x'])
      expect(
        await call('GET', '/api/auth/get-session', undefined, { cookie: staleCookie, authorization }),
      ).toMatchObject({
        status: 200,
        body: null,
      })
  })
})

describe('an Authorization header with a scheme other than Bearer', () => {
  const guarded = [
    ['GET', '/api/me', undefined],
    ['GET', '/api/tasks', undefined],
    ['POST', '/rpc/account/get', {}],
    ['GET', '/api/auth/admin/list-users', undefined],
    ['POST', '/api/auth/update-user', { name: 'Root' }],
  ] as const

  test.each(guarded)(
    'is ignored, so that the cookie authenticates the caller: %s %s',
    async (method, path, body) => {
      const { cookie } = await signInOverHttp(service, ROOT)
      for (const authorization of otherSchemes) {
        expect((await call(method, path, body, { authorization, cookie })).status).toBe(200)
        expect((await call(method, path, body, { authorization })).status).toBe(401)
      }
    },
  )

  test.each(guarded)(
    'differs from an invalid Bearer token, which is rejected even with a valid cookie: %s %s',
    async (method, path, body) => {
      const { cookie } = await signInOverHttp(service, ROOT)
      for (const authorization of invalidTokens)
        expect((await call(method, path, body, { authorization, cookie })).status).toBe(401)
    },
  )

  test('does not cause the error “invalid_token”', async () => {
    const challenge = async (authorization: string) =>
      (await call('GET', '/api/me', undefined, { authorization })).headers.get('www-authenticate')

    expect(await challenge('Basic dTpw')).not.toContain('error=')
    expect(await challenge('Bearer x')).toContain('error="invalid_token"')
  })
})

describe('a banned user', () => {
  test('is rejected even if a session or grant still exists', async () => {
    const email = newEmail()
    const { cookie } = await signInOverHttp(service, email)
    const app = await registerApp(service)
    const tokens = await app.obtainTokens(cookie)
    const forMcp = await app.obtainTokens(cookie, { resource: `${service.origin}/mcp` })
    // Bans the user with SQL, because a ban by an administrator also deletes the sessions and grants. Without SQL, this
    // state can occur if the user signs in while an administrator bans the user.
    await service.services.db.update(users).set({ banned: true }).where(eq(users.email, email))

    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const answers = [
      await call('GET', '/api/me', undefined, { cookie }),
      await call('GET', '/api/me', undefined, bearer(tokens)),
      await call('POST', '/rpc/tasks/list', {}, { cookie }),
      await call('GET', '/api/notes', undefined, { cookie, 'datastar-request': 'true' }),
      await call('POST', '/api/auth/update-user', { name: 'Ada' }, { cookie }),
      await call('POST', '/mcp', list, bearer(forMcp)),
    ]

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401])
    await expect(service.client({ cookie }).account.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect((await call('GET', '/api/auth/get-session', undefined, { cookie })).body).toBeNull()
    expect(await (await fetch(app.authorizationUrl(), { headers: { cookie } })).text()).toContain(
      'name="email"',
    )
  })
})
