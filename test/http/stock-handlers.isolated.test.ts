import { type AnyProcedure, os } from '@orpc/server'
import fc from 'fast-check'
import { createHmac } from 'node:crypto'
import { Agent, type IncomingMessage, request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test, vi } from 'vitest'

import { Account } from '../../engine/contract/built-in/account.ts'
import { users } from '../../engine/db/accounts/users.ts'
import { notes, shares } from '../../db/notes.ts'
import { sessions } from '../../engine/db/accounts/sessions.ts'
import { tasks } from '../../db/tasks.ts'
import { createContext } from '../../engine/guard/authentication.ts'
import { compile } from '../../engine/http/protocols/compile.ts'
import { withCheckedOutput } from '../../engine/start/define-app/declared.ts'
import type { HandlerParts, RunCall, WireFormat } from '../../engine/http/server/handler.ts'
import { type Service, startService } from '../fixtures/service.ts'

// Compares two services with the same production settings. One service calls procedures with the handler of the service
// (engine/http/server/handler.ts), the other with the stock handlers of oRPC.

const secret = 's'.repeat(32)
const production = {
  NODE_ENV: 'production',
  BASE_URL: 'http://tally.example',
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'no-reply@tally.example',
  AUTH_SECRET: secret,
  SERVICE: 'test',
  TRUSTED_ORIGINS: 'https://trusted.example',
}
const ours = await startService(production)
const stock = await startStockService()

async function startStockService() {
  vi.resetModules()
  vi.doMock('../../engine/http/server/handler.ts', async (original) => {
    const { createHandler, createRunCall } =
      await original<typeof import('../../engine/http/server/handler.ts')>()
    // Imported by the first call, because the file imports files that import this module.
    let stockRun: RunCall | undefined
    const runStock: RunCall = async (call) => {
      stockRun ??= (await import('../fixtures/stock-handlers.ts')).createStockRunCall()
      return stockRun(call)
    }
    const createRun = (format: WireFormat) => (format.isDatastar ? createRunCall(format) : runStock)
    return {
      createRunCall: createRun,
      createHandler: (parts: HandlerParts, format: WireFormat, run = createRun(format)) =>
        createHandler(parts, format, run),
    }
  })
  const { startService } = await import('../fixtures/service.ts')
  return startService(production)
}

const uuid = (digit: number) => `0192b3c4-0000-7000-8000-00000000000${digit}`
const soon = new Date(Date.now() + 6.9 * 86_400_000)

/** Inserts the same people, sessions, tasks and notes into the database of a service. */
async function fill({ services: { db } }: Service) {
  const person = (id: string, more = {}) => ({ id, name: id, email: `${id}@example.com`, ...more })
  await db.insert(users).values([person('ada'), person('bob'), person('eve', { banned: true })])
  const session = (userId: string, more = {}) => ({
    id: `session-of-${userId}`,
    token: `token-of-${userId}`,
    userId,
    expiresAt: soon,
    ...more,
  })
  await db.insert(sessions).values([session('ada'), session('bob'), session('eve')])
  await db.insert(sessions).values(session('ada', { id: 'old', token: 'old', expiresAt: new Date(0) }))
  const title = 'A title, “quoted” 🐘 </script>'
  await db.insert(tasks).values([
    { userId: 'ada', title, status: 'completed' },
    { userId: 'ada', title, description: '\u2028' },
    { userId: 'bob', title },
  ])
  const of = (userId: string, digit: number) => ({ uuid: uuid(digit), userId, title, body: `${title}\r\n` })
  const rows = await db
    .insert(notes)
    .values([of('ada', 1), of('bob', 2), of('bob', 3), of('bob', 4)])
    .returning()
  const given = (at: number, role: 'reader' | 'editor') => ({
    noteId: rows[at]?.id ?? 0,
    email: 'ada@example.com',
    role,
  })
  await db.insert(shares).values([given(1, 'reader'), given(2, 'editor')])
}
await Promise.all([fill(ours), fill(stock)])

const signed = (token: string, key = secret) => {
  const signature = createHmac('sha256', key).update(token).digest('base64')
  return `better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}`
}

const ids = [
  '1',
  '2',
  '3',
  '99',
  '0',
  '-1',
  '1.5',
  'abc',
  uuid(1),
  uuid(2),
  uuid(3),
  uuid(4),
  uuid(9),
  '%32',
  'reset',
]
const title = fc.constantFrom('Words', '', ' ', 'x'.repeat(121), '🐘'.repeat(120), 7, null, '\0', '\ud800')
const cursor = Buffer.from('9999999999999.1').toString('base64url')
const fields = fc.record(
  {
    taskTitle: title,
    taskDesc: title,
    title,
    body: title,
    description: title,
    status: fc.constantFrom('pending', 'completed', 'lost'),
    newNote: title,
    email: fc.constantFrom('bob@example.com', 'ADA@example.com', 'nobody', 'new@example.com'),
    role: fc.constantFrom('reader', 'editor', 'owner'),
    inputValue: fc.constantFrom(0, 5, 2 ** 53 - 1, 2 ** 53, 1.5, '5'),
    name: title,
    guests: fc.constantFrom(0, 1, 2.5, 20, 21, 'two'),
    revokeSessionToken: fc.constantFrom('token-of-ada', 'token-of-bob', 'none', ''),
    limit: fc.constantFrom(1, '2', 1000, 0, 1.5, null),
    cursor: fc.constantFrom(cursor, '', 'x', 7),
    id: fc.constantFrom(1, 2, 99, '3', uuid(1), uuid(2), uuid(9), null),
    __proto__: fc.constant({ polluted: true }),
  },
  { requiredKeys: [] },
)

const rest = fc.constantFrom(
  ...['GET /api/status', 'GET /api/me', 'GET /api/counter', 'GET /api/counter/fragment', 'GET /api/sessions'],
  ...['increment', 'decrement', 'set', 'reset'].map((step) => `POST /api/counter/${step}`),
  ...['GET /api/tasks', 'POST /api/tasks', 'POST /api/tasks/reset', 'GET /api/notes', 'POST /api/notes'],
  ...['POST /api/notes/reset', 'POST /api/sessions/revoke', 'POST /api/reservations', 'GET /api/nowhere'],
  ...ids.flatMap((id) => ['GET', 'PATCH', 'DELETE'].map((method) => `${method} /api/tasks/${id}`)),
  ...ids.flatMap((id) => [`POST /api/notes/${id}`, `DELETE /api/notes/${id}`, `POST /api/notes/${id}/share`]),
)
const procedures = [
  ...[
    'status.get',
    'account.get',
    'sessions.list',
    'sessions.revoke',
    'reservations.create',
    'nothing.at.all',
  ],
  ...['get', 'increment', 'decrement', 'set', 'fragment', 'reset'].map((name) => `counter.${name}`),
  ...['list', 'get', 'create', 'update', 'delete', 'reset'].map((name) => `tasks.${name}`),
  ...['list', 'create', 'update', 'share', 'delete'].map((name) => `notes.${name}`),
  ...['list', 'create', 'delete', 'reset'].map((name) => `legacyNotes.${name}`),
]
const rpc = fc.constantFrom(...procedures.map((name) => `POST /rpc/${name.replaceAll('.', '/')}`))

const often = <Value>(usual: Value, ...others: Value[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 3, arbitrary: fc.constantFrom(usual, ...others) },
  )

const json = fields.map((body) => JSON.stringify(body))
const wrapped = fields.map((input) => JSON.stringify({ json: input }))
const oddBody = fc.constantFrom(
  ...['', '{', '[]', '"x"', 'null', '{"json":1}', '{"json":{"id":"1"},"meta":[]}', '{"meta":[[9]]}', '\xff'],
  ...[
    '{"json":{"id":"1"},"meta":[[0,"id"]]}',
    '{"json":{"id":"x"},"meta":[[0,"id"]]}',
    '{"json":{},"meta":5}',
  ],
  ...['{"json":null,"meta":[[3]]}', '{"__proto__":{"title":"x"},"newNote":"y"}'],
)

const corpus = fc.record({
  at: fc.oneof({ weight: 3, arbitrary: rest }, { weight: 2, arbitrary: rpc }),
  method: often<string | undefined>(undefined, 'HEAD', 'PUT', 'GET', 'POST', 'OPTIONS', 'DELETE'),
  tail: often(
    '',
    '/',
    '//',
    '?',
    '?status=pending',
    '?limit=1',
    '?limit=0',
    `?limit=1&cursor=${cursor}`,
    '?status=x&status=y',
    ...[
      '?data=%7B%7D',
      '?data=%7B',
      '?status=%70ending',
      '?limit[]=1',
      '?cursor[a][b]=c',
      '?status[0]=pending',
    ],
    '#a',
    '/%2e%2e',
    '%00',
  ),
  body: fc.oneof(
    { weight: 4, arbitrary: json },
    { weight: 4, arbitrary: wrapped },
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: oddBody },
  ),
  headers: fc.record({
    cookie: fc.constantFrom(
      ...[signed('token-of-ada'), signed('token-of-ada'), signed('token-of-ada'), signed('token-of-bob')],
      ...[
        undefined,
        signed('token-of-eve'),
        signed('old'),
        signed('unknown'),
        signed('token-of-ada', 'other'),
      ],
      ...['better-auth.session_token=token-of-ada', `a=b; ${signed('token-of-bob')}; c=d`, ''],
    ),
    authorization: often<string | undefined>(undefined, 'Bearer nothing', 'Basic YTpi', 'Bearer a.b.c'),
    'content-type': often<string | undefined>(
      ...(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'text/plain'] as const),
      ...(['application/x-www-form-urlencoded', 'application/jsonx', undefined] as const),
      ...(['application/json;version=1', 'application/json; version=2'] as const),
    ),
    'content-encoding': often<string | undefined>(undefined, 'gzip', 'identity'),
    accept: often<string | undefined>(
      ...([undefined, '*/*', 'application/json', 'application/json, text/plain, */*', 'text/*'] as const),
      ...([
        'application/json;version=1',
        'text/event-stream',
        'TEXT/EVENT-STREAM',
        '*/*;q=0',
        'text/html',
      ] as const),
      ...([
        'application/json;q=0.5, application/json;version=1',
        'application/*, text/event-stream',
        '',
      ] as const),
    ),
    'accept-language': often<string | undefined>(undefined, 'de', 'zh-TW, en;q=0.5', 'x'.repeat(100), '*'),
    'datastar-request': often<string | undefined>(undefined, 'true', 'false'),
    origin: often<string | undefined>(
      ...([
        undefined,
        'http://tally.example',
        'https://trusted.example',
        'https://evil.example',
        'null',
      ] as const),
    ),
    'sec-fetch-site': often<string | undefined>(undefined, 'same-origin', 'cross-site', 'none'),
    'access-control-request-method': often<string | undefined>(undefined, 'POST'),
    'idempotency-key': often<string | undefined>(undefined, 'key', 'other', '', 'a b', 'x'.repeat(256)),
    'if-match': often<string | undefined>(
      ...([undefined, '*', '"1"', '"1.0"', '"2", "1", "1.0"', 'W/"1"', '"0"', 'odd', ''] as const),
    ),
    'if-none-match': often<string | undefined>(undefined, '*', '"1"', 'W/"2"', '"0", "1"', ''),
    'last-event-id': often<string | undefined>(undefined, '7'),
  }),
})

interface Sample {
  at: string
  method: string | undefined
  tail: string
  body: string | undefined
  headers: Record<string, string | undefined>
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterAll(() => {
  agent.destroy()
})

/** Sends a request. Returns the response without the values that differ in each response, such as the date. */
async function answerOf({ origin }: Service, { at, method, tail, body, headers }: Sample) {
  const [usual, path = ''] = at.split(' ')
  const framed: Sample['headers'] = {
    ...headers,
    ...(body && { 'content-length': String(Buffer.byteLength(body)) }),
  }
  const given = Object.entries(framed).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const [response, sent] = await new Promise<[IncomingMessage, string]>((resolve, reject) => {
    const call = send(origin + path, { method: method ?? usual, agent, headers: Object.fromEntries(given) })
    call.path = path + tail
    call.on('error', reject).on('response', (response) => {
      text(response).then((sent) => {
        resolve([response, sent])
      }, reject)
    })
    call.end(body)
  })
  const told = response.rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [`${name}: ${response.rawHeaders[at + 1]?.replace(/cursor=[\w-]+/, 'cursor=…')}`] : [],
  )
  const lasting = told.filter((line) => !/^(date|x-request-id):/i.test(line)).sort()
  return { status: response.statusCode, headers: lasting, body: sent.replace(changing, '…') }
}

/** Matches timestamps and the ids of created rows. */
const changing =
  /\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=At":|Active":)\d+|(?!0192b3c4)[\da-f]{8}-[\da-f]{4}-7[\da-f-]{21}/g

describe('the handler of the service', () => {
  test(
    'responds to thousands of valid and invalid requests like the stock handlers of oRPC',
    { timeout: 300_000 },
    async () => {
      const statuses: (number | undefined)[] = []
      for (const sample of fc.sample(corpus, { numRuns: 5000, seed: 7 })) {
        const expected = await answerOf(stock, sample)
        const actual = await answerOf(ours, sample)

        expect(actual, JSON.stringify(sample)).toEqual(expected)
        statuses.push(actual.status)
      }

      for (const status of [200, 400, 401, 403, 404, 405, 415])
        expect(statuses.filter((seen) => seen === status).length).toBeGreaterThan(100)
      expect(statuses).not.toContain(500)
    },
  )

  test('responds to conditional and repeated requests like the stock handlers of oRPC', async () => {
    const statuses: (number | undefined)[] = []
    const ask = async (at: string, body: object | undefined, headers: Record<string, string>) => {
      const type = body && { 'content-type': 'application/json' }
      const sample: Sample = {
        at,
        method: undefined,
        tail: '',
        body: body && JSON.stringify(body),
        headers: { cookie: signed('token-of-ada'), ...type, ...headers },
      }
      const [expected, actual] = [await answerOf(stock, sample), await answerOf(ours, sample)]
      expect(actual, JSON.stringify(sample)).toEqual(expected)
      statuses.push(actual.status)
      return actual.body
    }

    const note = { title: 'Title', body: '' }
    for (const key of ['key', 'key', '', 'a b'])
      for (const taskTitle of ['One', 'Two'])
        for (const [at, body] of [
          ['POST /api/tasks', { taskTitle }],
          ['POST /rpc/tasks/create', { json: { taskTitle } }],
          ['POST /api/notes', { newNote: taskTitle }],
          ['POST /api/notes', note],
        ] as const)
          await ask(at, body, { 'idempotency-key': `${key}${key && at.replace(/\W/g, '')}` })

    for (const [index, tag] of [
      '*',
      '"1"',
      '"1.0"',
      'W/"1"',
      '"0", "1", "1.0"',
      '"0"',
      'odd',
      '',
    ].entries()) {
      const created = await ask('POST /api/tasks', { taskTitle: 'Title' }, {})
      const id = /"id":(\d+)/.exec(created)?.[1] ?? ''
      const uuid = `0192b3c4-0000-7000-8000-0000000001${index}0`
      for (const { services } of [stock, ours])
        await services.db.insert(notes).values({ ...note, uuid, userId: 'ada' })
      const [known, same] = [{ 'if-none-match': tag }, { 'if-match': tag }]
      for (const [at, body, headers] of [
        [`GET /api/tasks/${id}`, undefined, known],
        [`HEAD /api/tasks/${id}`, undefined, known],
        ['POST /rpc/tasks/get', { json: { id } }, known],
        [`PATCH /api/tasks/${id}`, {}, same],
        ['POST /rpc/tasks/update', { json: { id } }, same],
        [`DELETE /api/tasks/${id}`, undefined, same],
        [`POST /api/notes/${uuid}`, note, same],
        [`POST /api/notes/${uuid}/share`, { email: 'bob@example.com', role: 'reader' }, same],
        ['POST /rpc/notes/delete', { json: { id: uuid } }, same],
      ] as const)
        await ask(at, body, headers)
    }

    for (const status of [200, 304, 400, 412, 422]) expect(statuses).toContain(status)
    expect(statuses).not.toContain(500)
  })
})

describe('a compiled procedure with output checks', () => {
  const context = createContext(ours.services, {})
  const account = { id: 'x', name: '', email: 'x@example.com', emailVerified: true }
  const leaking = os.output(Account).handler(() => ({ ...account, password: 'secret' }))
  const wrong = os.output(Account).handler(() => ({ ...account, emailVerified: 'yes' as unknown as boolean }))

  const run = (procedure: AnyProcedure) =>
    Promise.resolve().then(() =>
      compile(withCheckedOutput(procedure), ['account', 'get']).run(context, undefined),
    )

  test('fails if the output has undeclared properties, and names the properties', async () => {
    await expect(run(leaking)).rejects.toMatchObject({ issues: [{ path: 'password' }] })
  })

  test('fails if the output violates the contract, and names the position', async () => {
    await expect(run(wrong)).rejects.toMatchObject({ issues: [{ path: 'emailVerified' }] })
  })

  test('returns an output that its contract declares', async () => {
    const right = os.output(Account).handler(() => account)

    await expect(run(right)).resolves.toEqual(account)
  })
})
