import { once } from 'node:events'
import dns from 'node:dns'
import { createSocket } from 'node:dgram'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { appWithId, createOAuthCalls, openPage, redirectUri } from '../fixtures/oauth-app.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'
import { createCertificate, hasOpenssl } from '../fixtures/tls.ts'

const limited = await startService({
  ...(await settingsWithAddress()),
  RATE_LIMITS: 'on',
  TRUSTED_PROXIES: '127.0.0.1',
  LIMITS: 'documents=3',
})
/** A service outside production, which also fetches documents from loopback addresses. */
const service = await startService(await settingsWithAddress())
const production = await startService({
  NODE_ENV: 'production',
  BASE_URL: 'https://tallystick.example',
  AUTH_SECRET: 'x'.repeat(32),
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'tallystick@example.com',
})
const { signIn, listShelves } = createOAuthCalls(service)

let certificate: { key: Buffer; cert: Buffer }
beforeAll(() => {
  if (!hasOpenssl) return
  certificate = createCertificate()
  // Disables certificate checks: the test hosts use self-signed certificates, and a running process cannot add a CA.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
})
afterAll(() => vi.unstubAllEnvs())
afterEach(() => vi.restoreAllMocks())

interface ClientDocument {
  client_id: string
  client_name: string
  redirect_uris: string[]
}
type Respond = (response: ServerResponse, document: string, fields: ClientDocument) => void

/**
 * Starts an HTTPS server that serves client metadata documents and records the requests. The path is random, because
 * the service caches documents by URL, and a later server can get the same port.
 */
async function startHost(respond: Respond = (response, document) => response.end(document)) {
  const requests: string[] = []
  const prefix = `/${crypto.randomUUID()}`
  const server = createServer(certificate, ({ url = '' }, response) => {
    requests.push(url.slice(prefix.length))
    const fields = {
      client_id: new URL(origin).origin + url,
      client_name: 'A described app',
      redirect_uris: [redirectUri],
    }
    respond(response, JSON.stringify(fields), fields)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`
  return { origin, requests }
}

/** Serves one client metadata document. Returns its URL, which is the `client_id` of the app. */
async function serveDocument(
  change: (fields: ClientDocument) => unknown,
  status = 200,
  headers: Record<string, string> = {},
) {
  const { origin } = await startHost((response, _, fields) => {
    const body = change(fields)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  return `${origin}/app.json`
}

const requestConsent = async (id: string, headers: Record<string, string> = {}, where = service) => {
  const response = await fetch(appWithId(where, id).authorizationUrl(), { redirect: 'manual', headers })
  return { status: response.status, headers: response.headers, html: await response.text() }
}
const from = (address: string) => ({ 'x-forwarded-for': address })
const advanceClock = async (milliseconds: number) => {
  const now = performance.now() + milliseconds
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  // lru-cache reads the clock at most once per millisecond. Its timer is older, and therefore ends first.
  await setTimeout(5)
}

describe('an app with a client document', () => {
  test.runIf(hasOpenssl)('is authorized, outside production also from a loopback address', async () => {
    const app = appWithId(service, await serveDocument((fields) => fields))
    const cookie = await signIn()

    const page = await openPage(app.authorizationUrl(), cookie)
    const tokens = await app.obtainTokens(cookie)

    expect(page.html).toContain('<h1>Authorize <bdi>A described app</bdi>?</h1>')
    expect(await listShelves(tokens)).toMatchObject({ status: 200 })
  })

  test
    .runIf(hasOpenssl)
    .each<[string, (fields: ClientDocument) => unknown, number?, Record<string, string>?]>([
      ['has the id of another app', (fields) => ({ ...fields, client_id: `${fields.client_id}?` })],
      ['has other redirect URIs', (fields) => ({ ...fields, redirect_uris: ['https://app.example/'] })],
      [
        'has no supported redirect URI',
        (fields) => ({ ...fields, redirect_uris: ['javascript:alert(1)', 'myapp://callback'] }),
      ],
      ['has a secret', (fields) => ({ ...fields, token_endpoint_auth_method: 'client_secret_basic' })],
      ['is too large', (fields) => ({ ...fields, padding: 'x'.repeat(11 * 1024) })],
      ['is not JSON', () => '<html>'],
      ['is not found', (fields) => fields, 404],
      ['redirects', (fields) => fields, 302, { location: '/app.json' }],
    ])('is rejected when the document %s', async (_, change, status, headers) => {
    const id = await serveDocument(change, status, headers)

    const page = await openPage(appWithId(service, id).authorizationUrl())

    expect(page).toMatchObject({ status: 400, location: null })
  })

  test('is rejected when no host answers', async () => {
    const page = await openPage(appWithId(service, 'https://127.0.0.1:9/app.json').authorizationUrl())

    expect(page).toMatchObject({ status: 400 })
  })
})

describe('in production', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '0.0.0.0'])(
    'no document is fetched from a loopback address: %s',
    async (host) => {
      let connections = 0
      const server = createTcpServer((socket) => {
        connections++
        socket.destroy()
      })
      server.listen(0, '::')
      await once(server, 'listening')
      const id = `https://${host}:${(server.address() as AddressInfo).port}/app.json`

      const page = await openPage(appWithId(production, id).authorizationUrl())

      expect(page).toMatchObject({ status: 400, location: null })
      expect(connections).toBe(0)
      expect(await openPage(appWithId(service, id).authorizationUrl())).toMatchObject({ status: 400 })
      // Verifies the test itself: outside production, the service connects, and the server counts the connection.
      if (host === '127.0.0.1') expect(connections).toBe(1)
      server.close()
    },
  )

  test.each([
    '10.0.0.1',
    '192.168.0.1',
    '172.16.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '[fd00::1]',
    '[fe80::1]',
  ])('no document is fetched from a private network: %s', async (host) => {
    const connect = vi.spyOn(Socket.prototype, 'connect')

    const page = await openPage(appWithId(production, `https://${host}/app.json`).authorizationUrl())

    expect(page).toMatchObject({ status: 400 })
    expect(inspect(connect.mock.calls, { depth: 4 })).not.toContain(host.replace(/[[\]]/g, ''))
  })
})

describe.runIf(hasOpenssl)('a client document', () => {
  test('is fetched once for concurrent and successive requests', async () => {
    const { origin, requests } = await startHost()
    const id = `${origin}/app.json`

    const answers = await Promise.all(Array.from({ length: 30 }, () => requestConsent(id)))
    for (let index = 0; index < 20; index++) answers.push(await requestConsent(id))

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(requests).toEqual(['/app.json'])
  })

  test.each<[string, Record<string, string>, number, number]>([
    ['no header', {}, 59, 61],
    ['no-store', { 'cache-control': 'no-store' }, 59, 61],
    ['max-age=0', { 'cache-control': 'max-age=0' }, 59, 61],
    ['max-age=600', { 'cache-control': 'max-age=600' }, 598, 601],
    ['max-age=600 and Age: 300', { 'cache-control': 'max-age=600', age: '300' }, 298, 301],
    ['Expires', { expires: new Date(Date.now() + 600_000).toUTCString() }, 500, 610],
    ['max-age of a year', { 'cache-control': 'max-age=31536000' }, 86_390, 86_401],
  ])(
    'is cached as its headers say, at least a minute and at most a day: %s',
    async (_, headers, fresh, stale) => {
      const { origin, requests } = await startHost((response, document) => {
        response.writeHead(200, headers).end(document)
      })
      const id = `${origin}/app.json`
      await requestConsent(id)

      await advanceClock(fresh * 1000)
      expect((await requestConsent(id)).status).toBe(200)
      expect(requests).toHaveLength(1)
      vi.restoreAllMocks()
      await advanceClock(stale * 1000)
      expect((await requestConsent(id)).status).toBe(200)
      expect(requests).toHaveLength(2)
    },
  )

  test.each<[string, (response: ServerResponse, document: string) => void]>([
    ['is absent', (response) => response.writeHead(404, { 'cache-control': 'max-age=600' }).end()],
    ['is not JSON', (response) => response.end('<html>')],
    ['is too large', (response, document) => response.end(document + ' '.repeat(11 * 1024))],
    [
      'is too large without a length',
      (response, document) => {
        response.write(document)
        response.end(' '.repeat(11 * 1024))
      },
    ],
    ['redirects', (response) => response.writeHead(302, { location: '/other.json' }).end()],
    ['ends early', (response) => response.socket?.destroy()],
    [
      'switches to another protocol',
      (response) => response.writeHead(101, { connection: 'upgrade', upgrade: 'a' }).end(),
    ],
    [
      'has a name of more than 120 characters',
      (response, document) => response.end(document.replace('A described app', 'x'.repeat(121))),
    ],
    [
      'has a redirect URI with a user name',
      (response, document) => response.end(document.replace('127.0.0.1:9', 'bank@127.0.0.1:9')),
    ],
  ])('that %s is not fetched again for ten seconds', async (_, respond) => {
    const { origin, requests } = await startHost(respond)
    const id = `${origin}/app.json`

    const answers = await Promise.all(Array.from({ length: 10 }, () => requestConsent(id)))
    expect((await requestConsent(id)).status).toBe(400)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]))
    expect(requests).toEqual(['/app.json'])

    await advanceClock(11_000)
    await requestConsent(id)
    expect(requests).toEqual(['/app.json', '/app.json'])
  })

  test('is fetched up to the limit of an IP address, and a cached document does not count', async () => {
    const { origin, requests } = await startHost()
    const [one, another] = [from('198.51.100.1'), from('198.51.100.2')]
    const statuses: number[] = []

    for (const name of ['1', '1', '2', '2', '3', '4', '5'])
      statuses.push((await requestConsent(`${origin}/${name}`, one, limited)).status)
    const rejected = await requestConsent(`${origin}/6`, one, limited)

    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(rejected.headers.get('ratelimit-policy')).toBe('"documents";q=3;w=60')
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(rejected.html).toContain('Too many requests')
    expect((await requestConsent(`${origin}/1`, one, limited)).status).toBe(200)
    expect((await requestConsent(`${origin}/4`, another, limited)).status).toBe(200)
    expect(requests).toEqual(['/1', '/2', '/3', '/4'])
  })

  test('is not fetched while twenty fetches are pending, and is fetched after them', async () => {
    const pending: (() => void)[] = []
    const slow = await startHost((response, document) => {
      pending.push(() => response.end(document))
    })
    const first = Array.from({ length: 20 }, (_, index) => requestConsent(`${slow.origin}/${index}`))
    await vi.waitFor(() => {
      expect(pending).toHaveLength(20)
    }, PATIENCE)

    const rejected = await requestConsent(`${slow.origin}/one-more`)

    expect(rejected.status).toBe(503)
    expect(rejected.headers.get('retry-after')).toBe('1')
    expect(rejected.html).toContain('<h1>')

    for (const end of pending) end()
    expect(new Set((await Promise.all(first)).map(({ status }) => status))).toEqual(new Set([200]))
    const quick = await startHost()
    expect((await requestConsent(`${quick.origin}/one-more`)).status).toBe(200)
    expect(slow.requests).not.toContain('/one-more')
  })

  test.each([
    ['a user name', (origin: string) => origin.replace('//', '//user@') + '/app.json'],
    ['an empty user name', (origin: string) => origin.replace('//', '//@') + '/app.json'],
    ['a fragment', (origin: string) => `${origin}/app.json#`],
    ['no path', (origin: string) => `${new URL(origin).origin}/`],
    ['dot segments', (origin: string) => `${origin}/a/../app.json`],
    ['a line break', (origin: string) => `${origin}/app\n.json`],
    ['a backslash', (origin: string) => `${origin}\\app.json`],
  ])('is not fetched from a URL with %s', async (_, write) => {
    const { origin, requests } = await startHost()

    const { status } = await requestConsent(write(origin))

    expect(status).toBe(400)
    expect(requests).toEqual([])
  })

  test('has its host shown on the page', async () => {
    const { origin } = await startHost()
    const cookie = await service.signIn(newEmail())

    const { html } = await requestConsent(`${origin}/app.json`, { cookie })

    expect(html).toContain(`<dt>The app is described by</dt>\n<dd>the website <bdi>${new URL(origin).host}`)
  })
})

test('in production, the service resolves a host by a DNS query that occupies no thread', async () => {
  const queries: string[] = []
  const server = createSocket('udp4').bind(0, '127.0.0.1')
  server.on('message', (message) => queries.push(message.toString('latin1')))
  await once(server, 'listening')
  const before = dns.getServers()
  dns.setServers([`127.0.0.1:${server.address().port}`])
  onTestFinished(() => {
    dns.setServers(before)
    server.close()
  })

  const pending = requestConsent('https://silent.example/app.json', {}, production)
  await vi.waitFor(() => {
    expect(queries.some((message) => message.includes('silent'))).toBe(true)
  }, PATIENCE)

  // The DNS server never answers, so the service responds with 400 after the timeout of the DNS query.
  expect((await pending).status).toBe(400)
}, 60_000)
