import { type AnySchema, getEventIteratorSchemaDetails } from '@orpc/contract'
import { traverseContractProcedures } from '@orpc/server'
import { eq } from 'drizzle-orm'
import { format } from 'node:util'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

import { type Client, createClient, createRestClient, ORPCError } from '../contract/client.ts'
import { contract } from '../contract/index.ts'
import { OPERATOR } from '../engine/db/accounts/audit.ts'
import { users } from '../engine/db/accounts/users.ts'
import * as grants from '../engine/db/accounts/grants.ts'
import { idempotency } from '../engine/db/accounts/idempotency.ts'
import { faults, SECRET } from './fixtures/faulty-handlers.ts'
import { settingsWithAddress, newEmail, startService } from './fixtures/service.ts'
import { bearer, registerApp } from '../engine/test/fixtures/oauth-app.ts'
import { createFetch } from '../engine/test/fixtures/http.ts'

vi.mock('../src/app.ts', async (original) => {
  const { spoilRouter } = await import('./fixtures/faulty-handlers.ts')
  const actual = await original<typeof import('../src/app.ts')>()
  return { app: { ...actual.app, router: spoilRouter(actual.app.router) } }
})

const production = {
  NODE_ENV: 'production',
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'no-reply@tally.example',
  AUTH_SECRET: 's'.repeat(32),
}
const service = await startService({ ...production, ...(await settingsWithAddress()) })

/** The text of all responses in the current test. */
let received = ''
const recording: typeof fetch = async (request, init) => {
  const response = await fetch(request, init)
  received += await response.clone().text()
  return response
}

type Connect = (headers: Record<string, string>) => Client
const clients: Record<string, Connect> = {
  'over RPC': (headers) => createClient(service.origin, { headers, fetch: recording }),
  'over REST': (headers) => createRestClient(service.origin, { headers, fetch: recording }),
  'in process': (headers) => service.client(headers),
}

const note = { title: 'Title', body: '' }

interface Fixture {
  taskId: number
  noteId: string
  /** A note of another person. */
  sharedId: string
  number: number
  token: string
  /** The id of the grant of an app. */
  grant: string
  email: string
}

/** One call for each procedure. The fixture contains the rows that the calls need. */
const calls: Record<string, (client: Client, fixture: Fixture) => Promise<unknown>> = {
  'status.get': (client) => client.status.get(),
  'account.get': (client) => client.account.get(),
  'account.export': (client) => client.account.export(),
  'counter.get': (client) => client.counter.get(),
  'counter.increment': (client) => client.counter.increment(),
  'counter.decrement': (client) => client.counter.decrement(),
  'counter.set': (client) => client.counter.set({ inputValue: 7 }),
  'counter.fragment': (client) => client.counter.fragment(),
  'counter.reset': (client) => client.counter.reset(),
  'tasks.list': (client) => client.tasks.list(),
  'tasks.create': (client) => client.tasks.create({ taskTitle: 'Title' }),
  'tasks.get': (client, { taskId }) => client.tasks.get({ id: taskId }),
  'tasks.update': (client, { taskId }) => client.tasks.update({ id: taskId, title: 'New' }),
  'tasks.delete': (client, { taskId }) => client.tasks.delete({ id: taskId }),
  'tasks.reset': (client) => client.tasks.reset(),
  'notes.list': (client) => client.notes.list(),
  'notes.create': (client) => client.notes.create(note),
  'notes.update': (client, { noteId }) => client.notes.update({ id: noteId, ...note }),
  'notes.share': (client, { noteId }) =>
    client.notes.share({ id: noteId, email: 'x@example.com', role: 'editor' }),
  'notes.shares': (client, { noteId }) => client.notes.shares({ id: noteId }),
  'notes.unshare': (client, { noteId }) => client.notes.unshare({ id: noteId, email: 'x@example.com' }),
  'notes.leave': (client, { sharedId }) => client.notes.leave({ id: sharedId }),
  'notes.delete': (client, { noteId }) => client.notes.delete({ id: noteId }),
  'legacyNotes.list': (client) => client.legacyNotes.list(),
  'legacyNotes.create': (client) => client.legacyNotes.create({ newNote: 'Text' }),
  'legacyNotes.delete': (client, { number }) => client.legacyNotes.delete({ id: number }),
  'legacyNotes.reset': (client) => client.legacyNotes.reset(),
  'sessions.list': (client) => client.sessions.list(),
  'sessions.revoke': (client, { token }) => client.sessions.revoke({ revokeSessionToken: token }),
  'sessions.revokeOthers': (client) => client.sessions.revokeOthers(),
  'apps.list': (client) => client.apps.list(),
  'apps.revoke': (client, { grant }) => client.apps.revoke({ id: grant }),
  'tokens.create': (client) => client.tokens.create({ label: 'Script', scopes: ['read'] }),
  'audit.list': (client) => client.audit.list(),
  'reservations.create': (client) => client.reservations.create({ name: 'Ada', guests: 2 }),
  'account.delete': (client, { email }) => client.account.delete({ email }),
}

async function createFixture() {
  const email = newEmail()
  const [cookie, other] = [await service.signIn(email), await service.signIn(email)]
  const client = service.client({ cookie })
  const { id: taskId } = await client.tasks.create({ taskTitle: 'Title' })
  const { id: noteId } = await client.notes.create(note)
  const author = await service.person()
  const { id: sharedId } = await author.notes.create(note)
  await author.notes.share({ id: sharedId, email, role: 'reader' })
  const { id: number } = await client.legacyNotes.create({ newNote: 'Text' })
  const token = /session_token=([^.]+)/.exec(other)?.[1] ?? ''
  const { db } = service.services
  const [user] = await db.update(users).set({ role: 'admin' }).where(eq(users.email, email)).returning()
  const app = { userId: user?.id ?? '', clientId: 'app', scope: 'read', userAgent: 'App' }
  const { id: grant } = await grants.insert(
    db,
    { ...app, expiresAt: new Date(Date.now() + 60_000) },
    OPERATOR,
  )
  return { cookie, fixture: { taskId, noteId, sharedId, number, token, grant, email } }
}

let sharedFixture: ReturnType<typeof createFixture> | undefined

/** Returns a fixture that tests share, or a new fixture for a procedure that deletes rows. */
const fixtureFor = (procedure = '') =>
  /\.(delete|leave|reset|revoke)/.test(procedure) ? createFixture() : (sharedFixture ??= createFixture())

beforeEach(() => {
  received = ''
  faults.count = 0
})
afterEach(() => {
  faults.mode = 'none'
})

const names: string[] = []
traverseContractProcedures({ router: contract, path: [] }, ({ path, contract: procedure }) => {
  const { outputSchema } = procedure['~orpc'] as { outputSchema?: AnySchema }
  // An event stream consists of outputs of other procedures.
  if (getEventIteratorSchemaDetails(outputSchema)) return
  names.push(path.join('.'))
})

test('the cases below call every procedure without an event stream', () => {
  expect(Object.keys(calls).sort()).toEqual(names.sort())
})

describe('the service', () => {
  const call = createFetch(service)

  describe.each(Object.entries(clients))('%s', (_, connect) => {
    test.each(Object.entries(calls))('%s sends no undeclared property', async (name, ask) => {
      const { cookie, fixture } = await fixtureFor(name)
      faults.mode = 'leak'

      const output = await ask(connect({ cookie }), fixture)

      expect(faults.count).toBeGreaterThan(0)
      expect(JSON.stringify(output) + received).not.toContain(SECRET)
    })

    test('an error contains only the declared part of its data', async () => {
      const { cookie } = await fixtureFor()
      faults.mode = 'leak'
      const client = connect({ cookie })

      await expect(client.reservations.create({ name: ' ', guests: 0 })).rejects.toMatchObject({
        defined: true,
        data: { name: 'Please enter a name.', guests: 'Please reserve at least 1 seat.' },
      })
      const absentTask = await client.tasks.get({ id: 0 }).catch((error: unknown) => error)

      expect(absentTask).toBeInstanceOf(ORPCError)
      expect(absentTask).toMatchObject({ code: 'NOT_FOUND', defined: true })
      expect(JSON.stringify(absentTask) + received).not.toContain(SECRET)
    })
  })

  test('a query, a media type, RPC metadata and If-None-Match do not add undeclared properties', async () => {
    const { cookie, fixture } = await fixtureFor()
    const { taskId } = fixture
    const known = await call('GET', `/api/tasks/${taskId}`, undefined, { cookie })
    faults.mode = 'leak'

    const answers = [
      await call('GET', '/api/tasks?limit=2', undefined, { cookie }),
      await call('GET', '/api/notes', undefined, { cookie, accept: 'application/json;version=1' }),
      await call('POST', '/rpc/tasks/list', { json: {}, meta: [] }, { cookie }),
      await call('GET', `/api/tasks/${taskId}`, undefined, { cookie, 'if-none-match': '"0"' }),
    ]
    const etag = known.headers.get('etag') ?? ''
    const unchanged = await call('GET', `/api/tasks/${taskId}`, undefined, { cookie, 'if-none-match': etag })

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(unchanged).toMatchObject({ status: 304, body: '' })
    expect(JSON.stringify(answers)).not.toContain(SECRET)
  })

  test('a repeated request gets the declared response, even if the stored response has more properties', async () => {
    const { cookie } = await createFixture()
    const create = () =>
      call('POST', '/api/tasks', { taskTitle: 'Title' }, { cookie, 'idempotency-key': 'key' })
    faults.mode = 'leak'
    const first = await create()
    const stored = await service.services.db.select().from(idempotency)
    for (const { userId, answer } of stored) {
      const older = { ...answer, output: { ...(answer.output as object), [SECRET]: SECRET } }
      await service.services.db
        .update(idempotency)
        .set({ answer: older })
        .where(eq(idempotency.userId, userId))
    }

    expect((await create()).body).toEqual(first.body)
    expect(JSON.stringify([stored, first])).not.toContain(SECRET)
  })

  test('an MCP tool returns only declared properties', async () => {
    const { cookie } = await fixtureFor()
    const app = await registerApp(service)
    const tokens = await app.obtainTokens(cookie, { resource: `${service.origin}/mcp` })
    const headers = { ...bearer(tokens), accept: 'application/json, text/event-stream' }
    const tool = async (name: string, input: object) => {
      const params = { name, arguments: input }
      const { status, body } = await call(
        'POST',
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
        headers,
      )
      expect(status).toBe(200)
      return JSON.stringify(body)
    }
    faults.mode = 'leak'

    const list = await tool('tasks_list', {})
    const failure = await tool('reservations_create', { name: ' ', guests: 1 })

    expect(list).toContain('taskCount')
    expect(failure).toContain('Please enter a name.')
    expect(list + failure).not.toContain(SECRET)
  })

  test.each([
    ['GET', '/api/counter/fragment', undefined],
    ['GET', '/api/notes', undefined],
    ['POST', '/api/notes', { newNote: 'Text' }],
  ])('a hypermedia page gets no undeclared property: %s %s', async (method, url, body) => {
    const { cookie } = await fixtureFor()
    faults.mode = 'leak'

    const answer = await call(method, url, body, { cookie, 'datastar-request': 'true' })

    expect(answer.status).toBe(200)
    expect(answer.body).toContain('datastar-patch-elements')
    expect(answer.body).not.toContain(SECRET)
  })

  describe.each(Object.entries(clients))('%s', (_, connect) => {
    // Excludes status.get, because the service creates its response only once, before the test enables the fault.
    test.each(Object.entries(calls).filter(([name]) => name !== 'status.get'))(
      'an output of %s that violates its contract is an error, and is not logged',
      async (name, ask) => {
        const { cookie, fixture } = await fixtureFor(name)
        const log = vi.spyOn(service.services.log, 'error').mockImplementation(() => undefined)
        onTestFinished(() => {
          log.mockRestore()
        })
        faults.mode = 'break'

        const error = await ask(connect({ cookie }), fixture).catch((error: unknown) => error)

        expect(error).toBeInstanceOf(ORPCError)
        expect(error).toMatchObject({ code: 'INTERNAL_SERVER_ERROR', status: 500 })
        expect(JSON.stringify(error) + received).not.toContain(SECRET)
        expect(log.mock.calls).toMatchObject([
          [{ err: { issues: expect.any(Array) }, procedure: name }, 'a procedure failed'],
        ])
        expect(format('%j', log.mock.calls)).not.toContain(SECRET)
      },
    )
  })
})
