import { eq, sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { lockPerson } from '../engine/db/accounts/users.ts'
import { sessions } from '../engine/db/accounts/sessions.ts'
import { createFetch, signInOverHttp } from '../engine/test/fixtures/http.ts'
import { rpc } from '../engine/test/fixtures/mcp-agent.ts'
import { describeTransports, newEmail, settingsWithAddress, startService } from './fixtures/service.ts'

const service = await startService(await settingsWithAddress())
const call = createFetch(service)
const DAY = 24 * 3600

const script = { label: 'Backup script', scopes: ['read' as const] }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const list = (token: string) => call('GET', '/api/tasks', undefined, bearer(token))
const write = (token: string) => call('POST', '/api/tasks', { taskTitle: 'By token' }, bearer(token))
const callTool = (token: string) =>
  call('POST', '/mcp', rpc('tools/call', { name: 'tasks_list', arguments: {} }), bearer(token))
const createPerson = async () => {
  const { cookie } = await signInOverHttp(service, newEmail())
  return { cookie, client: service.client({ cookie }) }
}

describeTransports(service, ({ person }) => {
  test('tokens.create returns a token, which apps.list contains under its label', async () => {
    const ada = await person()

    const { id, token, expiresAt } = await ada.tokens.create({ ...script, label: '  Backup script ' })

    expect(token).toMatch(/^tally_[\w-]{43}$/)
    expect(expiresAt - Date.now() / 1000).toBeCloseTo(90 * DAY, -2)
    expect(await ada.apps.list()).toEqual({
      apps: [
        {
          id,
          clientId: 'token',
          name: 'Backup script',
          hosts: [],
          scopes: ['read'],
          lastActive: expect.any(Number) as number,
          createdAt: expect.any(Number) as number,
          expiresAt,
        },
      ],
      appCount: 1,
    })
    expect(JSON.stringify([await ada.apps.list(), await ada.sessions.list()])).not.toContain(token)
  })

  test.each([
    { label: '' },
    { label: ' \u200b' },
    { label: 'x'.repeat(121) },
    { scopes: [] },
    { scopes: ['admin'] },
    { scopes: ['read', 'read', 'read'] },
    { days: 0 },
    { days: 366 },
    { days: 1.5 },
    { audience: 'other' },
  ])('tokens.create rejects %j', async (input) => {
    const ada = await person()

    await expect(ada.tokens.create({ ...script, ...input } as never)).rejects.toMatchObject({ status: 400 })
  })
})

describe('a personal token', () => {
  test('calls within its scopes', async () => {
    const { client } = await createPerson()
    const reader = await client.tokens.create(script)
    const writer = await client.tokens.create({ ...script, scopes: ['write'] })
    const both = await client.tokens.create({ ...script, scopes: ['write', 'read'] })

    expect((await list(reader.token)).status).toBe(200)
    expect(await write(reader.token)).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } })
    expect((await write(writer.token)).status).toBe(200)
    expect((await list(writer.token)).status).toBe(403)
    expect(await list(both.token)).toMatchObject({ status: 200, body: { taskCount: 1 } })
  })

  test('calls only its audience', async () => {
    const { client } = await createPerson()
    const forService = await client.tokens.create(script)
    const forAgents = await client.tokens.create({ ...script, audience: 'mcp' })

    expect((await callTool(forAgents.token)).status).toBe(200)
    expect((await list(forAgents.token)).status).toBe(401)
    expect((await callTool(forService.token)).status).toBe(401)
  })

  test.each([
    ['GET', '/api/apps'],
    ['POST', '/api/apps/revoke'],
    ['POST', '/api/tokens'],
    ['GET', '/api/sessions'],
    ['GET', '/api/me/export'],
  ])('is no session: %s %s', async (method, path) => {
    const { client } = await createPerson()
    const { token } = await client.tokens.create({ ...script, scopes: ['read', 'write'] })

    expect(await call(method, path, method === 'POST' ? {} : undefined, bearer(token))).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_SCOPE' },
    })
  })

  test.each([
    ['is changed', (token: string) => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
    ['is shortened', (token: string) => token.slice(0, -1)],
    ['has another prefix', (token: string) => token.replace('tally_', 'other_')],
  ])('is refused if it %s', async (_, change) => {
    const { client } = await createPerson()
    const { token } = await client.tokens.create(script)

    expect((await list(change(token))).status).toBe(401)
  })

  test('is refused after its revocation, and by the digest in the database', async () => {
    const { client } = await createPerson()
    const { id, token } = await client.tokens.create(script)
    const [row] = await service.services.db.select().from(sessions).where(eq(sessions.id, id))

    expect((await list(row?.token ?? '')).status).toBe(401)
    expect(
      (await call('GET', '/api/tasks', undefined, { cookie: `tallystick.session_token=${row?.token}` }))
        .status,
    ).toBe(401)
    expect(JSON.stringify(row)).not.toContain(token)
    expect((await list(token)).status).toBe(200)

    await client.apps.revoke({ id })

    expect((await list(token)).status).toBe(401)
  })

  test('is revoked at /revoke', async () => {
    const { client } = await createPerson()
    const { token } = await client.tokens.create(script)

    const answer = await fetch(`${service.origin}/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token }),
    })

    expect(answer.status).toBe(200)
    expect((await list(token)).status).toBe(401)
  })

  test('is refused after it expires', async () => {
    const { client } = await createPerson()
    const { id, token } = await client.tokens.create(script)
    await service.services.db
      .update(sessions)
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .where(eq(sessions.id, id))

    expect((await list(token)).status).toBe(401)
  })

  test('has entries in the audit trail for its creation and its revocation', async () => {
    const { client } = await createPerson()
    const { id } = await client.tokens.create({ ...script, audience: 'mcp' })
    await client.apps.revoke({ id })

    const { audit } = await client.account.export()

    expect(audit.map(({ action, detail }) => [action, detail])).toEqual(
      expect.arrayContaining([
        ['grant.create', 'token:/mcp'],
        ['grant.revoke', 'token:/mcp'],
      ]),
    )
  })
})

test.each([
  ['https://trusted.example', 403],
  ['null', 403],
  [service.origin, 200],
])(
  'tokens.create, sent by a page of the origin %s with a cookie, is answered with %i',
  async (origin, status) => {
    const { cookie } = await createPerson()
    const trusting = await startService({
      ...(await settingsWithAddress()),
      TRUSTED_ORIGINS: 'https://trusted.example',
    })
    const at = origin === service.origin ? service : trusting
    const session = at === service ? cookie : (await signInOverHttp(trusting, newEmail())).cookie

    const answer = await createFetch(at)('POST', '/api/tokens', script, { cookie: session, origin })

    expect(answer.status).toBe(status)
  },
)

test('a call of a batch cannot replace the origin of the page', async () => {
  const trusting = await startService({
    ...(await settingsWithAddress()),
    TRUSTED_ORIGINS: 'https://trusted.example',
  })
  const { cookie } = await signInOverHttp(trusting, newEmail())
  const item = {
    method: 'POST',
    url: `${trusting.origin}/rpc/tokens/create`,
    headers: { origin: trusting.origin },
    body: { json: script },
  }

  const answer = await fetch(`${trusting.origin}/rpc/__batch__`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-orpc-batch': 'buffered',
      origin: 'https://trusted.example',
      cookie,
    },
    body: JSON.stringify([item]),
  })

  expect(answer.status).toBe(207)
  const text = await answer.text()
  expect(text).toContain('FORBIDDEN')
  expect(text).not.toContain('tally_')
})

test('a token is not created in a session that ends at the same time', async () => {
  const { cookie, client } = await createPerson()
  const { id } = await client.account.get()
  const { db } = service.services
  const creation = await db.transaction(async (tx) => {
    await lockPerson(tx, id)
    const created = service.client({ cookie }).tokens.create(script)
    const outcome = created.catch((error: unknown) => error)
    const isWaiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await expect.poll(async () => ((await db.execute(isWaiting)) as unknown[]).length).toBe(1)
    await tx.delete(sessions).where(eq(sessions.userId, id))
    return () => outcome
  })

  expect(await creation()).toMatchObject({ code: 'UNAUTHORIZED' })
  expect(await db.$count(sessions, eq(sessions.userId, id))).toBe(0)
})

test('tokens.create counts against the rate limit of grants, and answers without compression', async () => {
  const limited = await startService({ RATE_LIMITS: 'on', LIMITS: 'grants=2' })
  const { cookie } = await signInOverHttp(limited, newEmail())
  const create = () =>
    createFetch(limited)('POST', '/api/tokens', script, { cookie, 'accept-encoding': 'br' })

  const answers = [await create(), await create(), await create()]

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
  expect(answers[0]?.headers.get('cache-control')).toContain('no-transform')
  expect(answers[0]?.headers.get('content-encoding')).toBeNull()
})
