import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { settingsWithAddress, startService } from './service.ts'
import { signInOverHttp } from './http.ts'

const service = await startService(await settingsWithAddress())
const program = ['--import', 'tsx', 'src/cli/index.ts', '--at', service.origin]
let folder: string
let environment: NodeJS.ProcessEnv

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallystick-cli-'))
  environment = { PATH: process.env.PATH, BROWSER: 'none', TALLYSTICK_CONFIG: folder }
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs the command line: its output where it succeeds, its complaint where it does not. */
async function run(...words: string[]) {
  const failed = (error: { stderr: string }) => ({ stdout: '', stderr: error.stderr })
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...program, ...words], {
    env: environment,
  }).catch(failed)
  return stdout === '' ? stderr : (JSON.parse(stdout) as unknown)
}

/** Signs in as somebody whose browser opens what the command line prints. */
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
  const ended = once(child, 'exit')
  await fetch(consent.headers.get('location') ?? '')
  expect(await ended).toEqual([0, null])
  return cookie
}

const ring = () => join(folder, 'credentials.json')

/** As if ten minutes had gone by. */
async function age() {
  const kept = await readFile(ring(), 'utf8')
  await writeFile(ring(), kept.replace(/"expiresAt": \d+/, '"expiresAt": 0'))
}

describe('the command line', { timeout: 60_000 }, () => {
  test('signs in, calls, stays signed in, and signs out', async () => {
    expect(await run('whoami')).toContain('tallystick login')

    const cookie = await login('ada@example.com')
    expect((await stat(ring())).mode & 0o777).toBe(0o600)
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

    await age()
    const both = await Promise.all([run('whoami'), run('call', 'tasks.list')])
    expect(both).toMatchObject([{ email: 'ada@example.com' }, { taskCount: 1 }])

    const own = service.client({ cookie })
    expect((await own.sessions.list()).sessions.map(({ userAgent }) => userAgent)).toContain(
      'Tallystick command line',
    )
    await run('logout')
    expect((await own.sessions.list()).sessionCount).toBe(1)
    expect(await run('whoami')).toContain('Not signed in')
  })

  test('says what is wrong', async () => {
    await login('bob@example.com', '--scope', 'read')

    expect(await run('call', 'tasks.burn')).toContain('Unknown procedure tasks.burn')
    expect(await run('call', 'tasks.get', '{"id":0}')).toContain('"code": "NOT_FOUND"')
    expect(await run('call', 'tasks.create', '{"taskTitle":"x"}')).toContain('"code": "INSUFFICIENT_SCOPE"')
    expect(await run('call', 'tasks.create', '{')).toMatch(/JSON/)
  })

  test('lists every procedure in its help', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...program, 'call', '--help'])

    expect(stdout).toContain('tasks.list')
    expect(stdout).toContain('List your tasks, newest first')
    expect(stdout).toContain('reservations.create')
  })
})
