import { describe, expect, test } from 'vitest'

import { addBook } from '../fixtures/books.ts'
import { createFetch, errorBody, errorBodyAt, signInOverHttp } from '../fixtures/http.ts'
import { newEmail, type Service, startService } from '../fixtures/service.ts'

const TRUSTED = 'https://app.example'
const OWN = 'http://localhost:3000'
const FOREIGN = [
  'https://evil.example',
  'http://app.example',
  'https://app.example.evil.example',
  'https://app.example:8443',
  'https://sub.app.example',
  'null',
]

const service = await startService({ TRUSTED_ORIGINS: TRUSTED })
const call = createFetch(service)
const signIn = async () => ({ cookie: await service.signIn(newEmail()) })
const corsHeadersOf = ({ headers }: { headers: Headers }) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

describe('CORS', () => {
  const sendPreflight = (origin: string, path: string, method: string) =>
    fetch(service.origin + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type,datastar-request',
      },
    })

  test.each([
    ['/api/shelves', 'POST'],
    ['/api/shelves/1', 'PATCH'],
    ['/api/loans/1', 'DELETE'],
    ['/rpc/shelves/create', 'POST'],
    ['/api/auth/update-user', 'POST'],
  ])('allows a trusted origin to send %s by %s', async (path, method) => {
    const { status, headers } = await sendPreflight(TRUSTED, path, method)

    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe(TRUSTED)
    expect(headers.get('access-control-allow-credentials')).toBe('true')
    expect(headers.get('access-control-allow-methods')?.split(',')).toContain(method)
    expect(headers.get('access-control-allow-headers')).toBe('content-type,datastar-request')
    expect(headers.get('vary')).toContain('Origin')
  })

  test.each(['/api/status', '/api/me', '/api/nope', '/rpc/visits/get', '/api/auth/get-session'])(
    'allows a trusted origin to read the response of %s',
    async (path) => {
      const { headers } = await call('GET', path, undefined, { origin: TRUSTED })

      expect(headers.get('access-control-allow-origin')).toBe(TRUSTED)
      expect(headers.get('access-control-allow-credentials')).toBe('true')
      expect(headers.get('access-control-expose-headers')).toMatch(/\blink\b.*\bx-request-id\b/)
      expect(headers.get('vary')).toContain('Origin')
    },
  )

  test('allows a trusted origin to read an error response', async () => {
    const answer = await call('POST', '/api/shelves', '{bad', {
      origin: TRUSTED,
      'content-type': 'text/plain',
    })

    expect(answer.status).toBe(415)
    expect(answer.headers.get('access-control-allow-origin')).toBe(TRUSTED)
  })

  test.each([...FOREIGN, OWN])('sends no CORS headers to %s', async (origin) => {
    const ada = await signIn()

    const [preflight, actual, plain] = [
      await sendPreflight(origin, '/api/shelves', 'POST'),
      await call('GET', '/api/me', undefined, { origin, ...ada }),
      await call('GET', '/api/me', undefined, ada),
    ]

    expect(corsHeadersOf(preflight)).toEqual([])
    expect(preflight.status).toBe(204)
    expect(corsHeadersOf(actual)).toEqual([])
    expect(corsHeadersOf(plain)).toEqual([])
    expect(actual.headers.get('vary')).toContain('Origin')
  })
})

describe('the origin check', () => {
  const forbidden = ({ origin, ...headers }: Record<string, string>) =>
    errorBody(
      403,
      'FORBIDDEN',
      origin === undefined
        ? `A request with Sec-Fetch-Site: ${headers['sec-fetch-site']} must have the header Origin`
        : `The origin "${origin}" is neither BASE_URL nor one of TRUSTED_ORIGINS of the service`,
    )
  const foreign: Record<string, string>[] = [
    ...FOREIGN.map((origin) => ({ origin })),
    { origin: 'http://localhost:3001' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  ]
  const allowed: Record<string, string>[] = [
    {},
    { origin: OWN },
    { origin: TRUSTED },
    { origin: OWN, 'sec-fetch-site': 'same-origin' },
    { origin: TRUSTED, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ]
  /** Lends a book to the person, and lists requests that change the loan or something else. */
  async function listOperations(person: { cookie: string }) {
    const { id } = await service.client(person).loans.create({ bookId: await addBook(service) })
    return [
      ['POST', '/api/shelves', { name: 'One' }],
      ['PATCH', `/api/loans/${id}`, { remark: 'Changed' }],
      ['DELETE', `/api/loans/${id}`, undefined],
      ['POST', '/api/visits/add', undefined],
      ['POST', '/rpc/shelves/create', { json: { name: 'Two' } }],
      ['POST', '/api/auth/update-user', { name: 'Ada' }],
      ['POST', '/api/auth/sign-out', undefined],
    ] as const
  }

  test.each(foreign)('rejects every unsafe request with a cookie from %j', async (headers) => {
    const ada = await signIn()

    for (const [method, path, body] of await listOperations(ada))
      expect(await call(method, path, body, { ...headers, ...ada })).toMatchObject({
        status: 403,
        body: errorBodyAt(path, forbidden(headers)),
      })

    expect(await call('GET', '/api/me', undefined, ada)).toMatchObject({ status: 200, body: { name: '' } })
  })

  test.each(allowed)('accepts unsafe requests with a cookie from %j', async (headers) => {
    const ada = await signIn()

    for (const [method, path, body] of await listOperations(ada))
      expect((await call(method, path, body, { ...headers, ...ada })).status).toBe(200)
  })

  test.each(foreign)(
    'accepts safe requests, and unsafe requests without a cookie, from %j',
    async (headers) => {
      const ada = await signIn()

      expect((await call('GET', '/api/me', undefined, { ...headers, ...ada })).status).toBe(200)
      expect((await call('POST', '/api/visits/add', undefined, headers)).status).toBe(200)
    },
  )
})

describe('the response', () => {
  const paths = [
    '/api/status',
    '/api/me',
    '/api/nope',
    '/api/shelves/%00',
    '/rpc/visits/get',
    '/docs',
    '/authorize',
  ]

  test.each(paths)('of %s has the security headers', async (path) => {
    const { headers } = await call('GET', path)

    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(headers.get('content-security-policy')).not.toContain('unsafe')
    expect(headers.has('x-powered-by')).toBe(false)
    expect(headers.has('strict-transport-security')).toBe(false)
  })

  test.each(['/docs', '/authorize', '/authorize?client_id=nobody'])(
    'of the page %s forbids framing and isolates the window',
    async (path) => {
      const { headers } = await call('GET', path)

      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'x-frame-options': 'DENY',
        'referrer-policy': expect.stringMatching(/^(no-referrer|same-origin)$/),
        'cross-origin-opener-policy': 'same-origin',
        'origin-agent-cluster': '?1',
      })
    },
  )

  test('requires https with HSTS when the public origin is https', async () => {
    const secure = await startService({ BASE_URL: 'https://tally.example' })

    const { headers } = await createFetch(secure)('GET', '/api/status')
    const { response } = await signInOverHttp(secure, newEmail())

    expect(headers.get('strict-transport-security')).toMatch(/max-age=\d{7,}/)
    expect(response.headers.getSetCookie()).not.toEqual([])
    for (const cookie of response.headers.getSetCookie()) expect(cookie).toMatch(/; ?secure/i)
  })

  test.each(paths)('of %s has its own request id, whatever the caller sends', async (path) => {
    const given = '00000000-0000-7000-8000-000000000000'

    const ids = await Promise.all(
      [1, 2].map(async () => {
        const { headers } = await call('GET', path, undefined, { 'x-request-id': given })
        return headers.get('x-request-id')
      }),
    )

    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/)
    expect(new Set([...ids, given]).size).toBe(3)
  })
})

describe('caching', () => {
  test.each([
    ['GET', '/api/me'],
    ['GET', '/api/shelves'],
    ['GET', '/api/loans/1'],
    ['POST', '/api/shelves'],
    ['GET', '/api/loans'],
    ['GET', '/api/sessions'],
    ['DELETE', '/api/loans/1'],
    ['GET', '/rpc/shelves/list'],
    ['GET', '/rpc/account/get'],
    ['GET', '/api/auth/get-session'],
    ['POST', '/api/auth/update-user'],
    ['GET', '/api/auth/admin/list-users'],
    ['POST', '/api/auth/admin/stop-impersonating'],
  ])('is forbidden for %s %s with and without a session', async (method, path) => {
    const ada = await signIn()

    const callers: Record<string, string>[] = [
      ada,
      {},
      { ...ada, accept: 'text/event-stream' },
      { 'datastar-request': 'true' },
    ]
    for (const headers of callers)
      expect((await call(method, path, undefined, headers)).headers.get('cache-control')).toMatch(/^no-store/)
  })

  test.each(['/api/openapi.json', '/docs'])('is allowed for %s', async (path) => {
    expect((await call('GET', path)).headers.get('cache-control')).not.toContain('no-store')
  })
})

describe('the IP address of a caller', () => {
  const addressOf = async (service: Service, headers: Record<string, string>) => {
    const { cookie } = await signInOverHttp(service, newEmail(), headers)
    const { sessions } = await service.client({ cookie }).sessions.list()
    return sessions[0]?.ipAddress
  }

  test.each<Record<string, string>>([
    { 'x-forwarded-for': '203.0.113.7' },
    { 'x-tallystick-address': '203.0.113.7' },
    { 'x-real-ip': '203.0.113.7', 'x-client-ip': '203.0.113.7', 'cf-connecting-ip': '203.0.113.7' },
    { forwarded: 'for=203.0.113.7' },
  ])('is the address of the socket, whatever the headers say: %j', async (headers) => {
    expect(await addressOf(service, headers)).toBe('127.0.0.1')
  })

  describe('behind a trusted proxy', async () => {
    const proxied = await startService({ TRUSTED_PROXIES: 'loopback, 198.51.100.0/24' })

    test.each([
      ['203.0.113.7', '203.0.113.7'],
      ['203.0.113.7, 198.51.100.9', '203.0.113.7'],
      ['192.0.2.1, 203.0.113.7', '203.0.113.7'],
      ['192.0.2.1, 203.0.113.7, 198.51.100.9', '203.0.113.7'],
      ['2001:db8::7', '2001:db8::7'],
      ['203.0.113.7:1234', '203.0.113.7'],
      ['192.0.2.1:1, 203.0.113.7:2, 198.51.100.9:3', '203.0.113.7'],
      ['[2001:db8::7]:1234, 198.51.100.9', '2001:db8::7'],
      ['[2001:db8::7]', '2001:db8::7'],
    ])('is the last address in %s that is not a trusted proxy', async (forwarded, address) => {
      expect(await addressOf(proxied, { 'x-forwarded-for': forwarded })).toBe(address)
    })

    test('is the address of the proxy without X-Forwarded-For', async () => {
      expect(await addressOf(proxied, {})).toBe('127.0.0.1')
    })

    test.each(['nonsense', 'unknown', '203.0.113.7:x', '[203.0.113.7', '_hidden, ,', '<script>'])(
      'is unknown or valid if X-Forwarded-For is malformed: %s',
      async (forwarded) => {
        const { cookie, response } = await signInOverHttp(proxied, newEmail(), {
          'x-forwarded-for': forwarded,
        })
        const { sessions } = await proxied.client({ cookie }).sessions.list()

        expect(response.status).toBe(200)
        expect([null, '127.0.0.1', '203.0.113.7']).toContain(sessions[0]?.ipAddress)
      },
    )

    test('is not taken from another header', async () => {
      expect(await addressOf(proxied, { 'x-tallystick-address': '203.0.113.7' })).toBe('127.0.0.1')
    })
  })
})
