import { isDefinedError } from 'tallystick-contract'
import { describe, expect, test } from 'vitest'

import { createFetch, errorBody, notFound, validationError } from '../fixtures/http.ts'
import { createClient, createRestClient, newEmail, startService } from '../fixtures/service.ts'
import { exchange } from '../fixtures/raw-http.ts'

const service = await startService({
  RATE_LIMITS: 'on',
  LIMITS: 'visits=1,tries=1',
  TRUSTED_PROXIES: '127.0.0.1',
})
const call = createFetch(service)
const cookie = await service.signIn(newEmail())
const PROBLEM = 'application/problem+json'

interface Refused {
  method?: string
  path: string
  body?: unknown
  headers?: Record<string, string>
  status: number
  code: string
}

const foreign = { origin: 'https://evil.example', cookie }
const untrusted =
  'The origin "https://evil.example" is neither BASE_URL nor one of TRUSTED_ORIGINS of the service'
const large = { name: 'x'.repeat(1_100_000) }
/** An error from each layer that answers REST. */
const refusals: Record<string, Refused> = {
  'an unknown route': { path: '/api/nope', status: 404, code: 'NOT_FOUND' },
  'an unreadable address': { path: '/api/%zz', status: 400, code: 'BAD_REQUEST' },
  'another method': { method: 'PUT', path: '/api/shelves', status: 405, code: 'METHOD_NOT_SUPPORTED' },
  'a foreign origin': {
    method: 'POST',
    path: '/api/shelves',
    headers: foreign,
    status: 403,
    code: 'FORBIDDEN',
  },
  'a large body': {
    method: 'POST',
    path: '/api/shelves',
    body: large,
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  'a missing session': { path: '/api/shelves', status: 401, code: 'UNAUTHORIZED' },
  'a missing session with a query': { path: '/api/shelves?limit=1', status: 401, code: 'UNAUTHORIZED' },
  'an absent loan': { path: '/api/loans/7', headers: { cookie }, status: 404, code: 'NOT_FOUND' },
  'an invalid body': {
    method: 'POST',
    path: '/api/shelves',
    body: {},
    headers: { cookie },
    status: 400,
    code: 'BAD_REQUEST',
  },
  'an invalid query': { path: '/api/shelves?limit=0', headers: { cookie }, status: 400, code: 'BAD_REQUEST' },
  'a wrong method of sign-in': { path: '/api/auth/sign-out', status: 405, code: 'METHOD_NOT_SUPPORTED' },
  'an invalid sign-in': {
    method: 'POST',
    path: '/api/auth/sign-in/email-otp',
    body: {},
    status: 400,
    code: 'BAD_REQUEST',
  },
}

const ask = ({ method = 'GET', path, body, headers }: Refused, accept?: string) =>
  call(method, path, body, { ...headers, ...(accept !== undefined && { accept }) })

describe('problem details', () => {
  test.each(Object.entries(refusals))('describe %s', async (_, refused) => {
    const { status, code } = refused
    const { body: usual } = await ask(refused)

    const answer = await ask(refused, PROBLEM)

    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, PROBLEM])
    const { message, data } = usual as { message: string; data?: unknown }
    const requestId = answer.headers.get('x-request-id') ?? ''
    expect(answer.body).toEqual({
      type: 'about:blank',
      title: expect.stringMatching(/^[A-Z][A-Za-z ]+$/) as string,
      status,
      detail: message,
      instance: `urn:uuid:${requestId}`,
      code,
      ...(data !== undefined && { data }),
    })
  })

  test('contain the issues of an invalid input', async () => {
    const { body } = await call('POST', '/api/shelves', {}, { cookie, accept: PROBLEM })

    expect(body).toMatchObject({
      title: 'Bad Request',
      data: { issues: [{ path: 'name', message: expect.any(String) as string }] },
    })
  })

  test('describe an exceeded limit, with Retry-After', async () => {
    const headers = { accept: PROBLEM, 'x-forwarded-for': '198.51.100.1' }
    await call('POST', '/api/visits/add', undefined, headers)

    const answer = await call('POST', '/api/visits/add', undefined, headers)

    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.body).toMatchObject({ status: 429, code: 'TOO_MANY_REQUESTS' })
  })

  test('describe headers above 16 KiB, where no request exists', async () => {
    const head = `GET /api/status HTTP/1.1\r\nhost: x\r\naccept: ${PROBLEM}\r\nx-padding: ${'a'.repeat(17_000)}\r\n\r\n`

    const port = Number(new URL(service.origin).port)
    const { responses } = await exchange(port, [head], { timeout: 10_000 })

    expect(responses[0]?.headers.get('content-type')).toBe(PROBLEM)
    expect(responses[0]?.body).toContain('"title":"Request Header Fields Too Large"')
  })

  test.each([
    ['application/problem+json', true],
    ['Application/Problem+JSON', true],
    ['application/json;q=0.5, application/problem+json', true],
    ['application/problem+json;q=0.5, application/json', false],
    ['application/json, application/problem+json', false],
    ['application/problem+json;q=0', false],
    ['application/problem+xml', false],
    ['application/*', false],
    ['*/*', false],
    ['', false],
  ])('are selected by Accept: %s -> %s', async (accept, isProblem) => {
    for (const path of ['/api/nope', '/api/shelves']) {
      const { headers } = await call('GET', path, undefined, { accept })

      expect(headers.get('content-type')).toBe(isProblem ? PROBLEM : 'application/json')
      expect(headers.get('vary')).toContain('Accept')
    }
  })

  test('leave a successful answer unchanged', async () => {
    const answer = await call('GET', '/api/visits', undefined, { accept: PROBLEM })

    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
  })

  test.each([
    ['POST', '/rpc/nope', 404],
    ['POST', '/rpc/shelves/list', 401],
    ['POST', '/mcp', 401],
    ['POST', '/token', 400],
  ])('do not replace the errors of other protocols: %s %s', async (method, path, status) => {
    const answer = await call(method, path, path === '/token' ? undefined : {}, { accept: PROBLEM })

    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json'])
  })
})

test('the default error body remains without problem details in Accept', async () => {
  expect((await call('GET', '/api/nope')).body).toEqual(notFound)
  expect((await call('POST', '/api/shelves', {}, { cookie })).body).toEqual(
    validationError('name', expect.any(String)),
  )
  expect((await call('PUT', '/api/shelves')).body).toEqual(
    errorBody(405, 'METHOD_NOT_SUPPORTED', 'Method Not Supported'),
  )
})

describe.each([
  ['createClient', createClient],
  ['createRestClient', createRestClient],
])('%s receives the code and message of a call that is refused early', (_, connect) => {
  const create = (headers: Record<string, string>, name = 'x') =>
    connect(service.origin, { headers: { cookie, ...headers } }).shelves.create({ name })

  test.each<[string, Record<string, string>, string | undefined, object]>([
    ['a foreign origin', foreign, undefined, { code: 'FORBIDDEN', message: untrusted, status: 403 }],
    [
      'a large body',
      {},
      large.name,
      { code: 'PAYLOAD_TOO_LARGE', message: /at most 1048576 bytes/, status: 413 },
    ],
    [
      'large headers',
      { 'x-large': 'x'.repeat(17_000) },
      undefined,
      { code: 'REQUEST_HEADER_FIELDS_TOO_LARGE', status: 431 },
    ],
    [
      'a compressed body',
      { 'content-encoding': 'gzip' },
      undefined,
      { code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 },
    ],
  ])('because of %s', async (__, headers, title, error) => {
    const refusal: unknown = await create(headers, title).catch((reason: unknown) => reason)

    const { message, ...rest } = error as { message?: string | RegExp }
    expect(refusal).toMatchObject(rest)
    if (message) expect((refusal as Error).message).toMatch(message)
    expect(isDefinedError(refusal)).toBe(false)
  })
})
