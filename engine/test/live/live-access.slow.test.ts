import { eq, sql } from 'drizzle-orm'
import { afterAll, describe, expect, test, vi } from 'vitest'

import { sessions } from '../../db/accounts/sessions.ts'
import { users } from '../../db/accounts/users.ts'
import {
  createDatabase,
  createTallystick,
  newEmail,
  startService,
  transports,
  watch,
} from '../fixtures/help-desk.ts'
import { createFetch, sessionTokenIn } from '../fixtures/http.ts'
import { accept, requestByRevision2026 } from '../fixtures/mcp-agent.ts'
import { PATIENCE } from '../fixtures/patience.ts'

const database = await createDatabase()
afterAll(database.drop)
const shared = { DATABASE_URL: database.url, AUTH_SECRET: 'x'.repeat(40) }
const service = await startService(shared)
/** Another instance. Its announcements arrive by PostgreSQL. */
const other = await createTallystick(shared)
afterAll(() => other.close())
const { db } = service.services
const call = createFetch(service)

type Topic = 'administrators' | 'inPerson' | 'writers'

const setRole = (email: string, role: string) => db.update(users).set({ role }).where(eq(users.email, email))

/** Signs in as a new administrator. */
async function administrator() {
  const email = newEmail()
  const cookie = await service.signIn(email)
  await setRole(email, 'admin')
  return { email, cookie, client: service.client({ cookie }) }
}

/** Creates an access token of the person with a cookie. */
async function createToken(cookie: string, audience: 'service' | 'mcp' = 'service') {
  const input = { label: 'Script', scopes: ['read' as const], audience }
  const { token } = await service.client({ cookie }).tokens.create(input)
  return { authorization: `Bearer ${token}` }
}

/** Signs in as a person, in a session in which the administrator acts as the person. */
async function impersonate(email: string, adminCookie: string) {
  const cookie = await service.signIn(email)
  const [own] = await db
    .select()
    .from(sessions)
    .where(eq(sessions.token, sessionTokenIn(adminCookie)))
  await db
    .update(sessions)
    .set({ impersonatedBy: own?.userId, administratorSessionId: own?.id })
    .where(eq(sessions.token, sessionTokenIn(cookie)))
  return cookie
}

const forbidden = { code: 'FORBIDDEN', status: 403 }
const insufficient = { code: 'INSUFFICIENT_SCOPE', status: 403 }

describe.each(transports)('live.watch %s', (_, connect) => {
  const client = (headers: Record<string, string>) => connect(service, headers)
  const open = (headers: Record<string, string>, topic: Topic) =>
    client(headers).live.watch({ topics: [topic] })

  test('refuses a person without the role of the reader', async () => {
    const email = newEmail()
    const cookie = await service.signIn(email)

    await expect(open({ cookie }, 'administrators')).rejects.toMatchObject({
      ...forbidden,
      message: 'Only administrators may do this, and not during an impersonation',
    })
  })

  test('refuses a token without the scope of the reader, while the page of the same person watches', async () => {
    const { cookie } = await administrator()
    const token = await createToken(cookie)
    const topics: Topic[] = ['administrators', 'inPerson', 'writers']
    const page = await watch(client({ cookie }), { topics })
    await vi.waitUntil(() => page.states.length === topics.length, PATIENCE)

    await expect(open(token, 'writers')).rejects.toMatchObject(insufficient)
    await expect(open(token, 'inPerson')).rejects.toMatchObject(insufficient)
    await expect(open(token, 'administrators')).resolves.toBeDefined()
  })

  test('refuses an administrator who acts as a person, while the person watches', async () => {
    const email = newEmail()
    const cookie = await service.signIn(email)
    const page = await watch(client({ cookie }), { topics: ['inPerson'] })
    await vi.waitUntil(() => page.states.length > 0, PATIENCE)
    const impersonation = await impersonate(email, (await administrator()).cookie)

    await expect(open({ cookie: impersonation }, 'inPerson')).rejects.toMatchObject({
      ...forbidden,
      message: 'Not permitted during an impersonation',
    })
  })

  test('ends with 403 when the person loses the role, before a further state', async () => {
    const { email, cookie, client: administrators } = await administrator()
    const watched = await watch(client({ cookie }), { topics: ['administrators'] })
    await vi.waitUntil(() => watched.states.length === 1, PATIENCE)

    await setRole(email, 'user')
    await administrators.entries.add({ text: 'Secret' })

    expect(await watched.end()).toMatchObject(forbidden)
    expect(watched.states).toHaveLength(1)
  })

  test('ends with 403 when the token loses the scope, before a further state', async () => {
    const { cookie } = await administrator()
    const token = await createToken(cookie)
    const watched = await watch(client(token), { topics: ['administrators'] })
    await vi.waitUntil(() => watched.states.length === 1, PATIENCE)

    await db
      .update(sessions)
      .set({ scope: 'write' })
      .where(sql`${sessions.userAgent} = 'Script'`)
    await service.client({ cookie }).entries.add({ text: 'Secret' })

    expect(await watched.end()).toMatchObject(insufficient)
    expect(watched.states).toHaveLength(1)
  })
})

test('an app, an administrator who acts as the person, and the page have states of their own', async () => {
  const email = newEmail()
  const cookie = await service.signIn(email)
  const token = await createToken(cookie)
  const impersonation = await impersonate(email, (await administrator()).cookie)

  for (const [headers, seenBy] of [
    [{ cookie }, ' in person'],
    [token, 'read in person'],
    [{ cookie: impersonation }, ' as another'],
  ] as const) {
    const watched = await watch(service.client(headers), { topics: ['principals'] })
    await watched.waitFor({ seenBy })
  }
})

test('a stream on another instance ends with 403 when the person loses the role', async () => {
  const { email, cookie } = await administrator()
  const watched = await watch(other.client({ cookie }), { topics: ['administrators'] })
  await vi.waitUntil(() => watched.states.length > 0, PATIENCE)

  await setRole(email, 'user')

  expect(await watched.end()).toMatchObject(forbidden)
})

test('a stream returns no state after the error', async () => {
  const { email, cookie, client } = await administrator()
  const events = await service.client({ cookie }).live.watch({ topics: ['administrators'] })
  await events.next()
  await setRole(email, 'user')
  await client.entries.add({ text: 'Secret' })

  await expect(events.next()).rejects.toMatchObject(forbidden)

  expect(await events.next()).toMatchObject({ done: true })
})

test('a stream ends when the principal changes, because its states belong to the previous principal', async () => {
  const { client } = await administrator()
  const watched = await watch(client, { topics: ['inPerson'] })
  await vi.waitUntil(() => watched.states.length === 1, PATIENCE)
  const { email } = await client.account.get()

  await setRole(email, 'user')

  expect(await watched.end()).toBeUndefined()
  expect(watched.states).toHaveLength(1)
})

describe('a Datastar page', () => {
  const datastar = { 'datastar-request': 'true' }
  const path = '/api/live?topics=administrators'

  test('is refused without the role of the reader, and disconnected when the person loses the role', async () => {
    const { email, cookie } = await administrator()
    const headers = { cookie, ...datastar }
    const response = await fetch(service.origin + path, { headers })
    expect(response.status).toBe(200)
    const ended = response.text().catch(() => 'disconnected')

    await setRole(email, 'user')

    expect(await ended).toBe('disconnected')
    expect(await call('GET', path, undefined, headers)).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    })
  })
})

describe('an agent', () => {
  const URI = 'help-desk://administrators'

  /** Sends a message of MCP. */
  const send = (credentials: Record<string, string>, method: string, parameters: object) => {
    const { headers, body } = requestByRevision2026(method, parameters)
    return fetch(`${service.origin}/mcp`, {
      method: 'POST',
      headers: { accept, 'content-type': 'application/json', ...headers, ...credentials },
      body: JSON.stringify(body),
    })
  }
  const subscribe = (credentials: Record<string, string>) =>
    send(credentials, 'subscriptions/listen', { notifications: { resourceSubscriptions: [URI] } })

  test('is refused without the role of the reader, and its subscription ends when the person loses the role', async () => {
    const { email, cookie, client } = await administrator()
    const credentials = await createToken(cookie, 'mcp')
    const subscription = await subscribe(credentials)
    expect(subscription.status).toBe(200)
    const events = subscription.text()

    await setRole(email, 'user')
    await client.entries.add({ text: 'Secret' })

    expect(await events).not.toContain('resources/updated')
    expect((await subscribe(credentials)).status).toBe(403)
    const answer = await (await send(credentials, 'resources/read', { uri: URI })).text()
    expect(answer).toContain('FORBIDDEN')
    expect(answer).not.toContain('Secret')
  })
})
