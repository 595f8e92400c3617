import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { signInOverHttp } from './http.ts'
import { pathOf } from './programs.ts'
import { settingsWithAddress, startService } from './service.ts'

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
  const child = spawn(process.execPath, [...program, 'login', ...words], { env: environment })
  let text = ''
  child.stderr.on('data', (chunk) => (text += String(chunk)))
  while (!/Sign in at \S+\n/.test(text)) await once(child.stderr, 'data')
  const { cookie } = await signInOverHttp(service, email)
  const consent = await fetch(/Sign in at (\S+)/.exec(text)?.[1] ?? '', {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'action=allow',
  })
  const exit = once(child, 'exit')
  await fetch(consent.headers.get('location') ?? '')
  expect(await exit).toEqual([0, null])
  return cookie
}

const credentialsFile = () => join(folder, 'credentials.json')

/** Marks the stored access token as expired. */
async function expireToken() {
  const credentials = await readFile(credentialsFile(), 'utf8')
  await writeFile(credentialsFile(), credentials.replace(/"expiresAt": \d+/, '"expiresAt": 0'))
}

describe('the command line', { timeout: 60_000 }, () => {
  test('signs in, calls procedures, refreshes its token, and signs out', async () => {
    expect(await run('whoami')).toContain('tallystick login')

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

  test('prints the errors of procedures, scopes and JSON', async () => {
    await login('bob@example.com', '--scope', 'read')

    expect(await run('call', 'tasks.burn')).toContain('Unknown procedure tasks.burn')
    expect(await run('call', 'tasks.get', '{"id":0}')).toContain('"code": "NOT_FOUND"')
    expect(await run('call', 'tasks.create', '{"taskTitle":"x"}')).toContain('"code": "INSUFFICIENT_SCOPE"')
    expect(await run('call', 'tasks.create', '{')).toMatch(/JSON/)
  })

  test('lists the procedures in its help', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...program, 'call', '--help'])

    expect(stdout).toContain('tasks.list')
    expect(stdout).toContain('List your tasks, newest first')
    expect(stdout).toContain('reservations.create')
  })
})
