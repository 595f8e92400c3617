import { DrizzleQueryError } from 'drizzle-orm/errors'
import { once } from 'node:events'
import { request } from 'node:http'
import { pino, stdSerializers } from 'pino'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'

import { validateOutput } from '../../values/output.ts'
import { createLog } from '../../telemetry/log.ts'
import { serveWithLog } from '../fixtures/logged-server.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { settingsWithAddress, newEmail, startService } from '../fixtures/service.ts'
import { bearer, registerApp } from '../fixtures/oauth-app.ts'
import { signInOverHttp } from '../fixtures/http.ts'
import { exchange } from '../fixtures/raw-http.ts'

const MARKER = 'swordfish'

const service = await startService(await settingsWithAddress())
const { cookie } = await signInOverHttp(service, newEmail())
const token = bearer(
  await (await registerApp(service)).obtainTokens(cookie, { resource: `${service.origin}/mcp` }),
)

const { log, lines, port } = await serveWithLog(service.services, 'trace')

beforeEach(() => {
  lines.length = 0
})

interface Asked {
  method?: string
  path: string
  body?: string
  headers?: Record<string, string | undefined>
}

/** Sends a request with node:http, because `fetch` forbids some headers. Waits until the log contains the request. */
async function ask({ method = 'POST', path, body, headers = {} }: Asked) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const before = lines.length
  const sent = request({ port, method, path, headers: { ...type, ...headers }, agent: false })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [{ statusCode: number; resume: () => void }]
  response.resume()
  await vi.waitFor(() => {
    expect(lines.slice(before).some((line) => line.includes('"responseTime"'))).toBe(true)
  }, PATIENCE)
  return response.statusCode
}

const rpc = (meta: unknown, json: unknown = { name: `/${MARKER}(/` }) => JSON.stringify({ json, meta })
const tool = (name: string, input: object = {}) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: { ...input, x: MARKER } },
  })
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const accept = { accept: 'application/json, text/event-stream' }

/**
 * Valid and invalid requests of each protocol. The marker is in each part that a caller controls, except in valid
 * paths, because the log contains valid paths.
 */
const requests: Record<string, Asked> = {
  'REST, refused': { path: '/api/shelves', body: `{"name":["${MARKER}"]}`, headers: { cookie } },
  'REST, malformed': { path: '/api/shelves', body: `{"${MARKER}`, headers: { cookie } },
  'REST, by a query': { method: 'GET', path: `/api/shelves?limit=${MARKER}`, headers: { cookie } },
  'REST, by a form': { path: '/api/shelves', body: MARKER, headers: { ...form, cookie } },
  'REST, by an id': { path: '/api/shelves/x/share', body: `{"email":"${MARKER}"}`, headers: { cookie } },
  'RPC, refused': { path: '/rpc/books/get', body: rpc(undefined) },
  'RPC, regexp': { path: '/rpc/books/get', body: rpc([[5, 'name']]) },
  'RPC, url': { path: '/rpc/books/get', body: rpc([[4, 'name']]) },
  'RPC, a path that is not there': { path: '/rpc/books/get', body: rpc([[1, MARKER]]) },
  'RPC, by a query': { method: 'GET', path: `/rpc/books/list?data=${encodeURIComponent(`{${MARKER}`)}` },
  'MCP, unknown tool': { path: '/mcp', body: tool(MARKER), headers: { ...token, ...accept } },
  'MCP, no such method': { path: '/mcp', body: `{"${MARKER}":1}`, headers: { ...token, ...accept } },
  'MCP, malformed': { path: '/mcp', body: `{"${MARKER}`, headers: { ...token, ...accept } },
  'OAuth, a token': { path: '/token', body: `grant_type=${MARKER}&code=${MARKER}`, headers: form },
  'OAuth, a refresh token': {
    path: '/token',
    body: `grant_type=refresh_token&client_id=x&refresh_token=${MARKER}`,
    headers: form,
  },
  'OAuth, a registration': { path: '/register', body: `{"redirect_uris":["${MARKER}:"]}` },
  'OAuth, a page': { method: 'GET', path: `/authorize?client_id=https://${MARKER}.invalid/x` },
  'sign-in, an address': { path: '/api/auth/sign-in/email-otp', body: `{"email":"${MARKER}","otp":"1"}` },
  'sign-in, a code': {
    path: '/api/auth/sign-in/email-otp',
    body: `{"email":"a@example.com","otp":"${MARKER}"}`,
  },
  'sign-out, a cookie': {
    path: '/api/auth/sign-out',
    body: '{}',
    headers: { cookie: `test-library.session_token=${MARKER}` },
  },
  'Datastar, by signals': {
    path: '/api/shelves',
    body: `{"name":1,"x":"${MARKER}"}`,
    headers: { cookie, 'datastar-request': 'true' },
  },
  'an address that cannot be read': { method: 'GET', path: `/api/\\${MARKER}` },
  'an address with a fragment': { method: 'GET', path: `/api/visits#${MARKER}` },
  'a whole address with a password': { method: 'GET', path: `http://me:${MARKER}@127.0.0.1/api/visits` },
}

const headers = (
  'accept accept-language authorization content-encoding cookie datastar-request forwarded host idempotency-key ' +
  'if-match if-none-match mcp-method mcp-name mcp-protocol-version mcp-session-id last-event-id origin referer ' +
  'sec-fetch-site traceparent tracestate user-agent x-forwarded-for x-tallystick-address x-anything x-request-id'
).split(' ')

describe('the log', () => {
  test.each(Object.entries(requests))('contains nothing that the caller sent: %s', async (_, asked) => {
    const status = await ask(asked)

    expect(status).toBeLessThan(500)
    expect(lines.join('')).not.toContain(MARKER)
  })

  test.each(headers)('contains nothing of the header %s', async (name) => {
    for (const asked of [
      { path: '/mcp', body: tool('books_list'), headers: { ...token, ...accept } },
      { path: '/api/shelves', body: '{"name":"One"}', headers: { cookie } },
      { path: '/rpc/shelves/list', body: '{}', headers: { cookie } },
      { path: '/token', body: 'grant_type=refresh_token', headers: form },
      { method: 'GET', path: '/authorize' },
    ])
      await ask({ ...asked, headers: { ...asked.headers, [name]: MARKER } })

    expect(lines.join('')).not.toContain(MARKER)
  })

  test('contains nothing of headers that Node cannot parse', async () => {
    const steps = [`GET /${MARKER} HTTP/1.1\r\nhost: x\r\n${MARKER} : x\r\n\r\n`]
    await exchange(port, steps, { timeout: 5000 })
    await ask({ method: 'GET', path: '/api/visits' })

    expect(lines.join('')).not.toContain(MARKER)
  })

  test('contains the path, truncated', async () => {
    await ask({ method: 'GET', path: '/api/visits?x=y' })
    await ask({ method: 'GET', path: `/${'x'.repeat(7000)}` })

    expect(lines.map((line) => (JSON.parse(line) as { req: { path: string } }).req.path)).toEqual([
      '/api/visits',
      `/${'x'.repeat(299)}`,
    ])
  })

  test('contains the status of an error that a Datastar page receives', async () => {
    const headers = { 'datastar-request': 'true', accept: 'text/event-stream' }

    expect(await ask({ method: 'GET', path: '/api/shelves', headers })).toBe(401)

    expect(lines.map((line) => (JSON.parse(line) as { res: object }).res)).toEqual([{ status: 401 }])
  })

  test('contains no line of more than 8,000 characters', () => {
    log.error({ operation: 'x'.repeat(9000) }, 'too long')

    expect(lines.map((line) => line.length < 200 && (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'a log line was too long',
    ])
  })
})

const failures: Record<string, () => unknown> = {
  'an error': () => new Error(MARKER),
  'an error with a message that looks like frames': () => new Error(`x\n    at ${MARKER} (file:///x.js:1:1)`),
  'an error with the stack of another message': () =>
    Object.assign(new Error(''), { stack: `Error: x\n    at ${MARKER} (file:///x.js:1:1)` }),
  'an error with a cause': () => new Error('x', { cause: new TypeError(MARKER) }),
  'an error with properties': () => Object.assign(new Error('x'), { data: MARKER, code: `${MARKER} 1` }),
  'a failure of JSON.parse': () => caught(() => JSON.parse(MARKER)),
  'a failure of RegExp': () => caught(() => new RegExp(`${MARKER}(`)),
  'a failure of zod': () => caught(() => z.literal(MARKER).parse(1)),
  'a failure of Headers': () => caught(() => new Headers({ x: `x\n${MARKER}` })),
  'a failed statement': () => new DrizzleQueryError('select', [MARKER], new Error(MARKER)),
  'a value that PostgreSQL cannot read': () => Object.assign(new Error(`"${MARKER}"`), { code: '22P02' }),
  'a string': () => MARKER,
}

function caught(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}

/** Makes every transaction throw `failure` until the end of the test. */
function failWith(failure: unknown) {
  const begin = vi.spyOn(service.services.db, 'transaction').mockImplementation(() => {
    throw failure
  })
  onTestFinished(() => {
    begin.mockRestore()
  })
}

describe.each(Object.entries(failures))('of %s, the log', (_, failure) => {
  test.each<[string, Asked]>([
    ['REST', { path: '/api/loans', body: '{"bookId":"x"}', headers: { cookie } }],
    ['RPC', { path: '/rpc/loans/create', body: '{"json":{"bookId":"x"}}', headers: { cookie } }],
    [
      'RPC on the stock path',
      { path: '/rpc/loans/create', body: '{"json":{"bookId":"x"},"meta":[]}', headers: { cookie } },
    ],
    ['MCP', { path: '/mcp', body: tool('loans_create', { bookId: 'x' }), headers: { ...token, ...accept } }],
  ])('over %s contains the operation and nothing that the caller sent', async (_, asked) => {
    failWith(failure())

    await ask(asked)

    const failed = lines.map((line) => JSON.parse(line) as object).filter((line) => 'err' in line)
    expect(failed).toMatchObject([
      { level: 50, procedure: 'loans.create', err: { type: expect.any(String) } },
    ])
    expect(lines.join('')).not.toContain(MARKER)
  })

  test('would contain values that the caller sent, if the service used the error serializer of pino', () => {
    const written: string[] = []
    const plain = pino({ serializers: { err: stdSerializers.err } }, { write: (line) => written.push(line) })

    plain.error({ err: failure() })

    expect(written.join('')).toContain(MARKER)
  })
})

describe('an error in the log', () => {
  test('has its type, its code and its stack frames', () => {
    log.error({ err: Object.assign(new RangeError('x'), { code: 'EXAMPLE' }) })

    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      err: {
        type: 'RangeError',
        code: 'EXAMPLE',
        stack: expect.stringMatching(/^ +at .*log\.test\.ts/) as string,
      },
    })
  })

  test('names the positions where an output violates its contract, and no values', async () => {
    const schema = z.object({ list: z.array(z.object({ count: z.int() })) })
    const err = await validateOutput(schema, { list: [{ count: MARKER }] }).catch((error: unknown) => error)

    log.error({ err })

    const issue = { path: 'list.0.count', message: 'Invalid input: expected number, received string' }
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ err: { issues: [issue] } })
    expect(lines.join('')).not.toContain(MARKER)
  })

  test('has the message of PostgreSQL if the message contains no value', () => {
    log.error({ err: Object.assign(new Error('violates constraint "x"'), { code: '23514' }) })

    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ err: { message: 'violates constraint "x"' } })
  })

  test.each([
    ['42601', `syntax error in tsquery: "${MARKER}"`],
    ['P0001', `a trigger refuses ${MARKER}`],
    ['ERR_INVALID_ARG_TYPE', `Received type number (${MARKER})`],
  ])('has no value of a failed statement with the code %s', (code, message) => {
    log.error({ err: new DrizzleQueryError('select', [], Object.assign(new Error(message), { code })) })

    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ err: { code } })
    expect(lines.join('')).not.toContain(MARKER)
  })

  test.each([
    [`invalid input syntax for type bigint: "a "${MARKER}" b"`, 'invalid input syntax for type bigint: …'],
    [`ungültige Eingabe: »${MARKER}«`, 'ungültige Eingabe: …'],
    [`value "${MARKER}`, 'value …'],
    [`invalid byte sequence for encoding "UTF8": 0xe4 0x31`, 'invalid byte sequence for encoding …: …'],
    ['date field value out of range: 2024-77-09', 'date field value out of range: …'],
    ['index 424242 out of valid range, 0..7', 'index … out of valid range, …'],
  ])('has the message of a failed statement without values: %s', (message, expected) => {
    const cause = Object.assign(new Error(message), { code: '22P02' })

    log.error({ err: new DrizzleQueryError('select', [], cause) })

    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ err: { code: '22P02', message: expected } })
  })
})

describe('outside of production', () => {
  test('an error has its message, its cause, and the statement without parameters', () => {
    const written: string[] = []
    const settings = { logLevel: 'error', service: 'test', release: 'local', production: false } as const
    const log = createLog(settings, { write: (line) => void written.push(line) })
    const cause = new DrizzleQueryError('select $1', [MARKER], new Error('the relation is missing'))

    log.error({ err: new Error('card declined', { cause }) })

    expect(JSON.parse(written[0] ?? '')).toMatchObject({
      err: {
        message: 'card declined',
        stack: expect.stringContaining('log.test.ts'),
        cause: { message: 'the relation is missing', statement: 'select $1' },
      },
    })
    expect(written.join()).not.toContain(MARKER)
  })
})
