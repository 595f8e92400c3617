import { createSocket } from 'node:dgram'
import dns from 'node:dns'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { settingsWithAddress, startService } from './service.ts'
import { appWithId, redirectUri } from './oauth-app.ts'

const limited = await startService({
  ...(await settingsWithAddress()),
  RATE_LIMITS: 'on',
  TRUSTED_PROXIES: '127.0.0.1',
  LIMITS: 'documents=3',
})
/** Without the limit by address. */
const service = await startService(await settingsWithAddress())
const production = await startService({
  NODE_ENV: 'production',
  BASE_URL: 'https://tallystick.example',
  AUTH_SECRET: 'x'.repeat(32),
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'tallystick@example.com',
})

const hasOpenssl = (() => {
  try {
    return execFileSync('openssl', ['version']).length > 0
  } catch {
    return false
  }
})()

let folder: string
let tls: { key: Buffer; cert: Buffer }
beforeAll(() => {
  if (!hasOpenssl) return
  folder = mkdtempSync(join(tmpdir(), 'tallystick-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync(
    'openssl',
    ['req', '-x509', ...curve, '-subj', '/CN=localhost', '-keyout', key, '-out', cert],
    {
      stdio: 'ignore',
    },
  )
  tls = { key: readFileSync(key), cert: readFileSync(cert) }
  // No certificate can be added to a process that runs.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
})
afterAll(() => {
  vi.unstubAllEnvs()
  if (hasOpenssl) rmSync(folder, { recursive: true })
})
afterEach(() => vi.restoreAllMocks())

/** A host of documents that counts its requests. Its paths are its own: a later host may get the same port. */
async function host(respond?: (response: ServerResponse, document: string) => void) {
  const requests: string[] = []
  const prefix = `/${crypto.randomUUID()}`
  const server = createServer(tls, ({ url = '' }, response) => {
    requests.push(url.slice(prefix.length))
    const client_id = new URL(origin).origin + url
    const document = JSON.stringify({
      client_id,
      client_name: 'A described app',
      redirect_uris: [redirectUri],
    })
    if (respond) respond(response, document)
    else response.end(document)
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

const ask = async (id: string, headers: Record<string, string> = {}, where = service) => {
  const answer = await fetch(appWithId(where, id).authorizationUrl(), { redirect: 'manual', headers })
  return { status: answer.status, headers: answer.headers, html: await answer.text() }
}
const from = (address: string) => ({ 'x-forwarded-for': address })
const pass = (milliseconds: number) => {
  const now = performance.now() + milliseconds
  vi.spyOn(performance, 'now').mockImplementation(() => now)
}

describe.runIf(hasOpenssl)('the document of an app', () => {
  test('is fetched once for many requests, at once and after another', async () => {
    const { origin, requests } = await host()
    const id = `${origin}/app.json`

    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(id)))
    for (let index = 0; index < 20; index++) answers.push(await ask(id))

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(requests).toEqual(['/app.json'])
  })

  test.each<[string, Record<string, string>, number, number]>([
    ['no header', {}, 59, 61],
    ['no-store', { 'cache-control': 'no-store' }, 59, 61],
    ['max-age=0', { 'cache-control': 'max-age=0' }, 59, 61],
    ['max-age=600', { 'cache-control': 'max-age=600' }, 598, 601],
    ['max-age=600 of which 300 are over', { 'cache-control': 'max-age=600', age: '300' }, 298, 301],
    ['Expires', { expires: new Date(Date.now() + 600_000).toUTCString() }, 500, 610],
    ['max-age of a year', { 'cache-control': 'max-age=31536000' }, 86_390, 86_401],
  ])(
    'is cached by its headers, a minute at least and a day at most: %s',
    async (_, headers, fresh, stale) => {
      const { origin, requests } = await host((response, document) => {
        response.writeHead(200, headers).end(document)
      })
      const id = `${origin}/app.json`
      await ask(id)

      pass(fresh * 1000)
      expect((await ask(id)).status).toBe(200)
      expect(requests).toHaveLength(1)
      vi.restoreAllMocks()
      pass(stale * 1000)
      expect((await ask(id)).status).toBe(200)
      expect(requests).toHaveLength(2)
    },
  )

  test.each<[string, (response: ServerResponse, document: string) => void]>([
    ['is absent', (response) => response.writeHead(404, { 'cache-control': 'max-age=600' }).end()],
    ['is no JSON', (response) => response.end('<html>')],
    ['is too large', (response, document) => response.end(document + ' '.repeat(11 * 1024))],
    [
      'is too large without a length',
      (response, document) => {
        response.write(document)
        response.end(' '.repeat(11 * 1024))
      },
    ],
    ['is elsewhere', (response) => response.writeHead(302, { location: '/other.json' }).end()],
    ['breaks off', (response) => response.socket?.destroy()],
    [
      'has a deceptive name',
      (response, document) => response.end(document.replace('A described app', 'knab\\u202E')),
    ],
    [
      'has a redirect URI with a user',
      (response, document) => response.end(document.replace('127.0.0.1:9', 'bank@127.0.0.1:9')),
    ],
  ])('that %s is not asked for again for ten seconds', async (_, respond) => {
    const { origin, requests } = await host(respond)
    const id = `${origin}/app.json`

    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(id)))
    expect((await ask(id)).status).toBe(400)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]))
    expect(requests).toEqual(['/app.json'])

    pass(11_000)
    await ask(id)
    expect(requests).toEqual(['/app.json', '/app.json'])
  })

  test('is fetched for an address only so often, and a cached one is not counted', async () => {
    const { origin, requests } = await host()
    const [here, there] = [from('198.51.100.1'), from('198.51.100.2')]
    const statuses: number[] = []
    for (const name of ['1', '1', '2', '2', '3', '4', '5'])
      statuses.push((await ask(`${origin}/${name}`, here, limited)).status)
    const refused = await ask(`${origin}/6`, here, limited)

    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(refused.headers.get('ratelimit-policy')).toBe('"documents";q=3;w=60')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.html).toContain('Too many requests')
    expect((await ask(`${origin}/1`, here, limited)).status).toBe(200)
    expect((await ask(`${origin}/4`, there, limited)).status).toBe(200)
    expect(requests).toEqual(['/1', '/2', '/3', '/4'])
  })

  test('is not fetched beside twenty others, and this is no lasting refusal', async () => {
    const waiting: (() => void)[] = []
    const slow = await host((response, document) => {
      waiting.push(() => response.end(document))
    })
    const held = Array.from({ length: 20 }, (_, index) => ask(`${slow.origin}/${index}`))
    await vi.waitFor(() => {
      expect(waiting).toHaveLength(20)
    })

    const refused = await ask(`${slow.origin}/one-more`)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.html).toContain('<h1>')

    for (const end of waiting) end()
    expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set([200]))
    const quick = await host()
    expect((await ask(`${quick.origin}/one-more`)).status).toBe(200)
    expect(slow.requests).not.toContain('/one-more')
  })

  test.each([
    ['a user', (origin: string) => origin.replace('//', '//user@') + '/app.json'],
    ['an empty user', (origin: string) => origin.replace('//', '//@') + '/app.json'],
    ['a fragment', (origin: string) => `${origin}/app.json#`],
    ['no path', (origin: string) => `${new URL(origin).origin}/`],
    ['dot segments', (origin: string) => `${origin}/a/../app.json`],
    ['a line break', (origin: string) => `${origin}/app\n.json`],
    ['a backslash', (origin: string) => `${origin}\\app.json`],
  ])('is not fetched from a URL with %s', async (_, write) => {
    const { origin, requests } = await host()

    expect((await ask(write(origin))).status).toBe(400)
    expect(requests).toEqual([])
  })

  test('tells the host of the document on the page', async () => {
    const { origin } = await host()
    const email = `${crypto.randomUUID()}@example.com`
    const { html } = await ask(`${origin}/app.json`, { cookie: await service.signIn(email) })

    expect(html).toContain(
      `<dt>The app is described by</dt>\n<dd>the website <strong>${new URL(origin).host}`,
    )
  })
})

test('in production a host is resolved without a thread of the process', async () => {
  const asked: string[] = []
  const server = createSocket('udp4').bind(0, '127.0.0.1')
  server.on('message', (message) => asked.push(message.toString('latin1')))
  await once(server, 'listening')
  const before = dns.getServers()
  dns.setServers([`127.0.0.1:${server.address().port}`])
  onTestFinished(() => {
    dns.setServers(before)
    server.close()
  })

  const waiting = ask('https://silent.example/app.json', {}, production)
  await vi.waitFor(() => {
    expect(asked.some((message) => message.includes('silent'))).toBe(true)
  })

  // The name server never answers: the fetch gives up by itself.
  expect((await waiting).status).toBe(400)
}, 15_000)
