import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'

import { ErrorBody } from '../../contract/errors.ts'
import { addBook } from '../fixtures/books.ts'
import { createFetch, errorBody, errorBodyAt, notFound } from '../fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)

const MIB = 1024 * 1024
const signIn = async (email = newEmail()) => ({ cookie: await service.signIn(email) })

const unauthorized = errorBody(401, 'UNAUTHORIZED', 'Sign in first', true)
const shelfNotFound = errorBody(404, 'NOT_FOUND', 'There is no such shelf', true)
const loanNotFound = errorBody(404, 'NOT_FOUND', 'There is no such loan', true)
const forbidden = errorBody(403, 'FORBIDDEN', 'You may not do this to the shelf', true)
const wrongMethod = errorBody(405, 'METHOD_NOT_SUPPORTED', 'Method Not Supported')
const unreadable = errorBody(400, 'BAD_REQUEST', 'The address cannot be read')

/** Sends a request over a new connection, and returns the parsed response. */
async function sendRaw(request: string, method = '') {
  const socket = connect(Number(new URL(service.origin).port), '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined)
  socket.write(request)
  await once(socket, 'close')
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  const parsed = method === 'HEAD' ? undefined : (JSON.parse(body) as unknown)
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body: parsed }
}

describe('the order of checks', () => {
  const bad = ['{bad', '[]', '{"name":1,"email":1,"role":1}', '{"name":"\\u0000"}']
  const operations = { rename: ['PATCH', ''], share: ['POST', '/share'] } as const

  /**
   * Creates a shelf. Returns its id, and the cookies of its owner, of a reader, and of a user without access to the
   * shelf.
   */
  async function createSharedShelf() {
    const [ada, readerEmail] = [await signIn(), newEmail()]
    const { body } = await call('POST', '/api/shelves', { name: 'One' }, ada)
    const { id } = body as { id: number }
    await call('POST', `/api/shelves/${id}/share`, { email: readerEmail, role: 'reader' }, ada)
    return { ada, reader: await signIn(readerEmail), other: await signIn(), id }
  }

  describe.each(Object.entries(operations))('of shelves.%s', (_, [method, suffix]) => {
    test.each(bad)('is 401, 404, 403, 400 with the body %s', async (body) => {
      const { ada, reader, other, id } = await createSharedShelf()
      const send = async (id: number | string, headers?: Record<string, string>) =>
        (await call(method, `/api/shelves/${id}${suffix}`, body, headers)).body

      expect(await send(id)).toEqual(unauthorized)
      expect(await send('absent')).toEqual(unauthorized)
      expect(await send(987654321, ada)).toEqual(shelfNotFound)
      expect(await send(id, reader)).toEqual(forbidden)
      expect(await send(id, other)).toEqual(shelfNotFound)
      expect(await send(id, ada)).toMatchObject({ status: 400, code: 'BAD_REQUEST' })
    })
  })

  test.each(bad)('of loans.update is 401, 404, 400 with the body %s', async (body) => {
    const [ada, bob] = [await signIn(), await signIn()]
    const { body: loan } = await call('POST', '/api/loans', { bookId: await addBook(service) }, ada)
    const path = `/api/loans/${(loan as { id: number }).id}`

    expect((await call('PATCH', path, body)).body).toEqual(unauthorized)
    expect((await call('PATCH', '/api/loans/abc', body)).body).toEqual(unauthorized)
    expect((await call('PATCH', '/api/loans/987654321', body, ada)).body).toEqual(loanNotFound)
    expect((await call('PATCH', path, body, bob)).body).toEqual(loanNotFound)
    expect(await call('PATCH', path, body, ada)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } })
  })

  test.each([
    ['POST', '/api/shelves'],
    ['POST', '/api/loans'],
    ['DELETE', '/api/loans/abc'],
    ['POST', '/api/sessions/revoke'],
  ])('begins with 401 at %s %s', async (method, path) => {
    for (const body of ['{bad', '[]', '{}'])
      expect((await call(method, path, body)).body).toEqual(unauthorized)
  })

  test.each(['/api/auth/update-user', '/api/auth/admin/set-role', '/api/auth/admin/stop-impersonating'])(
    'begins with 401 at POST %s, which is not in the contract',
    async (path) => {
      for (const body of ['{bad', '[]', '{}'])
        expect((await call('POST', path, body)).body).toEqual({ ...unauthorized, defined: false })
    },
  )

  test.each(['/api/loans/abc', '/api/loans?limit=nope', '/api/me', '/api/sessions', '/api/shelves'])(
    'begins with 401 at GET %s',
    async (path) => {
      expect((await call('GET', path)).body).toEqual(unauthorized)
    },
  )
})

describe('RPC', () => {
  const outputOf = (answer: { body: unknown }) => answer.body as { json: unknown }
  const malformedJson = {
    defined: false,
    code: 'BAD_REQUEST',
    status: 400,
    message: 'The body is not valid JSON',
  }

  test('reports malformed JSON only to a signed-in caller', async () => {
    const ada = await signIn()

    const anonymous = await call('POST', '/rpc/shelves/create', '{bad')
    const signedIn = await call('POST', '/rpc/shelves/create', '{bad', ada)

    expect(anonymous.status).toBe(401)
    expect(outputOf(anonymous).json).toEqual({
      defined: true,
      code: 'UNAUTHORIZED',
      status: 401,
      message: 'Sign in first',
    })
    expect(signedIn.status).toBe(400)
    expect(outputOf(signedIn).json).toEqual(malformedJson)
  })

  test.each([undefined, {}, '[]', { json: 1 }, { json: { name: 'One' }, meta: 5 }, { json: [] }])(
    'rejects the body %j',
    async (body) => {
      const ada = await signIn()

      const answer = await call('POST', '/rpc/shelves/create', body, ada)

      expect(answer.status).toBe(400)
      expect(outputOf(answer).json).toMatchObject({ defined: false, code: 'BAD_REQUEST', status: 400 })
    },
  )

  test.each([
    ['an invalid `meta`', 'POST', '/rpc/shelves/create', { json: {}, meta: 5 }],
    ['an invalid query', 'GET', '/rpc/shelves/list?data=%7Bbad', undefined],
  ])('reports %s only to a signed-in caller', async (_, method, path, body) => {
    const anonymous = await call(method, path, body)
    const signedIn = await call(method, path, body, await signIn())

    expect([anonymous.status, signedIn.status]).toEqual([401, 400])
  })

  test.each(['/rpc/shelves/create', '/rpc/loans/create', '/rpc/visits/add', '/rpc/books/create'])(
    'rejects GET %s without an effect',
    async (path) => {
      const ada = await signIn()
      const { body: before } = await call('GET', '/api/visits')

      const answer = await call('GET', path, undefined, ada)

      expect(answer.status).toBe(405)
      expect(outputOf(answer).json).toMatchObject({ code: 'METHOD_NOT_SUPPORTED', status: 405 })
      expect((await call('GET', '/api/visits')).body).toEqual(before)
    },
  )

  test.each(['/rpc/', '/rpc/nope', '/rpc/shelves', '/rpc/shelves/create/more', '/rpc/constructor/name'])(
    'answers 404 at %s',
    async (path) => {
      expect((await call('POST', path, {})).body).toEqual(errorBodyAt(path, notFound))
    },
  )

  test.each<unknown>([
    { toString: null },
    { toString: 1, valueOf: 1 },
    { deep: [[[]]] },
    null,
    '['.repeat(1000),
  ])('rejects %j as the id of a shelf', async (id) => {
    const answer = await call('POST', '/rpc/shelves/rename', { json: { id, name: 'x' } }, await signIn())

    expect(answer.status).toBe(400)
  })
})

describe('a path', () => {
  test.each(['/api', '/api/nope', '/api//shelves', '//api/shelves', '/api/shelves/1/2', '/api/%ff', '/nope'])(
    'is not found as %s',
    async (path) => {
      const ada = await signIn()

      for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'PUT'])
        expect((await call(method, path, undefined, ada)).body).toEqual(notFound)
    },
  )

  test.each([
    ['PUT', '/api/shelves', 'GET, HEAD, POST'],
    ['DELETE', '/api/shelves', 'GET, HEAD, POST'],
    ['POST', '/api/loans/1', 'GET, HEAD, PATCH, DELETE'],
    ['PUT', '/api/books', 'GET, HEAD, POST'],
    ['GET', '/api/shelves/1', 'PATCH'],
    ['GET', '/api/shelves/1/share', 'POST'],
    ['POST', '/api/status', 'GET, HEAD'],
    ['POST', '/api/me', 'GET, HEAD'],
    ['GET', '/api/visits/add', 'POST'],
    ['GET', '/api/sessions/revoke', 'POST'],
    ['DELETE', '/api/sessions', 'GET, HEAD'],
    ['POST', '/docs', 'GET, HEAD'],
    ['POST', '/api/openapi.json', 'GET, HEAD'],
    ['GET', '/api/auth/sign-out', 'POST'],
    ['POST', '/api/auth/get-session', 'GET, HEAD'],
    ['GET', '/api/auth/admin/set-role', 'POST'],
    ['DELETE', '/authorize', 'GET, HEAD, POST'],
    ['GET', '/token', 'POST'],
    ['GET', '/mcp', 'POST'],
    ['DELETE', '/mcp', 'POST'],
    ['POST', '/api/health/ready', 'GET, HEAD'],
    ['PUT', '/rpc/shelves/list', 'GET, HEAD, POST'],
    ['DELETE', '/rpc/shelves/create', 'POST'],
    ['GET', '/rpc/shelves/create', 'POST'],
  ])('is rejected as %s %s, with Allow: %s', async (method, path, allow) => {
    const ada = await signIn()
    const answer = await call(method, path, undefined, ada)
    const options = await call('OPTIONS', path)

    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe(`${allow}, OPTIONS`)
    expect(answer.body).toEqual(errorBodyAt(path, wrongMethod))
    expect([options.status, options.body]).toEqual([204, ''])
    if (path !== '/token') expect(options.headers.get('allow')).toBe(`${allow}, OPTIONS`)
  })

  describe.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    'that does not exist',
    (method) => {
      test.each([
        '/nope',
        '/api/nope',
        '/rpc/nope',
        '/rpc/shelves/nope',
        '/docs/nope',
        '/api/auth/nope',
        '/mcp/nope',
      ])(`is not found as ${method} %s, with any body`, async (path) => {
        const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`
        const requests = [`${head}\r\n`]
        if (method !== 'TRACE') requests.push(`${head}content-type: text/csv\r\ncontent-length: 3\r\n\r\na,b`)

        for (const request of requests) {
          const { status, head, body } = await sendRaw(request, method)
          expect(status).toBe(404)
          expect(head).not.toContain('allow:')
          if (method !== 'HEAD') expect(body).toEqual(errorBodyAt(path, notFound))
        }
      })
    },
  )

  test.each([
    '/api/status',
    '/api/visits',
    '/api/shelves',
    '/api/me',
    '/api/nope',
    '/docs',
    '/api/openapi.json',
  ])('has the same response headers for HEAD as for GET at %s', async (path) => {
    const ada = await signIn()

    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(service.origin + path, { method, headers: ada })),
    )

    expect(head?.status).toBe(get?.status)
    for (const name of ['content-type', 'content-length', 'cache-control'])
      expect(head?.headers.get(name)).toBe(get?.headers.get(name))
    expect(await head?.text()).toBe('')
  })

  test.each(['/api/shelves/%00', '/api/shelves?limit=%00', '/%00', '/api/shelves/a%00b/share'])(
    'is rejected as %s',
    async (path) => {
      const ada = await signIn()

      expect(await call('GET', path, undefined, ada)).toMatchObject({ status: 400, body: unreadable })
    },
  )

  test.each(['http://', 'ftp://elsewhere.example/api/status', '*', 'api/status'])(
    'is rejected as the request target %s',
    async (target) => {
      const { status, body } = await sendRaw(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)

      expect(status).toBe(400)
      expect(ErrorBody.parse(body)).toMatchObject({ status: 400 })
    },
  )

  test.each(['/api//shelves', '/api/shelves/%zz', '/rpc/'])(
    'that is refused ends the connection, because a proxy may read the rest of the connection differently: %s',
    async (path) => {
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`

      // Resolves when the service closes the connection. The second request has no answer.
      const { status } = await sendRaw(get(path) + get('/api/status'))

      expect([400, 404]).toContain(status)
    },
  )

  test('is rejected above 8 KiB', async () => {
    const longest = `/${'a'.repeat(8191)}`

    expect((await call('GET', longest)).body).toEqual(notFound)
    expect((await call('GET', `${longest}a`)).body).toEqual(
      errorBody(414, 'URI_TOO_LONG', 'The address is too long'),
    )
  })
})

describe('the HTTP server', () => {
  test('rejects headers above 16 KiB', async () => {
    const padding = `x-padding: ${'a'.repeat(17 * 1024)}`

    const { status, head, body } = await sendRaw(`GET /api/status HTTP/1.1\r\nhost: x\r\n${padding}\r\n\r\n`)

    expect(status).toBe(431)
    expect(head).toContain('content-type: application/json')
    expect(body).toEqual(errorBody(431, 'REQUEST_HEADER_FIELDS_TOO_LARGE', 'Request Header Fields Too Large'))
  })

  test('accepts 200 header lines, and rejects more before it reads the address of the caller', async () => {
    const lines = (count: number) => 'a: b\r\n'.repeat(count)
    const send = (count: number) =>
      sendRaw(`GET /api/status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${lines(count)}\r\n`)

    expect((await send(198)).status).toBe(200)
    for (const count of [199, 2500])
      expect((await send(count)).body).toEqual(
        errorBody(431, 'REQUEST_HEADER_FIELDS_TOO_LARGE', 'A request may have at most 200 header lines'),
      )
  })

  test('accepts headers below 16 KiB', async () => {
    const answer = await call('GET', '/api/status', undefined, { 'x-padding': 'a'.repeat(15 * 1024) })

    expect(answer.status).toBe(200)
  })

  test.each([
    ['is not HTTP', 'nonsense\r\n\r\n'],
    [
      'repeats Content-Length',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    ],
    [
      'has Content-Length and Transfer-Encoding',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0',
    ],
    ['has an invalid header name', 'GET / HTTP/1.1\r\nhost: x\r\nx y: z\r\n\r\n'],
  ])('rejects a request that %s', async (_, request) => {
    expect((await sendRaw(request)).body).toEqual(errorBody(400, 'BAD_REQUEST', 'Bad Request'))
  })

  test('rejects a body of 20 MB', async () => {
    const ada = await signIn()

    const answer = await call('POST', '/api/shelves', { name: 'x'.repeat(20_000_000) }, ada)

    expect(answer.status).toBe(413)
    expect(answer.body).toEqual(errorBody(413, 'PAYLOAD_TOO_LARGE', `A body may have at most ${MIB} bytes`))
  })

  test('accepts a body of 1 MiB and rejects a longer body, with and without Content-Length', async () => {
    const ada = { ...(await signIn()), 'content-type': 'application/json' }
    const bodyOf = (bytes: number) => JSON.stringify({ name: 'x', unknown: 'x'.repeat(bytes - 25) })
    const post = async (body: string | ReadableStream) =>
      (await fetch(`${service.origin}/api/shelves`, { method: 'POST', headers: ada, body, duplex: 'half' }))
        .status

    expect(bodyOf(MIB)).toHaveLength(MIB)
    expect(await post(bodyOf(MIB))).toBe(200)
    expect(await post(bodyOf(MIB + 1))).toBe(413)
    expect(await post(new Blob([bodyOf(MIB + 1)]).stream())).toBe(413)
  })
})
