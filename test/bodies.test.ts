import { traverseContractProcedures } from '@orpc/server'
import { describe, expect, test } from 'vitest'

import { metaOf } from '../contract/base.ts'
import { contract } from '../contract/index.ts'
import { parseForm, parseObject } from '../src/http/body.ts'
import { settingsWithAddress, newEmail, startService } from './service.ts'
import { bearer, registerApp } from './oauth-app.ts'
import { createFetch, signInOverHttp } from './http.ts'

const service = await startService(await settingsWithAddress())
const call = createFetch(service)
const { cookie } = await signInOverHttp(service, newEmail())
const token = bearer(
  await (await registerApp(service)).obtainTokens(cookie, { resource: `${service.origin}/mcp` }),
)
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const accept = { accept: 'application/json, text/event-stream' }

const MIB = 1024 * 1024
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const TOO_COMPLEX = 'A body may be 64 levels deep and have 10000 values at most'
const isComplex = (json: string) => parseObject(Buffer.from(json)).malformed?.message === TOO_COMPLEX

const complex: Record<string, string> = {
  'a list of 100 levels': nested(100),
  'a list of half a million levels': nested(MIB / 2 - 100),
  'an object of 1,000 levels': `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`,
  '20,000 numbers': `[${Array.from({ length: 20_000 }, () => 1).join()}]`,
  '300,000 empty lists': `[${'[],'.repeat(300_000)}[]]`,
  '20,000 fields': `{${Array.from({ length: 20_000 }, (_, index) => `"${index}":1`).join()}}`,
}

/** A request of each protocol whose body has a value in a field that no operation knows. */
const protocols: Record<string, { path: string; body: (value: string) => string; headers: object }> = {
  REST: {
    path: '/api/tasks',
    body: (value) => `{"taskTitle":"One","x":${value}}`,
    headers: { cookie },
  },
  'REST with an Idempotency-Key': {
    path: '/api/tasks',
    body: (value) => `{"taskTitle":"One","x":${value}}`,
    headers: { cookie, 'idempotency-key': '' },
  },
  RPC: {
    path: '/rpc/tasks/create',
    body: (value) => `{"json":{"taskTitle":"One","x":${value}}}`,
    headers: { cookie },
  },
  'RPC on the stock path': {
    path: '/rpc/tasks/create',
    body: (value) => `{"json":{"taskTitle":"One","x":${value}},"meta":[]}`,
    headers: { cookie, 'idempotency-key': '' },
  },
  Datastar: {
    path: '/api/notes',
    body: (value) => `{"newNote":"One","x":${value}}`,
    headers: { cookie, 'datastar-request': 'true' },
  },
  MCP: {
    path: '/mcp',
    body: (value) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tasks_list","arguments":{"x":${value}}}}`,
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
  const post = (value: string, more = headers) =>
    call('POST', path, body(value), {
      ...more,
      ...('idempotency-key' in more && { 'idempotency-key': crypto.randomUUID() }),
    })

  test.each(Object.entries(complex))('is refused with %s', async (_, value) => {
    const answer = await post(value)

    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body)).toContain(TOO_COMPLEX)
  })

  test('may be 50 levels deep, and have 5,000 values', async () => {
    for (const value of [nested(50), `[${'1,'.repeat(5000)}1]`])
      expect((await post(value)).status).toBeLessThan(300)
  })

  if (Object.keys(headers).length > 0)
    test('that is too deep tells a stranger nothing', async () => {
      expect((await post(nested(1000), {})).status).toBe(401)
    })
})

describe('a body', () => {
  test.each([
    ['brackets in a text', `{"x":${JSON.stringify('[{,'.repeat(20_000))}}`],
    ['escaped quotes in a text', `{"x":${JSON.stringify('\\"["'.repeat(20_000))}}`],
    ['many closed lists, one after another', `{"x":[${'[],'.repeat(4000)}[]]}`],
    ['a number of a million digits', `{"x":${'9'.repeat(MIB - 100)}}`],
  ])('is not too complex with %s', (_, json) => {
    expect(isComplex(json)).toBe(false)
    expect(parseObject(Buffer.from(json)).malformed).toBeUndefined()
  })

  test('is too complex from 65 levels on, and from 10,001 values on', () => {
    const objectOf = (levels: number) => `{"${'x'.repeat(100)}":${nested(levels)}}`
    const listOf = (values: number) => `{"x":[${'1,'.repeat(values - 3)}1]}`

    expect([objectOf(63), objectOf(64)].map(isComplex)).toEqual([false, true])
    expect([listOf(10_000), listOf(10_004)].map(isComplex)).toEqual([false, true])
  })

  test('has the last of two fields with one name, and its own __proto__', () => {
    const { body } = parseObject(Buffer.from('{"a":1,"a":2,"__proto__":{"role":"admin"}}'))

    expect(body).toHaveProperty('a', 2)
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype)
    expect(body?.role).toBeUndefined()
  })

  test.each(['/token', '/revoke'])('is refused as a form with too many fields at %s', async (path) => {
    const fields = (many: number) =>
      [...Array.from({ length: many - 1 }, (_, index) => `a${index}=1`), 'grant_type=refresh_token'].join('&')

    expect(await call('POST', path, fields(100_000), form)).toMatchObject({
      status: 400,
      body: { error_description: 'A form may have at most 100 fields' },
    })
    expect(parseForm(Buffer.from(fields(100))).malformed).toBeUndefined()
    expect(parseForm(Buffer.from(fields(101))).malformed).toBeDefined()
  })
})

describe('a query', () => {
  const tooComplex = [
    `a${'[b]'.repeat(2000)}=1`,
    `a${'%5Bb%5D'.repeat(1000)}=1`,
    'a&'.repeat(4000),
    Array.from({ length: 120 }, (_, index) => `a[${index}]=1`).join('&'),
  ]

  test.each(tooComplex)('is refused with too many parameters or brackets', async (query) => {
    const answer = await call('GET', `/api/tasks?${query}`, undefined, { cookie })

    expect(answer).toMatchObject({
      status: 400,
      body: { message: 'A query may have at most 100 parameters and brackets' },
    })
    expect((await call('GET', `/api/tasks?${query}`)).status).toBe(401)
    expect((await call('POST', `/api/tasks?${query}`, { taskTitle: 'One' }, { cookie })).status).toBe(400)
    expect((await call('GET', `/authorize?${query}`)).status).toBe(400)
  })

  test('over RPC is refused with data that is too deep', async () => {
    const answer = await call('GET', `/rpc/tasks/list?data={"json":${nested(100)}}`, undefined, { cookie })

    expect(answer).toMatchObject({ status: 400, body: { json: { message: TOO_COMPLEX } } })
  })
})

describe('RPC', () => {
  const names: string[] = []
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
    if (metaOf(procedure).access === 'public') names.push(path.join('/'))
  })
  const metas: [string, unknown][] = [
    ...['bigint', 'date', 'nan', 'undefined', 'url', 'regexp', 'set', 'map'].map(
      (type, index): [string, unknown] => [type, [[index, 'x']]],
    ),
    ['an unknown type', [[99, 'x']]],
    ['no type', [[]]],
    ['a path through the prototype', [[3, '__proto__', 'role']]],
    ['a path that is not there', [[3, 'a', 'b', 'c']]],
    ['a large index', [[3, 4_294_967_294]]],
    ['an object', { 0: [3, 'x'] }],
    ['a text', 'x'],
  ]

  test.each(metas)('refuses a meta with %s, for every operation', async (_, meta) => {
    for (const name of names) {
      const answer = await call('POST', `/rpc/${name}`, { json: { x: null }, meta })
      expect([name, answer.status]).toEqual([name, 400])
      expect(answer.body).toMatchObject({ json: { message: 'An input is plain JSON: `meta` must be empty' } })
    }
  })

  test('refuses it by GET too, and takes an empty one', async () => {
    const data = (meta: unknown) => encodeURIComponent(JSON.stringify({ json: {}, meta }))

    expect((await call('GET', `/rpc/counter/get?data=${data([[5, 'x']])}`)).status).toBe(400)
    expect((await call('GET', `/rpc/counter/get?data=${data([])}`)).status).toBe(200)
    expect((await call('POST', '/rpc/counter/get', { json: {}, meta: [] })).status).toBe(200)
  })

  test('tells a stranger nothing of a meta', async () => {
    const answer = await call('POST', '/rpc/tasks/create', { json: {}, meta: [[5, 'x']] })

    expect(answer.status).toBe(401)
  })
})
