import { traverseContractProcedures } from '@orpc/server'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'

import { metaOf } from '../../contract/meta.ts'
import { contract } from '../library/contract.ts'
import { createIncompleteLimit } from '../../http/server/body-limits.ts'
import { createBodyReader } from '../../http/server/body-reader.ts'
import { parseForm, parseJson } from '../../http/server/body.ts'
import { createRequestReader } from '../../http/server/request.ts'
import { formType } from '../fixtures/http.ts'
import { bearer, createOAuthCalls, registerApp } from '../fixtures/oauth-app.ts'
import { settingsWithAddress, startService } from '../fixtures/service.ts'

const ADMIN = 'admin@example.com'

const service = await startService({ ...(await settingsWithAddress()), ADMIN_EMAILS: ADMIN })
const { call, signIn } = createOAuthCalls(service)
const cookie = await signIn()
const app = await registerApp(service)
const token = bearer(await app.obtainTokens(cookie, { resource: `${service.origin}/mcp` }))
const accept = { accept: 'application/json, text/event-stream' }

const MIB = 1024 * 1024
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const TOO_COMPLEX = 'A body may be 64 levels deep and have 10000 values at most'
const isComplex = (json: string) => parseJson(Buffer.from(json), 'object').malformed?.message === TOO_COMPLEX

const complex: Record<string, string> = {
  'a list of 100 levels': nested(100),
  'a list of half a million levels': nested(MIB / 2 - 100),
  'an object of 1,000 levels': `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`,
  '20,000 numbers': `[${Array.from({ length: 20_000 }, () => 1).join()}]`,
  '300,000 empty lists': `[${'[],'.repeat(300_000)}[]]`,
  '20,000 fields': `{${Array.from({ length: 20_000 }, (_, index) => `"${index}":1`).join()}}`,
}

/** For each protocol, a request with a body that contains `value` in a field that the contract does not declare. */
const protocols: Record<string, { path: string; body: (value: string) => string; headers: object }> = {
  REST: {
    path: '/api/shelves',
    body: (value) => `{"name":"One","x":${value}}`,
    headers: { cookie },
  },
  'REST with an Idempotency-Key': {
    path: '/api/shelves',
    body: (value) => `{"name":"One","x":${value}}`,
    headers: { cookie, 'idempotency-key': '' },
  },
  RPC: {
    path: '/rpc/shelves/create',
    body: (value) => `{"json":{"name":"One","x":${value}}}`,
    headers: { cookie },
  },
  'RPC with an empty `meta`': {
    path: '/rpc/shelves/create',
    body: (value) => `{"json":{"name":"One","x":${value}},"meta":[]}`,
    headers: { cookie, 'idempotency-key': '' },
  },
  Datastar: {
    path: '/api/shelves',
    body: (value) => `{"name":"One","x":${value}}`,
    headers: { cookie, 'datastar-request': 'true' },
  },
  MCP: {
    path: '/mcp',
    body: (value) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"loans_list","arguments":{"x":${value}}}}`,
    headers: { ...token, ...accept },
  },
  'sign-in': {
    path: '/api/auth/update-user',
    body: (value) => `{"name":"Ada","x":${value}}`,
    headers: { cookie },
  },
  OAuth: {
    path: '/register',
    body: (value) => `{"redirect_uris":["http://127.0.0.1:9/x"],"x":${value}}`,
    headers: {},
  },
}

describe.each(Object.entries(protocols))('over %s, a body', (_, { path, body, headers }) => {
  const post = (value: string, sent = headers) =>
    call('POST', path, body(value), {
      ...sent,
      ...('idempotency-key' in sent && { 'idempotency-key': crypto.randomUUID() }),
    })

  test.each(Object.entries(complex))('is rejected with %s', async (_, value) => {
    const answer = await post(value)

    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body)).toContain(TOO_COMPLEX)
  })

  test('can have 50 levels and 5,000 values', async () => {
    for (const value of [nested(50), `[${'1,'.repeat(5000)}1]`])
      expect((await post(value)).status).toBeLessThan(300)
  })

  if (Object.keys(headers).length > 0)
    test('that is too deep is rejected with 401 without credentials', async () => {
      expect((await post(nested(1000), {})).status).toBe(401)
    })
})

describe('a body', () => {
  test.each([
    ['brackets in a text', `{"x":${JSON.stringify('[{,'.repeat(20_000))}}`],
    ['escaped quotes in a text', `{"x":${JSON.stringify('\\"["'.repeat(20_000))}}`],
    ['many closed lists, one after another', `{"x":[${'[],'.repeat(4000)}[]]}`],
    ['a number of a million digits', `{"x":${'9'.repeat(MIB - 100)}}`],
  ])('is accepted with %s', (_, json) => {
    expect(isComplex(json)).toBe(false)
    expect(parseJson(Buffer.from(json), 'object').malformed).toBeUndefined()
  })

  test('may begin with a byte order mark', () => {
    expect(parseJson(Buffer.from('\uFEFF{"a":"\uFEFF"}'), 'object')).toEqual({ body: { a: '\uFEFF' } })
    expect(parseJson(Buffer.from('\uFEFF\uFEFF{}'), 'object').malformed).toBeDefined()
    expect(parseJson(Buffer.from('\uFEFF'), 'object').malformed).toBeDefined()
  })

  test.each([
    ['identity', 200],
    ['Identity', 200],
    ['gzip', 415],
    ['identity, gzip', 415],
  ])('with Content-Encoding: %j is answered with %d', async (coding, status) => {
    const headers = { 'content-encoding': coding }

    expect((await call('POST', '/api/visits/add', {}, headers)).status).toBe(status)
  })

  test('is too complex above 64 levels and above 10,000 values', () => {
    const objectOf = (levels: number) => `{"${'x'.repeat(100)}":${nested(levels)}}`
    const listOf = (values: number) => `{"x":[${'1,'.repeat(values - 3)}1]}`

    expect([objectOf(63), objectOf(64)].map(isComplex)).toEqual([false, true])
    expect([listOf(10_000), listOf(10_004)].map(isComplex)).toEqual([false, true])
  })

  test('keeps the last of two fields with the same name, and has the usual prototype of an object', () => {
    const { body } = parseJson(Buffer.from('{"a":1,"a":2,"__proto__":{"role":"admin"}}'), 'object')

    expect(body).toHaveProperty('a', 2)
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype)
    expect(body?.role).toBeUndefined()
  })

  test.each(['/token', '/revoke'])('is rejected as a form with too many fields at %s', async (path) => {
    const fieldsOf = (count: number) =>
      [...Array.from({ length: count - 1 }, (_, index) => `a${index}=1`), 'grant_type=refresh_token'].join(
        '&',
      )

    expect(await call('POST', path, fieldsOf(100_000), formType)).toMatchObject({
      status: 400,
      body: { error_description: 'A form may have at most 100 fields' },
    })
    expect(parseForm(Buffer.from(fieldsOf(100))).malformed).toBeUndefined()
    expect(parseForm(Buffer.from(fieldsOf(101))).malformed).toBeDefined()
  })
})

describe('a query', () => {
  const tooComplex = [
    `a${'[b]'.repeat(2000)}=1`,
    `a${'%5Bb%5D'.repeat(1000)}=1`,
    'a&'.repeat(4000),
    Array.from({ length: 120 }, (_, index) => `a[${index}]=1`).join('&'),
  ]

  test.each(tooComplex)('is rejected with too many parameters or brackets', async (query) => {
    const answer = await call('GET', `/api/shelves?${query}`, undefined, { cookie })

    expect(answer).toMatchObject({
      status: 400,
      body: { message: 'A query may have at most 100 parameters and brackets' },
    })
    expect((await call('GET', `/api/shelves?${query}`)).status).toBe(401)
    expect((await call('POST', `/api/shelves?${query}`, { name: 'One' }, { cookie })).status).toBe(400)
    expect((await call('GET', `/authorize?${query}`)).status).toBe(400)
  })

  test('over RPC is rejected with data that is too deep', async () => {
    const answer = await call('GET', `/rpc/shelves/list?data={"json":${nested(100)}}`, undefined, { cookie })

    expect(answer).toMatchObject({ status: 400, body: { json: { message: TOO_COMPLEX } } })
  })
})

describe('RPC', () => {
  const names: string[] = []
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
    if (metaOf(procedure).access === 'public') names.push(path.join('/'))
  })
  const metas: [string, unknown][] = [
    ['a bigint without text', [[0, 'x']]],
    ['a URL without text', [[4, 'x']]],
    ['a regular expression', [[5, 'x']]],
    ['a set without list', [[6, 'x']]],
    ['a map without list', [[7, 'x']]],
    ['no type', [[]]],
    ['a path through the prototype', [[3, '__proto__', 'role']]],
    ['an absent path', [[3, 'a', 'b', 'c']]],
    ['a path with too many segments', [[3, ...Array.from({ length: 65 }, () => 'x')]]],
    ['a large index', [[3, 4_294_967_294]]],
    ['an object', { 0: [3, 'x'] }],
    ['a text', 'x'],
  ]

  test.each(metas)('rejects a `meta` with %s for every public operation', async (_, meta) => {
    for (const name of names) {
      const answer = await call('POST', `/rpc/${name}`, { json: { x: null }, meta })
      expect([name, answer.status]).toEqual([name, 400])
      expect(answer.body).toMatchObject({ json: { code: 'BAD_REQUEST' } })
    }
  })

  test.each([
    ['a date', { copies: '2026-01-01T00:00:00.000Z' }, 1],
    ['a bigint', { copies: '7' }, 0],
    ['a set', { copies: [] }, 6],
  ])('rejects %s where a number is required, with the position', async (_, json, type) => {
    const admin = { cookie: await service.signIn(ADMIN) }
    const book = { id: crypto.randomUUID(), title: 'A book', ...json }

    const answer = await call('POST', '/rpc/books/create', { json: book, meta: [[type, 'copies']] }, admin)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ json: { data: { issues: [{ path: 'copies' }] } } })
  })

  test('rejects a `meta` by GET, and accepts an empty `meta` and null', async () => {
    const encodeData = (meta: unknown) => encodeURIComponent(JSON.stringify({ json: {}, meta }))

    expect((await call('GET', `/rpc/visits/get?data=${encodeData([[5, 'x']])}`)).status).toBe(400)
    expect((await call('GET', `/rpc/visits/get?data=${encodeData([])}`)).status).toBe(200)
    for (const meta of [[], null])
      expect((await call('POST', '/rpc/visits/get', { json: {}, meta })).status).toBe(200)
  })

  test('answers 401 to a `meta` without credentials', async () => {
    const answer = await call('POST', '/rpc/shelves/create', { json: {}, meta: [[5, 'x']] })

    expect(answer.status).toBe(401)
  })
})

describe('a request with a body', () => {
  test('is rejected if the connection closes before the service reads the body', async () => {
    // A closed socket has no address, like this socket, which never connected.
    const request = Object.assign(new IncomingMessage(new Socket()), {
      method: 'POST',
      url: '/api/visits/add',
      headers: { host: 'localhost', 'content-type': 'application/json', 'content-length': '10' },
    })
    const { networkOfRequest } = createRequestReader(service.services)
    const readBody = createBodyReader(createIncompleteLimit({ networkOfRequest }))
    const response = new ServerResponse(request)
    const target = { path: '/api/visits/add', url: () => new URL(service.origin) }

    const body = readBody({ request, response, target, hasBody: true, limit: 1000, handle: () => undefined })
    request.destroy()

    await expect(body).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    expect(networkOfRequest(request)).toBeUndefined()
  })
})
