import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { once } from 'node:events'
import { describe, expect, test, vi } from 'vitest'

import { createAccess } from '../../console/access.ts'
import { mayHaveConsole } from '../../start/serve.ts'
import { startConsole } from '../fixtures/console.ts'

const developerConsole = await startConsole()
const { ask, askRoot, cookie, origin, port, root } = developerConsole
const json = { 'content-type': 'application/json' }
const post = { cookie, origin, ...json }

/** Paths of every kind: the page, its files, a procedure, and an e-mail. */
const paths = ['/', '/console/assets/main.js', '/rpc/overview', `/outbox/${crypto.randomUUID()}`]

describe('the address', () => {
  test('has only numbers of this machine', () => {
    expect(origin).toBe(`http://127.0.0.1:${port}`)
  })

  // On Linux, every address that begins with 127 belongs to this machine.
  test.skipIf(process.platform !== 'linux')('is the only one that the console listens on', async () => {
    const [error] = await once(connect(Number(port), '127.0.0.2'), 'error')

    expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('works once, and is followed by another address', async () => {
    const address = developerConsole.address()
    const before = developerConsole.uses()

    const first = await askRoot('GET', address.slice(origin.length))
    const second = await askRoot('GET', address.slice(origin.length))

    expect([first.status, first.headers.location]).toEqual([303, `${root.slice(origin.length)}/`])
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(
        new RegExp(
          `^tallystick-console-${port}=[\\w.-]+; Path=${root.slice(origin.length)}/; HttpOnly; SameSite=Strict; Max-Age=43200$`,
        ),
      ),
    ])
    expect([second.status, second.headers['set-cookie']]).toEqual([401, undefined])
    expect(developerConsole.uses()).toBe(before + 1)
    expect(developerConsole.address()).not.toBe(address)
  })

  test('works at no other path', async () => {
    const { search } = new URL(developerConsole.address())

    expect((await ask('GET', `/rpc/overview${search}`)).status).toBe(401)
  })

  test.each(['', 'x', 'A'.repeat(43), 'ä'.repeat(43)])('does not accept the key %j', async (key) => {
    expect((await askRoot('GET', `/?key=${encodeURIComponent(key)}`)).status).toBe(401)
  })
})

describe('the cookie', () => {
  test.each(paths)('is required at %s', async (path) => {
    const reading = await ask('GET', path)
    const changing = await ask('POST', path, { origin, ...json }, '{}')

    expect([reading.status, changing.status]).toEqual([401, 401])
  })

  test('is explained by a page with one inline script, and no file, to a browser that has none', async () => {
    const { status, headers, body } = await ask('GET', '/')

    expect([status, headers['content-type']]).toEqual([401, 'text/html; charset=utf-8'])
    expect(body.toString()).toContain(`<pre>${origin}/?key=…</pre>`)
    const [, script = ''] = /^<script>([^<]+)<\/script>$/m.exec(body.toString()) ?? []
    const hash = createHash('sha256').update(script).digest('base64')
    expect(headers['content-security-policy']).toContain(`script-src 'sha256-${hash}';`)
    expect(body.toString().replace(script, '')).not.toMatch(/<script>(?!<)|<script |<style|<link/)
    expect(body.toString()).not.toContain(new URL(developerConsole.address()).searchParams.get('key'))
  })

  test('opens the procedures', async () => {
    expect((await ask('POST', '/rpc/overview', post, '{}')).status).toBe(200)
  })

  test.each(paths)('does not make the service know %s', async (path) => {
    const { fetch } = developerConsole.service

    const { status } = await fetch('GET', `/dev${path}`, undefined, { cookie })

    expect(status).toBe(404)
  })

  test('belongs to a folder that servers at other ports do not know', async () => {
    const statuses = await Promise.all(
      paths.map(async (path) => (await askRoot('GET', path, { cookie })).status),
    )

    expect(root.slice(origin.length)).toMatch(/^\/[\w-]{43}$/)
    expect(statuses).toEqual(paths.map(() => 404))
  })

  test('does not follow from the secret of the service', async () => {
    const { authSecret } = developerConsole.services.settings
    const ofService = createAccess({ secret: authSecret, port: Number(port) })
    const [key = ''] = new URL(ofService.address()).searchParams.values()

    const other = ofService.useKey(key)?.split(';', 1)[0] ?? ''

    expect(root).not.toBe(origin + ofService.folder)
    expect(other).toMatch(`tallystick-console-${port}=`)
    expect((await ask('GET', '/', { cookie: other })).status).toBe(401)
  })

  test('cannot be changed', async () => {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(cookie) ?? []
    const [expires = '', signature = ''] = value.split('.')
    const forged = [
      `${Number(expires) + 1}.${signature}`,
      `${expires}.${signature.slice(1)}`,
      `${expires}.`,
      expires,
      '',
      `0${expires}.${signature}`,
    ]

    const statuses = await Promise.all(
      forged.map(async (each) => (await ask('GET', '/', { cookie: `${name}=${each}` })).status),
    )

    expect(statuses).toEqual(forged.map(() => 401))
  })

  test('ends after twelve hours', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 12 * 3600_000 + 1000 })
    const { status } = await ask('GET', '/', { cookie }).finally(() => vi.useRealTimers())

    expect(status).toBe(401)
  })
})

describe('a request', () => {
  test.each([
    'localhost',
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    '127.0.0.1',
    `127.0.0.1.:${port}`,
    `127.0.0.1:${port}.example.com`,
    `[::1]:${port}`,
    `0.0.0.0:${port}`,
    `127.1:${port}`,
    `console.example.com:${port}`,
    `127.0.0.1:${Number(port) + 1}`,
  ])('is refused with the host %j', async (host) => {
    const statuses = await Promise.all([
      ask('GET', '/', { cookie, host }),
      ask('POST', '/rpc/overview', { ...post, host, origin: `http://${host}` }, '{}'),
      ask('POST', '/rpc/overview', { ...post, host }, '{}'),
    ])

    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403])
  })

  test.each([
    ['forwarded', 'for=127.0.0.1'],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-host', `127.0.0.1:${port}`],
    ['x-forwarded-anything', ''],
    ['x-real-ip', '127.0.0.1'],
    ['via', '1.1 proxy'],
  ])('is refused with the header %s', async (name, value) => {
    const reading = await ask('GET', '/', { cookie, [name]: value })
    const changing = await ask('POST', '/rpc/overview', { ...post, [name]: value }, '{}')

    expect([reading.status, changing.status]).toEqual([403, 403])
  })

  test.each([
    undefined,
    'null',
    '',
    'http://localhost:3000',
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}/`,
  ])('that could change something is refused with the origin %s', async (other) => {
    const { origin: _, ...rest } = post
    const headers = other === undefined ? rest : { ...rest, origin: other }

    expect((await ask('POST', '/rpc/data/addSamples', headers, '{}')).status).toBe(403)
  })

  test('of a page of another origin is refused', async () => {
    const { status } = await ask('GET', '/', { cookie, origin: 'http://localhost:3000' })

    expect(status).toBe(403)
  })

  test.each(['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])(
    'with the method %s is refused',
    async (method) => {
      expect((await ask(method, '/', { cookie, origin })).status).toBe(403)
    },
  )

  test('cannot call a procedure with GET', async () => {
    expect((await ask('GET', '/rpc/data/addSamples', { cookie, origin })).status).toBe(404)
  })

  test('with a whole URL as its target is refused', async () => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.end(
      `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\n\r\n`,
    )
    const [chunk] = (await once(socket, 'data')) as [Buffer]

    expect(chunk.toString()).toMatch(/^HTTP\/1.1 403 /)
  })

  test('with thousands of headers before the header of a proxy is refused', async () => {
    const socket = connect(Number(port), '127.0.0.1')
    const headers = `Host: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\n${'a:\r\n'.repeat(2500)}Via: 1.1 proxy\r\n`
    socket.end(`GET ${root.slice(origin.length)}/ HTTP/1.1\r\n${headers}\r\n`)
    const [chunk] = (await once(socket, 'data')) as [Buffer]

    expect(chunk.toString()).toMatch(/^HTTP\/1.1 403 /)
  })

  test('with a target that is no URL is answered without an error in the log', async () => {
    const logged = vi.spyOn(developerConsole.services.log, 'error')

    const { status } = await ask('GET', '//[', { cookie })

    expect(status).toBe(404)
    expect(logged).not.toHaveBeenCalled()
  })

  test('with two hosts is refused', async () => {
    const socket = connect(Number(port), '127.0.0.1')
    const hosts = `Host: 127.0.0.1:${port}\r\nHost: 127.0.0.1:${port}`
    socket.end(`GET ${root.slice(origin.length)}/ HTTP/1.1\r\n${hosts}\r\nCookie: ${cookie}\r\n\r\n`)
    const [chunk] = (await once(socket, 'data')) as [Buffer]

    expect(chunk.toString()).toMatch(/^HTTP\/1.1 4\d\d /)
  })

  test('with a body of more than a mebibyte is refused', async () => {
    const { status } = await ask(
      'POST',
      '/rpc/overview',
      post,
      JSON.stringify({ json: 'x'.repeat(1024 * 1024) }),
    )

    expect(status).toBe(413)
  })
})

describe('an answer', () => {
  test('permits no other origin, no frame and no script of others', async () => {
    const answers = await Promise.all([
      ask('GET', '/'),
      ask('GET', '/', { cookie }),
      ask('POST', '/rpc/overview', post, '{}'),
      ask('GET', '/', { cookie, host: 'example.com' }),
      ask('OPTIONS', '/rpc/overview', {
        cookie,
        origin: 'http://example.com',
        'access-control-request-method': 'POST',
      }),
    ])

    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      })
      expect(headers['content-security-policy']).not.toContain('unsafe')
    }
  })
})

describe('the service', () => {
  const local = { console: true, production: false, workers: 1 }
  const settings = ['NODE_ENV', 'HOST', 'BASE_URL', 'DATABASE_URL', 'TRUSTED_PROXIES']

  test('has a console after `start` without settings', () => {
    expect(mayHaveConsole({ PORT: '3000', SMTP_URL: 'smtp://localhost' }, local, false)).toBe(true)
    expect(mayHaveConsole(Object.fromEntries(settings.map((name) => [name, ''])), local, false)).toBe(true)
  })

  test('has no console after `start` with a setting of a deployment', () => {
    const anySettings = fc.dictionary(fc.constantFrom(...settings), fc.string({ minLength: 1 }), {
      minKeys: 1,
    })

    fc.assert(fc.property(anySettings, (environment) => !mayHaveConsole(environment, local, false)))
  })

  test.each([
    [{ console: true, production: true, workers: 1 }, false],
    [{ console: true, production: true, workers: 1 }, true],
    [{ console: true, production: false, workers: 2 }, false],
    [{ console: true, production: false, workers: 2 }, true],
    [{ console: false, production: false, workers: 1 }, false],
    [{ console: false, production: false, workers: 1 }, true],
  ])('has no console with %j', (given, isDevelopment) => {
    expect(mayHaveConsole({}, given, isDevelopment)).toBe(false)
  })

  test('has a console during `tallystick dev`, with any other setting', () => {
    expect(mayHaveConsole({ DATABASE_URL: 'postgres://localhost/x' }, local, true)).toBe(true)
  })
})
