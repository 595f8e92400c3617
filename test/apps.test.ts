import { describe, expect, test } from 'vitest'

import { OPERATOR } from '../engine/db/accounts/audit.ts'
import * as grants from '../engine/db/accounts/grants.ts'
import { createFetch, signInOverHttp } from '../engine/test/fixtures/http.ts'
import { bearer, redirectUri, registerApp } from '../engine/test/fixtures/oauth-app.ts'
import { describeTransports, newEmail, settingsWithAddress, startService } from './fixtures/service.ts'

const service = await startService(await settingsWithAddress())
const call = createFetch(service)

/** Signs in a person who grants the scope `read` to an app. */
async function grantAccess() {
  const email = newEmail()
  const { cookie } = await signInOverHttp(service, email)
  const app = await registerApp(service)
  const tokens = await app.obtainTokens(cookie, { scope: 'read' })
  return { email, cookie, app, tokens }
}

describeTransports(service, ({ person }) => {
  test('apps.list is empty for a new account', async () => {
    expect(await (await person()).apps.list()).toEqual({ apps: [], appCount: 0 })
  })

  test('apps.list returns the granted apps, which also stay among the sessions', async () => {
    const { email, app } = await grantAccess()
    const ada = await person(email)

    const { apps, appCount } = await ada.apps.list()

    expect(appCount).toBe(1)
    expect(apps).toEqual([
      {
        id: expect.any(String) as string,
        clientId: app.id,
        name: 'An app',
        hosts: ['127.0.0.1:9'],
        scopes: ['read'],
        lastActive: expect.any(Number) as number,
        createdAt: expect.any(Number) as number,
        expiresAt: expect.any(Number) as number,
      },
    ])
    const { sessions } = await ada.sessions.list()
    expect(sessions.map(({ id }) => id)).toContain(apps[0]?.id)
  })

  test.each([
    [
      'the hosts of its redirect URIs',
      ['https://b.example/1', 'https://b.example/2', redirectUri],
      ['b.example', '127.0.0.1:9'],
    ],
    ['its private scheme', ['com.example.app:/callback', redirectUri], ['com.example.app:', '127.0.0.1:9']],
  ])('apps.list describes an app by %s', async (_, redirectUris, hosts) => {
    const email = newEmail()
    const { cookie } = await signInOverHttp(service, email)
    await (await registerApp(service, { redirect_uris: redirectUris })).obtainTokens(cookie)

    const { apps } = await (await person(email)).apps.list()

    expect(apps[0]?.hosts).toEqual(hosts)
  })

  test('apps.list describes an app with a metadata document by the host of the document', async () => {
    const email = newEmail()
    const ada = await person(email)
    const { id: userId } = await ada.account.get()
    const clientId = 'https://app.example/client.json'
    const app = {
      userId,
      clientId,
      scope: 'read',
      userAgent: 'App',
      expiresAt: new Date(Date.now() + 60_000),
    }
    await grants.insert(service.services.db, app, OPERATOR)

    expect((await ada.apps.list()).apps).toMatchObject([{ clientId, name: 'App', hosts: ['app.example'] }])
  })

  test('apps.list has pages', async () => {
    const { email, cookie } = await grantAccess()
    await (await registerApp(service)).obtainTokens(cookie)
    const ada = await person(email)
    const reply = new Map<string, string | string[]>()

    const { apps, appCount } = await ada.apps.list({ limit: 1 }, { context: { reply } })

    expect(apps).toHaveLength(1)
    expect(appCount).toBe(2)
    expect(String(reply.get('link'))).toMatch(/^<\/api\/apps\?limit=1&cursor=.+>; rel="next"$/)
  })

  test('apps.revoke ends the access of the app at once', async () => {
    const { email, tokens } = await grantAccess()
    const ada = await person(email)
    const [app] = (await ada.apps.list()).apps
    expect((await call('GET', '/api/tasks', undefined, bearer(tokens))).status).toBe(200)

    expect(await ada.apps.revoke({ id: app?.id ?? '' })).toEqual({ success: true })

    expect((await call('GET', '/api/tasks', undefined, bearer(tokens))).status).toBe(401)
    expect(await ada.apps.list()).toEqual({ apps: [], appCount: 0 })
    await expect(ada.apps.revoke({ id: app?.id ?? '' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('apps.revoke ends neither a session nor a grant of another person', async () => {
    const { email, tokens } = await grantAccess()
    const [ada, bob] = [await person(email), await person()]
    const [app] = (await ada.apps.list()).apps
    const { sessions } = await bob.sessions.list()

    for (const id of [app?.id ?? '', sessions[0]?.id ?? '', 'x'])
      await expect(bob.apps.revoke({ id })).rejects.toMatchObject({ code: 'NOT_FOUND', status: 404 })

    expect((await call('GET', '/api/tasks', undefined, bearer(tokens))).status).toBe(200)
    expect(await bob.account.get()).toBeDefined()
  })

  test('sessions.revokeOthers ends all other devices, but no app', async () => {
    const { email, tokens } = await grantAccess()
    const [here, there, stranger] = [await person(email), await person(email), await person()]

    // The session with which the person has granted access, and `there`.
    expect(await here.sessions.revokeOthers()).toEqual({ revokedCount: 2 })

    await expect(there.account.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect(await here.sessions.revokeOthers()).toEqual({ revokedCount: 0 })
    expect((await here.sessions.list()).sessionCount).toBe(2)
    expect((await call('GET', '/api/tasks', undefined, bearer(tokens))).status).toBe(200)
    expect(await stranger.account.get()).toBeDefined()
  })
})

describe('an access token', () => {
  test.each([
    ['GET', '/api/apps'],
    ['POST', '/api/apps/revoke'],
    ['POST', '/api/sessions/revoke-others'],
    ['GET', '/api/audit'],
  ])('gives no access to %s %s', async (method, path) => {
    const { tokens } = await grantAccess()

    const answer = await call(method, path, method === 'POST' ? {} : undefined, bearer(tokens))

    expect(answer).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } })
  })
})
