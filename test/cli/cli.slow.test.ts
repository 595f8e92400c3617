import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { codeSentTo, signInOverHttp } from '../../engine/test/fixtures/http.ts'
import { pathOf } from '../fixtures/programs.ts'
import { startProxy } from '../../engine/test/fixtures/proxy.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

const service = await startService(await settingsWithAddress())
const program = [pathOf('cli'), '--at', service.origin]
let folder: string
let environment: NodeJS.ProcessEnv

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallystick-cli-'))
  environment = { PATH: process.env.PATH, BROWSER: 'none', TALLYSTICK_CONFIG: folder }
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs the command line. Returns its output, parsed as JSON, or its error message. */
async function run(...words: string[]) {
  const failed = (error: { stderr: string }) => ({ stdout: '', stderr: error.stderr })
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...program, ...words], {
    env: environment,
  }).catch(failed)
  return stdout === '' ? stderr : (JSON.parse(stdout) as unknown)
}

/** Runs `tallystick login`. Opens the printed address as a signed-in user does in a browser, and allows the access. */
async function login(email: string, ...words: string[]) {
  // As the messages name the command: the option follows `login`.
  const child = spawn(process.execPath, [pathOf('cli'), 'login', '--at', service.origin, ...words], {
    env: environment,
  })
  const text = await readUntil(child.stderr, /Sign in at \S+\n/)
  const { cookie } = await signInOverHttp(service, email)
  const consent = await fetch(/Sign in at (\S+)/.exec(text)?.[1] ?? '', {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'action=allow',
  })
  const exit = once(child, 'close')
  await fetch(consent.headers.get('location') ?? '')
  expect(await exit).toEqual([0, null])
  return cookie
}

/** Reads a stream until its text matches a pattern. Returns the text. */
async function readUntil(stream: Readable, pattern: RegExp) {
  let text = ''
  stream.on('data', (chunk) => (text += String(chunk)))
  while (!pattern.test(text)) await once(stream, 'data')
  return text
}

/** Timeout in milliseconds. The timeout is long, because other tests share the processors. */
const WAIT_OPTIONS = { timeout: 60_000, interval: 50 }

const credentialsFile = () => join(folder, 'credentials.json')

/** Marks the stored access token as expired. */
async function expireToken() {
  const credentials = await readFile(credentialsFile(), 'utf8')
  await writeFile(credentialsFile(), credentials.replace(/"expiresAt": \d+/, '"expiresAt": 0'))
}

describe('the command line', { timeout: 300_000 }, () => {
  test('signs in, calls procedures, refreshes its token, and signs out', async () => {
    expect(await run('whoami')).toBe(
      `Not signed in to ${service.origin}. Run: npx tallystick login --at ${service.origin}\n`,
    )
    environment.TALLYSTICK_ORIGIN = service.origin
    expect(await run('whoami')).toContain('Run: npx tallystick login\n')
    delete environment.TALLYSTICK_ORIGIN

    const cookie = await login('ada@example.com')
    expect((await stat(credentialsFile())).mode & 0o777).toBe(0o600)
    expect(await run('whoami')).toMatchObject({ email: 'ada@example.com' })
    expect(await run('call', 'tasks.create', '{"taskTitle":"From a shell"}')).toMatchObject({
      title: 'From a shell',
    })
    expect(await run('call', 'tasks.list', '{"status":"pending"}')).toMatchObject({ taskCount: 1 })

    const { stdout: token } = await promisify(execFile)(process.execPath, [...program, 'token'], {
      env: environment,
    })
    const headers = { authorization: `Bearer ${token.trim()}` }
    expect((await fetch(`${service.origin}/api/me`, { headers })).status).toBe(200)

    await expireToken()
    const responses = await Promise.all([run('whoami'), run('call', 'tasks.list')])
    expect(responses).toMatchObject([{ email: 'ada@example.com' }, { taskCount: 1 }])

    const client = service.client({ cookie })
    expect((await client.sessions.list()).sessions.map(({ userAgent }) => userAgent)).toContain(
      'Tallystick command line',
    )
    await run('logout')
    expect((await client.sessions.list()).sessionCount).toBe(1)
    expect(await run('whoami')).toContain('Not signed in')
  })

  test('says that nobody is signed in after the grant was revoked', async () => {
    const client = service.client({ cookie: await login(newEmail()) })
    const { sessions } = await client.sessions.list()
    const { token = '' } = sessions.find(({ isCurrent }) => !isCurrent) ?? {}
    await client.sessions.revoke({ revokeSessionToken: token })
    await expireToken()

    expect(await run('whoami')).toContain(`Not signed in to ${service.origin}. Run: npx tallystick login`)
  })

  test('prints the errors of procedures, scopes and JSON', async () => {
    await login('bob@example.com', '--scope', 'read')

    expect(
      await Promise.all([
        run('call', 'tasks.burn'),
        run('call', 'tasks.get', '{"id":0}'),
        run('call', 'tasks.create', '{"taskTitle":"x"}'),
        run('call', 'tasks.create', '{'),
      ]),
    ).toEqual([
      'Unknown procedure tasks.burn. For a list, run: npx tallystick call --help\n',
      expect.stringContaining('"code": "NOT_FOUND"'),
      expect.stringContaining('"code": "INSUFFICIENT_SCOPE"'),
      expect.stringContaining('JSON'),
    ])
  })

  test('calls open procedures without a sign-in', async () => {
    await run('logout')
    expect(await run('call', 'counter.get')).toEqual({ count: 0 })
    expect(await run('call', 'tasks.list')).toContain('Run: npx tallystick login')
  })

  test('signs in on another device', async () => {
    const child = spawn(process.execPath, [...program, 'login', '--device'], { env: environment })
    const exit = once(child, 'close')
    const text = await readUntil(child.stderr, /enter the code [A-Z-]+\n/)
    const [, user_code = ''] = /enter the code (\S+)/.exec(text) ?? []
    const { cookie } = await signInOverHttp(service, 'ada@example.com')

    const allowed = await fetch(`${service.origin}/device`, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ action: 'allow', user_code }),
    })

    expect(await allowed.text()).toContain('Tallystick command line</bdi> has access now.')
    expect(await exit).toEqual([0, null])
    expect(await run('whoami')).toMatchObject({ email: 'ada@example.com' })
    await run('logout')
  })

  test('creates a token after a sign-in by e-mail, which ends', async () => {
    const email = newEmail()
    const words = ['create-token', '--label', 'Nightly', '--scope', 'read write', '--days', '7']
    const child = spawn(process.execPath, [...program, ...words], { env: environment })
    const exit = once(child, 'close')
    let token = ''
    child.stdout.on('data', (chunk) => (token += String(chunk)))
    child.stdin.write(`${email}\n`)
    await readUntil(child.stderr, /Code in the e-mail/)

    child.stdin.write(`${codeSentTo(service, email) ?? ''}\n`)

    expect(await exit).toEqual([0, null])
    const authorization = `Bearer ${token.trim()}`
    const me = await fetch(`${service.origin}/api/me`, { headers: { authorization } })
    expect(await me.json()).toMatchObject({ email })
    const { cookie } = await signInOverHttp(service, email)
    const client = service.client({ cookie })
    expect((await client.apps.list()).apps).toMatchObject([{ name: 'Nightly', scopes: ['read', 'write'] }])
    // This session and the token.
    expect((await client.sessions.list()).sessions).toHaveLength(2)
  })

  test('says why it creates no token', async () => {
    const child = spawn(process.execPath, [...program, 'create-token', '--label', 'x'], { env: environment })
    let text = ''
    child.stderr.on('data', (chunk) => (text += String(chunk)))
    const exit = once(child, 'close')

    child.stdin.end('no address\n')

    expect(await exit).toEqual([1, null])
    expect(text).toMatch(/e-?mail/i)
    expect(await run('create-token', '--label', 'x', '--for', 'all')).toContain(
      'Allowed choices are service, mcp',
    )
  })

  test('names the service that it cannot reach, and how to choose another service', async () => {
    const origin = `http://localhost:${await freePort()}`
    const credential = { clientId: 'x', accessToken: 'x', refreshToken: 'x', expiresAt: 0 }
    const commands = [
      'login',
      'login --device',
      'call counter.get',
      'watch counter',
      'create-token --label x',
    ]
    const signedInCommands = ['whoami', 'token', 'logout', 'call tasks.list', 'watch tasks']

    const outputs = [...commands, ...signedInCommands].map(async (words, number) => {
      const TALLYSTICK_CONFIG = join(folder, `unreachable-${number}`)
      await mkdir(TALLYSTICK_CONFIG)
      await writeFile(join(TALLYSTICK_CONFIG, 'credentials.json'), JSON.stringify({ [origin]: credential }))
      const running = promisify(execFile)(
        process.execPath,
        [pathOf('cli'), '--at', origin, ...words.split(' ')],
        { env: { ...environment, TALLYSTICK_CONFIG } },
      )
      running.child.stdin?.end('ada@example.com\n')
      return running.catch((error: unknown) => error as { stdout: string; stderr: string })
    })

    const message = `Cannot reach ${origin}: ECONNREFUSED. Choose another service with --at <origin> or TALLYSTICK_ORIGIN.\n`
    for (const { stderr } of await Promise.all(outputs)) expect(stderr.replace('E-mail: ', '')).toBe(message)
  })

  test('lists the procedures in its help', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...program, 'call', '--help'])

    expect(stdout).toContain('tasks.list')
    expect(stdout).toContain('List your tasks, newest first')
    expect(stdout).toContain('reservations.create')
  })

  test('ends without a message when the program that reads its output ends', async () => {
    const words = ['--norc', '-o', 'pipefail', '-c', '"$0" "$@" | head -1', process.execPath]
    const { stdout, stderr } = await promisify(execFile)('bash', [...words, pathOf('cli'), 'openapi'], {
      env: environment,
    })

    expect([stdout, stderr]).toEqual(['{\n', ''])
  })
})

/** Starts `tallystick watch`. */
function startWatch(topics: string[], origin = service.origin) {
  const child = spawn(process.execPath, [pathOf('cli'), '--at', origin, 'watch', ...topics], {
    env: environment,
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk) => (output[stream] += String(chunk)))
  const lines = () =>
    output.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown)
  return {
    child,
    output,
    exit: once(child, 'close'),
    receives: (...expected: unknown[]) =>
      vi.waitFor(() => {
        expect(lines()).toMatchObject(expected)
      }, WAIT_OPTIONS),
    /** Like `receives`, but a line may be repeated, as after the service has connected to PostgreSQL again. */
    receivesOnceOrMore: (...expected: unknown[]) =>
      vi.waitFor(() => {
        const distinct = [...new Set(lines().map((line) => JSON.stringify(line)))]
        expect(distinct.map((line) => JSON.parse(line) as unknown)).toMatchObject(expected)
      }, WAIT_OPTIONS),
  }
}

const countIs = (count: number) => ({ topic: 'counter', state: { count } })

describe('tallystick watch', { timeout: 300_000 }, () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test('prints the counter without a sign-in, and ends without an error on SIGINT', async () => {
    await run('logout')
    await service.stranger.counter.set({ inputValue: 5 })
    const { child, output, exit, receives } = startWatch(['counter'])
    await receives(countIs(5))

    await service.stranger.counter.increment()

    await receives(countIs(5), countIs(6))
    child.kill('SIGINT')
    expect(await exit).toEqual([0, null])
    expect(output.stderr).toBe('')
  })

  test('connects again after a lost connection, and prints no state twice', async () => {
    const proxy = await startProxy(service.origin)
    onTestFinished(proxy.close)
    await service.stranger.counter.set({ inputValue: 5 })
    const { output, receives } = startWatch(['counter'], new URL(proxy.url).origin)
    await receives(countIs(5))

    proxy.reset()
    await vi.waitFor(() => {
      expect(proxy.clients).toHaveLength(2)
    }, WAIT_OPTIONS)
    await service.stranger.counter.increment()

    await receives(countIs(5), countIs(6))
    expect(output.stderr).toBe('')
  })

  test('gets a new token when the token expires, and continues', async () => {
    const email = newEmail()
    await login(email)
    const person = await service.person(email)
    await person.tasks.create({ taskTitle: 'Done' })
    const { output, receives, receivesOnceOrMore } = startWatch([
      'tasks',
      'counter',
      '--status',
      'pending',
      '--limit',
      '1',
    ])
    const counter = countIs((await service.stranger.counter.get()).count)
    await receives({ topic: 'tasks', state: { tasks: [{ title: 'Done' }] } }, counter)

    await expireToken()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11 * 60_000 })
    await vi.waitFor(async () => {
      expect(await readFile(credentialsFile(), 'utf8')).not.toMatch(/"expiresAt": 0/)
    }, WAIT_OPTIONS)
    await person.tasks.create({ taskTitle: 'New' })

    // The jump of the clock can make the service connect again.
    await receivesOnceOrMore({}, counter, { topic: 'tasks', state: { tasks: [{ title: 'New' }] } })
    expect(output.stderr).toBe('')
  })

  test('ends when the grant is revoked', async () => {
    const email = newEmail()
    const cookie = await login(email)
    const { output, exit, receives } = startWatch(['tasks'])
    await receives({ topic: 'tasks' })

    const client = service.client({ cookie })
    const { sessions } = await client.sessions.list()
    const { token = '' } = sessions.find(({ isCurrent }) => !isCurrent) ?? {}
    await client.sessions.revoke({ revokeSessionToken: token })

    expect(await exit).toEqual([1, null])
    expect(output.stderr).toContain('"code": "UNAUTHORIZED"')
  })

  test('ends after a sign-out', async () => {
    await login(newEmail())
    const { output, exit, receives } = startWatch(['tasks'])
    await receives({ topic: 'tasks' })

    await run('logout')

    expect(await exit).toEqual([1, null])
    expect(output.stderr).toContain('Run: npx tallystick login')
  })

  test('reports once that the service does not respond, and does not end', async () => {
    const proxy = await startProxy(service.origin)
    onTestFinished(proxy.close)
    const { child, output, exit, receives } = startWatch(['counter'], new URL(proxy.url).origin)
    await receives({ topic: 'counter' })

    proxy.refuse()
    // The fourth attempt follows the report of the second attempt, and the failure of the third attempt.
    await vi.waitFor(() => {
      expect(proxy.clients.length).toBeGreaterThanOrEqual(4)
    }, WAIT_OPTIONS)

    expect(output.stderr).toMatch(/^Connecting again after an error: fetch failed\n$/)
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })

  test('ends when the program that reads its output ends', async () => {
    const words = [pathOf('cli'), '--at', service.origin, 'watch', 'counter']
    const child = spawn(
      'bash',
      ['--norc', '-o', 'pipefail', '-c', '"$0" "$@" | head -1', process.execPath, ...words],
      {
        env: environment,
      },
    )
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)))

    const exit = once(child, 'close')
    await once(child.stdout, 'data')

    while (child.exitCode === null) {
      await service.stranger.counter.increment()
      await sleep(100)
    }

    expect(await exit).toEqual([0, null])
    expect(JSON.parse(text)).toMatchObject({ topic: 'counter' })
  })

  test('fails if the service refuses the call or does not respond', async () => {
    await run('logout')
    expect(await run('watch', 'counter', 'tasks')).toContain('Run: npx tallystick login')
    await login(newEmail())

    const { output, exit } = startWatch(['counter'], 'http://127.0.0.1:9')
    expect(
      await Promise.all([
        run('watch', 'burn'),
        run('watch', 'tasks', '--limit', '0'),
        run('watch', 'tasks', '--limit', 'x'),
        run('watch', 'sessions'),
      ]),
    ).toEqual([
      expect.stringContaining('"code": "BAD_REQUEST"'),
      expect.stringContaining('"path": "tasks.limit"'),
      expect.stringContaining('--limit x: must be a whole number'),
      expect.stringContaining('"code": "INSUFFICIENT_SCOPE"'),
    ])
    expect(await exit).toEqual([1, null])
    expect(output.stderr).toContain('Cannot reach http://127.0.0.1:9: bad port.')
  })
})
