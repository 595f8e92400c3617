import { eq } from 'drizzle-orm'
import { endpoint } from 'tallystick'
import { describe, expect, test, vi } from 'vitest'

import { audit } from '../../db/accounts/audit.ts'
import { visits as visitsTable } from '../library/db.ts'
import { visitsTopic } from '../library/contract.ts'
import { openEvents } from '../fixtures/event-source.ts'
import { rateLimit, startEndpoints } from '../fixtures/endpoints-app.ts'
import { cookiesAfter, createFetch, formType, signInOverHttp } from '../fixtures/http.ts'
import { bearer, registerApp } from '../fixtures/oauth-app.ts'
import { newEmail, settingsWithAddress } from '../fixtures/service.ts'
import { PATIENCE } from '../fixtures/patience.ts'

const ROOT = 'root@example.com'
const TRUSTED = 'https://app.example'
const post = { method: 'POST', rateLimit } as const

const service = await startEndpoints(
  {
    open: endpoint({ ...post, path: '/open', body: 'form' }, ({ context }) =>
      Response.json({ person: context.attributes.person ?? null }),
    ),
    own: endpoint({ ...post, path: '/own', body: 'bytes', access: {} }, ({ context: { user } }) =>
      Response.json({ id: user.id }),
    ),
    read: endpoint({ method: 'GET', rateLimit, path: '/read', access: { scope: 'read' } }, ({ context }) =>
      Response.json({ id: context.user.id, scopes: context.scopes ?? null }),
    ),
    write: endpoint({ ...post, path: '/write', body: 'text', access: { scope: 'write' } }, ({ context }) =>
      Response.json({ id: context.user.id }),
    ),
    admin: endpoint({ ...post, path: '/admin', access: { role: 'admin' } }, () => new Response('done')),
    sensitive: endpoint(
      { ...post, path: '/sensitive', body: 'stream', access: { sensitive: true } },
      async ({ request }) => new Response(await request.text()),
    ),
    audited: endpoint(
      { ...post, path: '/audited/{id}', audit: 'visits.reset' },
      async ({ params, context: { db, announce } }) => {
        await db
          .insert(visitsTable)
          .values({ count: 7 })
          .onConflictDoUpdate({ target: visitsTable.id, set: { count: 7 } })
        announce(visitsTopic)
        if (params.id === 'thrown') throw new Error('no')
        return new Response(null, { status: params.id === 'refused' ? 400 : 204 })
      },
    ),
    limited: endpoint(
      { ...post, path: '/limited', body: 'bytes', rateLimit: { name: 'few', points: 2, duration: 60 } },
      () => new Response('done'),
    ),
    limitedByAccount: endpoint(
      {
        ...post,
        path: '/account',
        access: {},
        rateLimit: { name: 'fewOf', points: 2, duration: 60, perAccount: true },
      },
      () => new Response('done'),
    ),
  },
  {
    ...(await settingsWithAddress()),
    ADMIN_EMAILS: ROOT,
    TRUSTED_ORIGINS: TRUSTED,
    RATE_LIMITS: 'on',
    LIMITS: 'codesByAddress=1000,triesByAddress=1000',
  },
)
const { origin } = service
const { db } = service.services
const call = createFetch(service)
const own = { 'sec-fetch-site': 'same-origin' }

async function signIn(email = newEmail()) {
  const { cookie } = await signInOverHttp(service, email)
  const { body } = await call('GET', '/api/me', undefined, { cookie })
  return { cookie, id: (body as { id: string }).id }
}

async function impersonate() {
  const [root, ada] = [await signIn(ROOT), await signIn()]
  const started = await call(
    'POST',
    '/api/auth/admin/impersonate-user',
    { userId: ada.id },
    { cookie: root.cookie },
  )
  return { root, ada, cookie: cookiesAfter(started, root.cookie) }
}

describe('an endpoint without access', () => {
  test('ignores all credentials', async () => {
    const { cookie } = await signIn()

    for (const headers of [{ cookie }, { authorization: 'Bearer wrong' }, { cookie: 'a=b' }])
      expect(await call('POST', '/open', 'a=b', { ...formType, ...(headers as object) })).toMatchObject({
        status: 200,
        body: { person: null },
      })
  })
})

describe('an endpoint with access', () => {
  test('needs a caller, whose session can end and whose account can be banned', async () => {
    const { cookie, id } = await signIn()
    const root = await signIn(ROOT)

    expect(await call('POST', '/own', 'a', own)).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHORIZED' },
    })
    expect(await call('POST', '/own', 'a', { ...own, cookie })).toMatchObject({ status: 200, body: { id } })
    await call('POST', '/api/auth/admin/ban-user', { userId: id }, { cookie: root.cookie })
    expect((await call('POST', '/own', 'a', { ...own, cookie })).status).toBe(401)
  })

  test('accepts a token with its scope only', async () => {
    const { cookie, id } = await signIn()
    const app = await registerApp(service)
    const token = bearer(await app.obtainTokens(cookie, { scope: 'read' }))

    expect(await call('GET', '/read', undefined, token)).toMatchObject({
      status: 200,
      body: { id, scopes: ['read'] },
    })
    const refused = await call('POST', '/write', 'a', token)
    expect(refused).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } })
    expect(refused.headers.get('www-authenticate')).toContain('insufficient_scope')
    expect(await call('POST', '/own', 'a', token)).toMatchObject({ status: 403 })
    expect((await call('GET', '/read', undefined, { authorization: 'Bearer wrong', cookie })).status).toBe(
      401,
    )
  })

  test('accepts only administrators, if it declares the role', async () => {
    expect(
      (await call('POST', '/admin', undefined, { ...own, cookie: (await signIn()).cookie })).status,
    ).toBe(403)
    expect(
      (await call('POST', '/admin', undefined, { ...own, cookie: (await signIn(ROOT)).cookie })).status,
    ).toBe(200)
  })

  test('refuses an impersonation if it is sensitive, and otherwise records the change', async () => {
    const { cookie, ada, root } = await impersonate()

    expect((await call('POST', '/sensitive', 'a', { ...own, cookie })).status).toBe(403)
    expect(await call('POST', '/own', 'a', { ...own, cookie })).toMatchObject({
      status: 200,
      body: { id: ada.id },
    })
    expect(await db.select().from(audit).where(eq(audit.detail, 'endpoints.own'))).toMatchObject([
      { action: 'impersonation.change', actor: root.id, subject: ada.id, outcome: 'accepted' },
    ])
    expect((await call('POST', '/sensitive', 'a', { ...own, cookie: ada.cookie })).status).toBe(200)
  })
})

describe('a request with a cookie and a body other than JSON', () => {
  const plain = { 'content-type': 'text/plain' }

  test.each<[string, Record<string, string>, number]>([
    ['without Origin', plain, 403],
    ['without Origin and type', { 'content-type': '' }, 403],
    ['of another site', { ...plain, origin: 'https://evil.example' }, 403],
    ['of no site', { ...plain, origin: 'null' }, 403],
    ['of a sibling site', { ...plain, 'sec-fetch-site': 'same-site' }, 403],
    ['of an address bar', { ...plain, 'sec-fetch-site': 'none' }, 403],
    ['of a trusted origin', { ...plain, origin: TRUSTED }, 200],
    ['of the service', { ...plain, origin }, 200],
    ['of a page of the service', { ...plain, ...own }, 200],
    ['as JSON', { 'content-type': 'application/json; charset=utf-8' }, 200],
  ])('is accepted only from a trusted page: %s', async (_, headers, status) => {
    const { cookie } = await signIn()

    expect((await call('POST', '/own', 'a', { ...headers, cookie })).status).toBe(status)
  })

  test('is accepted with a token, which browsers do not add', async () => {
    const { cookie } = await signIn()
    const app = await registerApp(service)
    const token = bearer(await app.obtainTokens(cookie))

    expect((await call('POST', '/write', 'a', { ...plain, ...token, cookie: 'a=b' })).status).toBe(200)
  })
})

describe('the audit trail', () => {
  const entriesOf = (id: string) => db.select().from(audit).where(eq(audit.detail, id))

  test('has an entry of each answered call, and none of a call that was rolled back', async () => {
    const statuses = []
    for (const id of ['accepted', 'refused', 'thrown'])
      statuses.push((await call('POST', `/audited/${id}`)).status)

    expect(statuses).toEqual([204, 400, 500])
    expect(await entriesOf('accepted')).toMatchObject([
      { action: 'visits.reset', outcome: 'accepted', actor: null },
    ])
    expect(await entriesOf('refused')).toMatchObject([{ action: 'visits.reset', outcome: 'refused' }])
    expect(await entriesOf('thrown')).toEqual([])
  })
})

test('an announcement of a handler reaches open streams', async () => {
  const events = await openEvents(origin, '/api/live?topics=visits')

  await call('POST', '/audited/announced')

  await vi.waitFor(() => {
    expect(events.stateOf('visits')).toMatchObject({ count: 7 })
  }, PATIENCE)
  events.close()
})

describe('a rate limit', () => {
  test('counts by network before the body has arrived', async () => {
    for (let count = 0; count < 2; count++) expect((await call('POST', '/limited', 'a')).status).toBe(200)
    const endless = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new Uint8Array(1))
      },
    })

    const refused = await fetch(`${origin}/limited`, { method: 'POST', body: endless, duplex: 'half' })

    expect(refused.status).toBe(429)
    expect(refused.headers.get('ratelimit-policy')).toBe('"few";q=2;w=60')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('counts by account', async () => {
    const [ada, bob] = [await signIn(), await signIn()]
    const ask = async ({ cookie }: { cookie: string }) =>
      (await call('POST', '/account', undefined, { ...own, cookie })).status

    expect([await ask(ada), await ask(ada), await ask(ada), await ask(bob)]).toEqual([200, 200, 429, 200])
  })
})
