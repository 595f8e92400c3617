import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import PostalMime from 'postal-mime'
import postgres from 'postgres'
import { SMTPServer } from 'smtp-server'
import { beforeAll, describe, expect, inject, test } from 'vitest'

import { cookieOf } from '../src/testing.ts'
import { databaseUrl } from './postgres.ts'
import { createFetch, signInOverHttp } from './http.ts'
import { type Service, newEmail, startService } from './service.ts'

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
const someone = async () => ({ cookie: await service.signIn(newEmail()) })
const shared = ({ headers }: { headers: Headers }) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

describe('CORS', () => {
  const ask = (origin: string, path: string, method: string) =>
    fetch(service.origin + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type,datastar-request',
      },
    })

  test.each([
    ['/api/tasks', 'POST'],
    ['/api/tasks/1', 'PATCH'],
    ['/api/tasks/1', 'DELETE'],
    ['/rpc/tasks/create', 'POST'],
    ['/api/auth/update-user', 'POST'],
  ])('lets a trusted origin ask for %s by %s', async (path, method) => {
    const { status, headers } = await ask(TRUSTED, path, method)

    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe(TRUSTED)
    expect(headers.get('access-control-allow-credentials')).toBe('true')
    expect(headers.get('access-control-allow-methods')?.split(',')).toContain(method)
    expect(headers.get('access-control-allow-headers')).toBe('content-type,datastar-request')
    expect(headers.get('vary')).toContain('Origin')
  })

  test.each(['/api/status', '/api/me', '/api/nope', '/rpc/counter/get', '/api/auth/get-session'])(
    'lets a trusted origin read the answer of %s',
    async (path) => {
      const { headers } = await call('GET', path, undefined, { origin: TRUSTED })

      expect(headers.get('access-control-allow-origin')).toBe(TRUSTED)
      expect(headers.get('access-control-allow-credentials')).toBe('true')
      expect(headers.get('access-control-expose-headers')).toMatch(/\blink\b.*\bx-request-id\b/)
      expect(headers.get('vary')).toContain('Origin')
    },
  )

  test('lets a trusted origin read a refusal', async () => {
    const answer = await call('POST', '/api/tasks', '{bad', { origin: TRUSTED, 'content-type': 'text/plain' })

    expect(answer.status).toBe(415)
    expect(answer.headers.get('access-control-allow-origin')).toBe(TRUSTED)
  })

  test.each([...FOREIGN, OWN])('tells %s nothing', async (origin) => {
    const ada = await someone()

    const [preflight, actual, plain] = [
      await ask(origin, '/api/tasks', 'POST'),
      await call('GET', '/api/me', undefined, { origin, ...ada }),
      await call('GET', '/api/me', undefined, ada),
    ]

    expect(shared(preflight)).toEqual([])
    expect(preflight.status).toBe(405)
    expect(shared(actual)).toEqual([])
    expect(shared(plain)).toEqual([])
    expect(actual.headers.get('vary')).toContain('Origin')
  })
})

describe('the origin check', () => {
  const refused = {
    defined: false,
    code: 'FORBIDDEN',
    status: 403,
    message: 'This origin may not act for you',
    error: 'This origin may not act for you',
  }
  const foreign: Record<string, string>[] = [
    ...FOREIGN.map((origin) => ({ origin })),
    { origin: 'http://localhost:3001' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  ]
  const friendly: Record<string, string>[] = [
    {},
    { origin: OWN },
    { origin: TRUSTED },
    { origin: OWN, 'sec-fetch-site': 'same-origin' },
    { origin: TRUSTED, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ]
  const acts = [
    ['POST', '/api/tasks', { taskTitle: 'One' }],
    ['POST', '/api/tasks/reset', undefined],
    ['DELETE', '/api/tasks/1', undefined],
    ['POST', '/api/counter/increment', undefined],
    ['POST', '/rpc/tasks/reset', undefined],
    ['POST', '/api/auth/update-user', { name: 'Ada' }],
    ['POST', '/api/auth/sign-out', undefined],
  ] as const

  test.each(foreign)('refuses %j, whatever it does with the cookie', async (headers) => {
    const ada = await someone()

    for (const [method, path, body] of acts)
      expect(await call(method, path, body, { ...headers, ...ada })).toMatchObject({
        status: 403,
        body: refused,
      })

    expect(await call('GET', '/api/me', undefined, ada)).toMatchObject({ status: 200, body: { name: '' } })
  })

  test.each(friendly)('lets %j act', async (headers) => {
    const ada = await someone()

    for (const [method, path, body] of acts)
      expect((await call(method, path, body, { ...headers, ...ada })).status).toBe(200)
  })

  test.each(foreign)('lets %j read, and act without the cookie', async (headers) => {
    const ada = await someone()

    expect((await call('GET', '/api/me', undefined, { ...headers, ...ada })).status).toBe(200)
    expect((await call('POST', '/api/counter/increment', undefined, headers)).status).toBe(200)
  })
})

describe('every answer', () => {
  const paths = [
    '/api/status',
    '/api/me',
    '/api/nope',
    '/api/tasks/%00',
    '/rpc/counter/get',
    '/docs',
    '/authorize',
  ]

  test.each(paths)('of %s carries the headers of safety', async (path) => {
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
    'of %s, a page, is kept to itself',
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

  test('insists on https where that is the public origin', async () => {
    const secure = await startService({ BASE_URL: 'https://tally.example' })

    const { headers } = await createFetch(secure)('GET', '/api/status')
    const { response } = await signInOverHttp(secure, newEmail())

    expect(headers.get('strict-transport-security')).toMatch(/max-age=\d{7,}/)
    expect(response.headers.getSetCookie()).not.toEqual([])
    for (const cookie of response.headers.getSetCookie()) expect(cookie).toMatch(/; ?secure/i)
  })

  test.each(paths)('of %s has an id of its own', async (path) => {
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
    ['GET', '/api/tasks'],
    ['GET', '/api/tasks/1'],
    ['POST', '/api/tasks/reset'],
    ['GET', '/api/notes'],
    ['GET', '/api/sessions'],
    ['POST', '/api/notes/x/delete'],
    ['GET', '/rpc/tasks/list'],
    ['GET', '/rpc/account/get'],
    ['GET', '/api/auth/get-session'],
    ['POST', '/api/auth/update-user'],
    ['GET', '/api/auth/admin/list-users'],
    ['POST', '/api/auth/admin/stop-impersonating'],
  ])('is forbidden for %s %s, signed in or not', async (method, path) => {
    const ada = await someone()

    const callers: Record<string, string>[] = [
      ada,
      {},
      { ...ada, accept: 'text/event-stream' },
      { 'datastar-request': 'true' },
    ]
    for (const who of callers)
      expect((await call(method, path, undefined, who)).headers.get('cache-control')).toBe('no-store')
  })

  test.each(['/api/openapi.json', '/docs', '/docs/swagger-ui.css'])('is welcome for %s', async (path) => {
    expect((await call('GET', path)).headers.get('cache-control')).toBe('public, max-age=300')
  })
})

describe('a caller’s address', () => {
  const addressOf = async (at: Service, headers: Record<string, string>) => {
    const { cookie } = await signInOverHttp(at, newEmail(), headers)
    const { sessions } = await at.client({ cookie }).sessions.list()
    return sessions[0]?.ipAddress
  }

  test.each<Record<string, string>>([
    { 'x-forwarded-for': '203.0.113.7' },
    { 'x-tallystick-address': '203.0.113.7' },
    { 'x-real-ip': '203.0.113.7', 'x-client-ip': '203.0.113.7', 'cf-connecting-ip': '203.0.113.7' },
    { forwarded: 'for=203.0.113.7' },
  ])('is the socket’s, whatever they claim: %j', async (headers) => {
    expect(await addressOf(service, headers)).toBe('127.0.0.1')
  })

  describe('through a trusted proxy', async () => {
    const proxied = await startService({ TRUSTED_PROXIES: 'loopback, 198.51.100.0/24' })

    test.each([
      ['203.0.113.7', '203.0.113.7'],
      ['203.0.113.7, 198.51.100.9', '203.0.113.7'],
      ['192.0.2.1, 203.0.113.7', '203.0.113.7'],
      ['192.0.2.1, 203.0.113.7, 198.51.100.9', '203.0.113.7'],
      ['2001:db8::7', '2001:db8::7'],
    ])('is, of %s, the last that no proxy has', async (forwarded, address) => {
      expect(await addressOf(proxied, { 'x-forwarded-for': forwarded })).toBe(address)
    })

    test('is the proxy’s own where it names none', async () => {
      expect(await addressOf(proxied, {})).toBe('127.0.0.1')
    })

    test.each(['nonsense', 'unknown', '203.0.113.7:1234', '_hidden, ,', '<script>'])(
      'is never what is no address: %s',
      async (forwarded) => {
        const { cookie, response } = await signInOverHttp(proxied, newEmail(), {
          'x-forwarded-for': forwarded,
        })
        const { sessions } = await proxied.client({ cookie }).sessions.list()

        expect(response.status).toBe(200)
        expect([null, '127.0.0.1', '203.0.113.7']).toContain(sessions[0]?.ipAddress)
      },
    )

    test('may not be set past it', async () => {
      expect(await addressOf(proxied, { 'x-tallystick-address': '203.0.113.7' })).toBe('127.0.0.1')
    })
  })
})

describe('the log', () => {
  const letters: { to: string; code: string }[] = []
  const authSecret = 'a secret of at least thirty-two characters'
  const said = { output: '' }
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData: (stream, { envelope }, done) => {
      void text(stream)
        .then((letter) => PostalMime.parse(letter))
        .then(({ subject }) => {
          const [to] = envelope.rcptTo
          letters.push({ to: to?.address ?? '', code: subject?.slice(0, 6) ?? '' })
          done(to?.address.startsWith('refused') ? new Error('Not today') : null)
        })
    },
  })
  let child: ChildProcess
  let origin = ''
  let database = ''

  beforeAll(async () => {
    const { url, template } = inject('postgres')
    const name = `tallystick_${process.pid}_${crypto.randomUUID().replaceAll('-', '')}`
    const admin = postgres(url, { max: 1, onnotice: () => undefined })
    await admin`create database ${admin(name)} template ${admin(template)}`
    database = databaseUrl(url, name)
    const [port, smtpPort] = [await freePort(), await freePort()]
    smtp.listen(smtpPort, '127.0.0.1')
    origin = `http://127.0.0.1:${port}`
    child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        PORT: String(port),
        BASE_URL: origin,
        DATABASE_URL: database,
        AUTH_SECRET: authSecret,
        SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
        MAIL_FROM: 'Tallystick <no-reply@example.com>',
        LOG_LEVEL: 'trace',
      },
    })
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (said.output += chunk.toString()))
    await until(() => said.output.includes('listens on'))

    return async () => {
      if (child.exitCode === null) {
        const ended = once(child, 'exit')
        child.kill('SIGTERM')
        await ended
      }
      await new Promise<void>((resolve) => {
        smtp.close(resolve)
      })
      await admin`drop database ${admin(name)} with (force)`
      await admin.end()
    }
  })

  const at = (method: string, path: string, body?: unknown, headers = {}) =>
    createFetch({ origin })(method, path, body, headers)

  const lineOf = async ({ headers }: { headers: Headers }) => {
    const id = headers.get('x-request-id') ?? 'none'
    await until(() => said.output.includes(id))
    const lines = said.output.split('\n').filter((line) => line.includes(id))
    expect(lines).toHaveLength(1)
    return JSON.parse(lines[0] ?? '') as Record<string, unknown>
  }

  test('names each request by the id that the caller is told, without its query', async () => {
    const answer = await at('GET', '/api/tasks?status=pending&secret=swordfish')

    expect(await lineOf(answer)).toMatchObject({
      level: 30,
      req: { id: answer.headers.get('x-request-id'), method: 'GET', path: '/api/tasks' },
      res: { status: 401 },
      responseTime: expect.any(Number),
      operation: 'tasks.list',
    })
    expect(said.output).not.toContain('swordfish')
  })

  const signIn = async (email: string) => {
    await at('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const otp = letters.findLast(({ to }) => to === email)?.code
    const { headers } = await at('POST', '/api/auth/sign-in/email-otp', { email, otp })
    return cookieOf(headers)
  }

  test('names the administrator as well as the person during an impersonation', async () => {
    const [email, address] = [newEmail(), newEmail()]
    const [own, other] = [await signIn(email), await signIn(address)]
    const idOf = async (cookie: string) =>
      ((await at('GET', '/api/me', undefined, { cookie })).body as { id: string }).id
    const [administrator, person] = [await idOf(own), await idOf(other)]
    const sql = postgres(database, { max: 1 })
    await sql`update users set role = 'admin' where id = ${administrator}`
    await sql.end()
    const begun = await at('POST', '/api/auth/admin/impersonate-user', { userId: person }, { cookie: own })
    const cookie = begun.headers.getSetCookie().at(-2)?.split(';', 1)[0] ?? ''

    const answer = await at('GET', '/api/me', undefined, { cookie })

    expect(await lineOf(answer)).toMatchObject({ person, actor: administrator, operation: 'account.get' })
  })

  test('says who called what, and whether a code was right', async () => {
    const email = newEmail()
    const cookie = await signIn(email)

    const known = await at('GET', '/api/me', undefined, { cookie })
    const wrong = await at('POST', '/api/auth/sign-in/email-otp', { email, otp: '000000' })

    const { id } = known.body as { id: string }
    expect(await lineOf(known)).toMatchObject({ operation: 'account.get', person: id, res: { status: 200 } })
    expect(await lineOf(wrong)).toMatchObject({
      operation: '/api/auth/sign-in/email-otp',
      signedIn: false,
      res: { status: 400 },
    })
  })

  test('holds no header, no body and nothing that a statement carried, also where it fails', async () => {
    const cookie = await signIn(newEmail())
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const sql = postgres(database, { max: 1, onnotice: () => undefined })
    const rename = (from: string, to: string) => sql`alter table ${sql(from)} rename to ${sql(to)}`
    const email = `marlin.${newEmail()}`
    const asked = [
      ['tasks', 'POST', '/api/tasks', { taskTitle: 'swordfish' }, { cookie, 'x-marlin': 'marlin' }],
      ['sessions', 'GET', '/api/me', undefined, { cookie }],
      ['verifications', 'POST', '/api/auth/sign-in/email-otp', { email, otp: '918273' }, {}],
      ['oauth_records', 'POST', '/token', 'grant_type=refresh_token&client_id=x&refresh_token=marlin', form],
    ] as const

    const statuses: number[] = []
    for (const [table, method, path, body, headers] of asked) {
      await rename(table, 'gone')
      const answer = await at(method, path, body, headers)
      await rename('gone', table)
      await lineOf(answer)
      statuses.push(answer.status)
    }
    await sql.end()
    await lineOf(await at('GET', '/api/me', undefined, { authorization: 'Bearer swordfish' }))

    expect(statuses).toEqual([500, 500, 500, 500])
    expect(said.output).toContain('a procedure failed')
    const value = cookie.slice(cookie.indexOf('=') + 1)
    const token = decodeURIComponent(value).split('.')[0] ?? ''
    for (const secret of ['swordfish', 'marlin', '918273', value, token])
      expect(said.output).not.toContain(secret)
  })

  test('holds no secret of a sign-in', async () => {
    const email = newEmail()
    const wrong = '000000'

    await at('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const code = letters.findLast(({ to }) => to === email)?.code ?? ''
    const otp = code === wrong ? '000001' : wrong
    const missed = await at('POST', '/api/auth/sign-in/email-otp', { email, otp })
    const signedIn = await at('POST', '/api/auth/sign-in/email-otp', { email, otp: code })
    const cookie = cookieOf(signedIn.headers)
    const { body } = await at('GET', '/api/sessions', undefined, { cookie })
    const [session] = (body as { sessions: { token: string }[] }).sessions
    const calls = [
      await at('GET', `/api/me?token=${session?.token}`, undefined, { cookie }),
      await at('POST', '/api/sessions/revoke', { revokeSessionToken: session?.token }, { cookie }),
      await at('POST', '/rpc/tasks/create', `{"json":{"taskTitle":"${session?.token}\\u0000"}}`, { cookie }),
      await at('POST', '/api/auth/sign-in/email-otp', { email, otp: code }),
      await at('POST', '/api/auth/sign-out', undefined, { cookie }),
    ]
    await lineOf(calls.at(-1) ?? signedIn)

    expect([missed.status, signedIn.status, ...calls.map(({ status }) => status)]).toEqual([
      400, 200, 200, 400, 400, 400, 200,
    ])
    expect(code).toMatch(/^\d{6}$/)
    const token = session?.token ?? ''
    const value = cookie.slice(cookie.indexOf('=') + 1)
    expect(token).toHaveLength(32)
    expect(value).toContain(token)
    for (const secret of [token, value, decodeURIComponent(value), value.split('.')[1] ?? '', authSecret])
      expect(said.output).not.toContain(secret)
    expect(said.output).not.toMatch(new RegExp(`(?<!\\d)${code}(?!\\d)`))
  })

  test('holds nothing that a statement of a sign-in carried, where that fails', async () => {
    const email = newEmail()
    const sql = postgres(database, { max: 1 })
    await sql`alter table sessions add constraint broken check (user_agent <> 'Unwelcome')`
    await at('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const otp = letters.findLast(({ to }) => to === email)?.code ?? ''
    const from = { 'user-agent': 'Unwelcome' }
    const answer = await at('POST', '/api/auth/sign-in/email-otp', { email, otp }, from)
    await sql`alter table sessions drop constraint broken`
    await sql.end()
    await lineOf(answer)

    expect(answer).toMatchObject({ status: 500, body: { code: 'INTERNAL_SERVER_ERROR' } })
    expect(said.output).toContain('violates check constraint')
    expect(said.output).not.toContain('Unwelcome')
  })

  test('tells of a letter that could not be delivered, without its code', async () => {
    const email = `refused-${newEmail()}`

    const answer = await at('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    await lineOf(answer)

    const code = letters.findLast(({ to }) => to === email)?.code ?? ''
    expect(answer).toMatchObject({ status: 200, body: { success: true } })
    expect(code).toMatch(/^\d{6}$/)
    expect(said.output).toContain('a sign-in e-mail could not be delivered')
    expect(said.output).not.toMatch(new RegExp(`(?<!\\d)${code}(?!\\d)`))
  })

  test('ends with the process, which stops when told to', async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')

    expect(await ended).toEqual([0, null])
  })
})

async function until(holds: () => boolean) {
  for (let waited = 0; !holds() && waited < 15_000; waited += 20) await sleep(20)
  expect(holds()).toBe(true)
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  return typeof address === 'object' && address ? address.port : 0
}
