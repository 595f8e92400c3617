import fc from 'fast-check'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'

import { readTarget } from '../../http/server/request.ts'
import { createFetch } from '../fixtures/http.ts'
import { serveWithLog } from '../fixtures/logged-server.ts'
import { withTableLocked, newEmail, startService } from '../fixtures/service.ts'
import { exchange } from '../fixtures/raw-http.ts'

/** How long a test waits for a response or a log line before it fails, in milliseconds. */
const TIMEOUT = 20_000

const service = await startService({ MAX_REQUESTS: '1' })
const { server, lines, port } = await serveWithLog(service.services, 'info')
const cookie = await service.signIn(newEmail())

/** Sends a request with this request target. Returns the response and the log lines. */
async function ask(target: string, head = 'host: localhost\r\n', method = 'GET') {
  lines.length = 0
  const { responses } = await exchange(
    port,
    [`${method} ${target} HTTP/1.1\r\n${head}cookie: ${cookie}\r\n\r\n`],
    {
      responses: 1,
      timeout: TIMEOUT,
    },
  )
  await expect.poll(() => lines.length, { timeout: TIMEOUT, interval: 1 }).toBeGreaterThan(0)
  return { status: responses[0]?.status, log: JSON.parse(lines.at(-1) ?? '') as { req: { path: string } } }
}

/** Parses a request target as the router does. */
const targetOf = (url: string) =>
  readTarget({ url, headers: { host: 'localhost' }, httpVersion: '1.1' }, 'http://localhost')

const dots = ['.', '..', '%2e', '%2E', '.%2e', '%2e.', '%2E%2e', '%252e', '%252e%25252E']
const separators = ['/', '%2f', '%2F', '%5c', '%5C', '%252f', ';', '%3b', ';x=']
const dotted = dots.flatMap((dot) =>
  separators.flatMap((separator) => [
    `/api/health/${dot}${separator}visits`,
    `/api/health${separator}${dot}/visits`,
    `/api/health/live${separator}${dot}`,
  ]),
)

describe('a request target with dot segments', () => {
  test.each(dotted)('matches no route, and is logged: %s', async (path) => {
    const { status, log } = await ask(path)

    expect(status).toBe(404)
    // Encoded dots are decoded, but not dots that are encoded twice.
    expect(log).toMatchObject({ req: { path: path.replace(/%2e/gi, '.') } })
  })

  test.each([
    '/api/%2e%2e/api/visits',
    '/api/./visits',
    '/api/health/../visits',
    '/api/health/live/../../visits',
    '/./api/visits',
    '/api/visits/.',
    '/api/visits/..',
    'http://localhost/api/./visits',
  ])('matches no operation: %s', async (path) => {
    expect((await ask(path)).status).toBe(404)
  })

  test.each(['/api/..\\visits', '/api\\visits', '/api/health/live\\..\\..\\visits'])(
    'is rejected with backslashes: %s',
    async (path) => {
      expect(await ask(path)).toMatchObject({ status: 400, log: { req: { path: '(unreadable)' } } })
    },
  )
})

describe('a request target', () => {
  test.each([
    '/API/VISITS',
    '/api/visits.',
    '/api/visits;x=1',
    '/api//visits',
    '//api/visits',
    '/api/visits/',
    '/api%2fvisits',
    '/api/health/live/',
    '/api/health/LIVE',
    '/api/health/',
    '/api/health/other',
  ])('has one valid spelling, and %s is invalid', async (path) => {
    expect(await ask(path)).toMatchObject({ status: 404, log: { req: { path } } })
  })

  test.each([
    ['/%61pi/visits', '/api/visits'],
    ['/api/v%69sits', '/api/visits'],
    ['/api/st%61tus', '/api/status'],
    ['/%61%70%69/%73%74%61%74%75%73', '/api/status'],
  ])('may encode letters: %s', async (path, decoded) => {
    expect((await ask(path)).status).toBe(200)
    expect(targetOf(path)).toMatchObject({ path: decoded })
    expect(targetOf(path).url().pathname).toBe(decoded)
  })

  test.each(['/api/visits%2Fx', '/api/visits%3Bx', '/api/a%20b', '/api/%2561', '/api/%C3%A9'])(
    'keeps other escapes: %s',
    (path) => {
      expect(targetOf(path).path).toBe(path)
    },
  )

  test.each([
    '/api/visits#x',
    '/api/visits#?x',
    '/api/visits?x#y',
    '/api/é',
    '/api/%',
    '/api/%zz',
    '/api/%%33%30',
    '/api/%%61',
    '/a b',
  ])('is rejected as %s', async (path) => {
    const { responses } = await exchange(port, [`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`], {
      responses: 1,
      timeout: TIMEOUT,
    })

    expect(responses.map(({ status }) => status)).toEqual([400])
  })

  test('is parsed to the logged path, or rejected', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...dots,
        ...separators,
        '/',
        '//',
        '?',
        '#',
        '\\',
        '%',
        '%00',
        'api',
        'visits',
        '@',
        ':',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constantFrom(
        'http://localhost',
        'https://LOCALHOST',
        'http://elsewhere',
        '[',
        '"',
        '{',
        '|',
        '^',
        '`',
      ),
    )
    const url = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))

    let read = 0
    fc.assert(
      fc.property(
        fc.oneof(
          url,
          url.map((rest) => `/api${rest}`),
        ),
        (given) => {
          const target = targetOf(given)
          if (target.refusal) return
          read++
          expect(target.url().pathname).toBe(target.path)
          expect(target.url().origin).toBe('http://localhost')
          expect(target.path).toMatch(/^(\/|(\/[^/\\?#]+)+)$/)
        },
      ),
      { numRuns: 5000 },
    )
    expect(read).toBeGreaterThan(100)
  })

  test('can be an absolute URL with the host of the Host header', async () => {
    expect(await ask('http://localhost/api/visits?x=y')).toMatchObject({
      status: 200,
      log: { req: { path: '/api/visits' } },
    })
    for (const target of ['http://elsewhere/api/visits', 'http://me:secret@localhost/api/visits'])
      expect(await ask(target)).toMatchObject({ status: 400, log: { req: { path: '(unreadable)' } } })
  })
})

describe('Host', () => {
  test.each([
    'host: localhost\r\nhost: localhost\r\n',
    'host: localhost\r\nHost: elsewhere\r\n',
    'host: me@localhost\r\n',
    'host: local host\r\n',
    'host: localhost, elsewhere\r\n',
    'host: localhost/x\r\n',
    'host: localhost:x\r\n',
    'host: \r\n',
    'host:\r\n',
    '',
  ])('is rejected as %j', async (head) => {
    expect((await ask('/api/visits', head)).status).toBe(400)
  })

  test.each(['localhost', 'LOCALHOST:3000', '127.0.0.1:3000', '[::1]:3000', '[::1]', 'a-b.example.com:'])(
    'may be %s',
    async (host) => {
      expect((await ask('/api/visits', `host: ${host}\r\n`)).status).toBe(200)
    },
  )
})

describe('a header that must be unique', () => {
  test('is ignored if two values differ', async () => {
    const head = 'host: localhost\r\nauthorization: Bearer a.b.c\r\nauthorization: Bearer d.e.f\r\n'

    expect((await ask('/api/shelves', head)).status).toBe(401)
  })
})

describe('MAX_REQUESTS', () => {
  const call = createFetch({ origin: `http://127.0.0.1:${port}` })

  test('applies to every request except health checks', async () => {
    let held: Promise<unknown> | undefined
    await withTableLocked(service.databaseUrl, 'shelves', async () => {
      const arrived = once(server, 'request')
      held = call('GET', '/api/shelves', undefined, { cookie })
      await arrived

      const spellings = ['/api/health/../visits', '/api/health/live/x', '/api/health%2Flive', '/api/health/']
      for (const path of ['/api/visits', ...spellings]) expect((await ask(path)).status).toBe(503)
      expect((await call('POST', '/api/health/live', {})).status).toBe(503)
      for (const path of ['/api/health/live', '/api/health/ready', '/api/health/liv%65'])
        expect((await call('GET', path)).status).toBe(200)
    })
    await held
  })
})
