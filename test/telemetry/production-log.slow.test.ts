import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import postgres from 'postgres'
import { SMTPServer } from 'smtp-server'
import { beforeAll, describe, expect, test, vi } from 'vitest'

import { cookieOf } from '../../engine/dev/testing/index.ts'
import { createFetch, formType, wrongCodeFor } from '../../engine/test/fixtures/http.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'
import { pathOf, waitUntilListening } from '../fixtures/programs.ts'
import { createDatabase } from '../fixtures/database.ts'
import { newEmail } from '../fixtures/service.ts'

describe('the log of a production process', () => {
  const letters: { to: string; code: string }[] = []
  const codeFor = (email: string) =>
    vi.waitUntil(() => letters.findLast(({ to }) => to === email)?.code, PATIENCE)
  const authSecret = 'a secret of at least thirty-two characters'
  let output = () => ''
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
          done(to?.address.startsWith('refused') ? new Error('Rejected') : null)
        })
    },
  })
  let child: ChildProcessWithoutNullStreams
  let origin = ''
  let database = ''

  beforeAll(async () => {
    const created = await createDatabase()
    database = created.url
    const [port, smtpPort] = [await freePort(), await freePort()]
    smtp.listen(smtpPort, '127.0.0.1')
    origin = `http://127.0.0.1:${port}`
    child = spawn(process.execPath, [pathOf('main')], {
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
    const listening = await waitUntilListening(child)
    output = listening.output

    return async () => {
      if (child.exitCode === null) {
        const ended = once(child, 'exit')
        child.kill('SIGTERM')
        await ended
      }
      await new Promise<void>((resolve) => {
        smtp.close(resolve)
      })
      await created.drop()
    }
  })

  const call = (method: string, path: string, body?: unknown, headers = {}) =>
    createFetch({ origin })(method, path, body, headers)

  /** Returns the log line of the request of a response. */
  const logLineOf = async ({ headers }: { headers: Headers }) => {
    const id = headers.get('x-request-id') ?? 'none'
    // A failed request has another line with its id, for the error.
    const listLines = () =>
      output()
        .split('\n')
        .filter((line) => line.includes(id) && line.includes('"responseTime"'))
    await vi.waitUntil(() => listLines().length > 0, PATIENCE)
    const lines = listLines()
    expect(lines).toHaveLength(1)
    return JSON.parse(lines[0] ?? '') as Record<string, unknown>
  }

  test('has the request id of the response, and the path without its query', async () => {
    const answer = await call('GET', '/api/tasks?status=pending&secret=swordfish')

    expect(await logLineOf(answer)).toMatchObject({
      level: 30,
      req: { id: answer.headers.get('x-request-id'), method: 'GET', path: '/api/tasks' },
      res: { status: 401 },
      responseTime: expect.any(Number),
      operation: 'tasks.list',
    })
    expect(output()).not.toContain('swordfish')
  })

  const signIn = async (email: string) => {
    await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const otp = await codeFor(email)
    const { headers } = await call('POST', '/api/auth/sign-in/email-otp', { email, otp })
    return cookieOf(headers)
  }

  test('has the administrator and the user during an impersonation', async () => {
    const [own, other] = [await signIn(newEmail()), await signIn(newEmail())]
    const idOf = async (cookie: string) =>
      ((await call('GET', '/api/me', undefined, { cookie })).body as { id: string }).id
    const [administrator, person] = [await idOf(own), await idOf(other)]
    const sql = postgres(database, { max: 1 })
    await sql`update users set role = 'admin' where id = ${administrator}`
    await sql.end()
    const started = await call(
      'POST',
      '/api/auth/admin/impersonate-user',
      { userId: person },
      { cookie: own },
    )
    const cookie = started.headers.getSetCookie().at(-2)?.split(';', 1)[0] ?? ''

    const answer = await call('GET', '/api/me', undefined, { cookie })

    expect(await logLineOf(answer)).toMatchObject({ person, actor: administrator, operation: 'account.get' })
  })

  test('has the user, the operation, and whether a code was correct', async () => {
    const email = newEmail()
    const cookie = await signIn(email)

    const known = await call('GET', '/api/me', undefined, { cookie })
    const wrong = await call('POST', '/api/auth/sign-in/email-otp', { email, otp: '000000' })

    const { id } = known.body as { id: string }
    expect(await logLineOf(known)).toMatchObject({
      operation: 'account.get',
      person: id,
      res: { status: 200 },
    })
    expect(await logLineOf(wrong)).toMatchObject({
      operation: '/api/auth/sign-in/email-otp',
      signedIn: false,
      res: { status: 400 },
    })
  })

  test('contains no header, no body and no parameter of a statement, also when the request fails', async () => {
    const cookie = await signIn(newEmail())
    const sql = postgres(database, { max: 1, onnotice: () => undefined })
    const rename = (from: string, to: string) => sql`alter table ${sql(from)} rename to ${sql(to)}`
    const email = `marlin.${newEmail()}`
    const requests = [
      ['tasks', 'POST', '/api/tasks', { taskTitle: 'swordfish' }, { cookie, 'x-marlin': 'marlin' }],
      ['sessions', 'GET', '/api/me', undefined, { cookie }],
      ['verifications', 'POST', '/api/auth/sign-in/email-otp', { email, otp: '918273' }, {}],
      [
        'oauth_records',
        'POST',
        '/token',
        'grant_type=refresh_token&client_id=x&refresh_token=marlin',
        formType,
      ],
    ] as const

    const statuses: number[] = []
    for (const [table, method, path, body, headers] of requests) {
      await rename(table, 'gone')
      const answer = await call(method, path, body, headers)
      await rename('gone', table)
      await logLineOf(answer)
      statuses.push(answer.status)
    }
    await sql.end()
    await logLineOf(await call('GET', '/api/me', undefined, { authorization: 'Bearer swordfish' }))

    expect(statuses).toEqual([500, 500, 500, 500])
    expect(output()).toContain('a procedure failed')
    const value = cookie.slice(cookie.indexOf('=') + 1)
    const token = decodeURIComponent(value).split('.')[0] ?? ''
    for (const secret of ['swordfish', 'marlin', '918273', value, token])
      expect(output()).not.toContain(secret)
  })

  test('contains no secret of a sign-in', async () => {
    const email = newEmail()

    await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const code = await codeFor(email)
    const otp = wrongCodeFor(code)
    const rejected = await call('POST', '/api/auth/sign-in/email-otp', { email, otp })
    const signedIn = await call('POST', '/api/auth/sign-in/email-otp', { email, otp: code })
    const cookie = cookieOf(signedIn.headers)
    const { body } = await call('GET', '/api/sessions', undefined, { cookie })
    const [session] = (body as { sessions: { token: string }[] }).sessions
    const calls = [
      await call('GET', `/api/me?token=${session?.token}`, undefined, { cookie }),
      await call('POST', '/api/sessions/revoke', { revokeSessionToken: session?.token }, { cookie }),
      await call('POST', '/rpc/tasks/create', `{"json":{"taskTitle":"${session?.token}\\u0000"}}`, {
        cookie,
      }),
      await call('POST', '/api/auth/sign-in/email-otp', { email, otp: code }),
      await call('POST', '/api/auth/sign-out', undefined, { cookie }),
    ]
    await logLineOf(calls.at(-1) ?? signedIn)

    expect([rejected.status, signedIn.status, ...calls.map(({ status }) => status)]).toEqual([
      400, 200, 200, 400, 400, 400, 200,
    ])
    expect(code).toMatch(/^\d{6}$/)
    const token = session?.token ?? ''
    const value = cookie.slice(cookie.indexOf('=') + 1)
    expect(token).toHaveLength(32)
    expect(value).toContain(token)
    for (const secret of [token, value, decodeURIComponent(value), value.split('.')[1] ?? '', authSecret])
      expect(output()).not.toContain(secret)
    expect(output()).not.toMatch(new RegExp(`(?<!\\d)${code}(?!\\d)`))
  })

  test('contains no parameter of a sign-in statement that fails', async () => {
    const email = newEmail()
    const sql = postgres(database, { max: 1 })
    await sql`alter table sessions add constraint broken check (user_agent <> 'Unwelcome')`
    await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const otp = await codeFor(email)

    const from = { 'user-agent': 'Unwelcome' }
    const answer = await call('POST', '/api/auth/sign-in/email-otp', { email, otp }, from)
    await sql`alter table sessions drop constraint broken`
    await sql.end()
    await logLineOf(answer)

    expect(answer).toMatchObject({ status: 500, body: { code: 'INTERNAL_SERVER_ERROR' } })
    expect(output()).toContain('violates check constraint')
    expect(output()).not.toContain('Unwelcome')
  })

  test('reports an e-mail that is not delivered, without its code', async () => {
    const email = `refused-${newEmail()}`

    const answer = await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    await logLineOf(answer)

    const code = await codeFor(email)
    expect(answer).toMatchObject({ status: 200, body: { success: true } })
    expect(code).toMatch(/^\d{6}$/)
    expect(output()).toContain('a sign-in e-mail could not be delivered')
    expect(output()).not.toMatch(new RegExp(`(?<!\\d)${code}(?!\\d)`))
  })

  test('warns once of a proxy that TRUSTED_PROXIES does not name', async () => {
    const from = { 'x-forwarded-for': '198.51.100.7' }
    expect(output()).not.toContain('TRUSTED_PROXIES')

    const answers = [
      await call('GET', '/api/status', undefined, from),
      await call('GET', '/api/status', undefined, from),
    ]
    for (const answer of answers) await logLineOf(answer)

    const warnings = output()
      .split('\n')
      .filter((line) => line.includes('TRUSTED_PROXIES'))
    expect(warnings.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ level: 40 }),
    ])
  })

  test('has only lines of JSON', () => {
    const lines = output().trim().split('\n')

    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([])
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({ level: 30, msg: expect.stringContaining(`listens on 127.0.0.1:`) as string }),
    )
  })

  test('ends when the process exits after SIGTERM', async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')

    expect(await ended).toEqual([0, null])
  })
})
