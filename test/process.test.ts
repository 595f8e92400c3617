import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { createClient } from '../contract/client.ts'
import { listening } from './child.ts'
import { freePort } from './postgres.ts'
import { startService } from './service.ts'
import { signIn as signInByLetter } from './trials/service-process.ts'

interface Running {
  child: ChildProcess
  origin: string
  output: () => string
  ended: Promise<unknown[]>
}

const running: ChildProcess[] = []
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallystick-'))
})

afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** Runs main as a user would, with nothing but these settings. */
async function run(settings: Record<string, string> = {}): Promise<Running> {
  const port = await freePort()
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    env: { PATH: process.env.PATH, DATA_DIR: folder, PORT: String(port), ...settings },
  })
  running.push(child)
  return { child, origin: `http://127.0.0.1:${port}`, ...(await listening(child)) }
}

const signIn = async ({ origin }: Running, email: string) =>
  createClient(origin, { headers: { cookie: await signInByLetter(origin, email, folder) } })

describe('main', { timeout: 60_000 }, () => {
  test('says where it listens, where the reference is, and how to sign in', async () => {
    const { origin, output, child, ended } = await run({ DATABASE_URL: 'memory:' })

    expect(output()).toContain('Tallystick listens on 127.0.0.1:')
    expect(output()).toContain('/docs')
    expect(output()).toContain('/api/auth/sign-in/email-otp')
    await fetch(`${origin}/api/health/ready`)
    await fetch(`${origin}/api/counter?secret=1`)
    await vi.waitFor(() => {
      expect(output()).toContain('"operation":"counter.get"')
    })
    const [line = '{}'] = output()
      .split('\n')
      .filter((line) => line.includes('request completed'))
    expect(JSON.parse(line)).toMatchObject({
      req: { method: 'GET', path: '/api/counter' },
      res: { status: 200 },
      responseTime: expect.any(Number) as number,
    })
    expect(output()).not.toMatch(/secret=1|health/)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  // Both are an uncaught exception for Node.
  test.each([
    ['thrown', 'throw error'],
    ['rejected', 'void Promise.reject(error)'],
  ])('ends on an error that no code catches, and logs nothing of its values: %s', async (_, fail) => {
    const error = `Object.assign(new Error('swordfish'), { code: 'EXAMPLE', params: ['swordfish'] })`
    const script = join(folder, 'fail.mjs')
    await writeFile(script, `process.on('SIGUSR2', () => { const error = ${error}; ${fail} })`)
    const { child, output, ended } = await run({
      DATABASE_URL: 'memory:',
      NODE_OPTIONS: `--import ${script}`,
    })

    child.kill('SIGUSR2')

    expect(await ended).toEqual([1, null])
    expect(output()).not.toContain('swordfish')
    expect(JSON.parse(output().trim().split('\n').at(-1) ?? '')).toMatchObject({
      level: 60,
      err: { type: 'Error', code: 'EXAMPLE', stack: expect.stringContaining('fail.mjs') as string },
    })
  })

  test('keeps data and sign-ins over a stop and over SIGKILL, and shares its folder with nobody', async () => {
    const first = await run()
    const ada = await signIn(first, 'ada@example.com')
    const task = await ada.tasks.create({ taskTitle: 'Outlive the process' })

    const second = await run()
    await second.ended
    expect(second.output()).toMatch(/Another process uses the embedded database in .*DATA_DIR/)
    expect(second.child.exitCode).toBe(1)

    await ada.counter.set({ inputValue: 41 })
    first.child.kill('SIGKILL')
    await first.ended
    const third = await run()
    const again = await signIn(third, 'ada@example.com')
    expect(await again.tasks.list()).toEqual({ tasks: [task], taskCount: 1 })
    expect(await again.counter.increment()).toEqual({ count: 42 })
    expect((await again.sessions.list()).sessionCount).toBe(2)
    third.child.kill('SIGTERM')
    expect(await third.ended).toEqual([0, null])
  })

  test('finishes what is in flight when it is told to stop', async () => {
    const { origin, child, ended } = await run({ DATABASE_URL: 'memory:' })
    const slow = request(`${origin}/api/counter/set`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    })
    slow.write('{"inputValue":')
    await new Promise((resolve) => setTimeout(resolve, 300))

    child.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 300))
    slow.end('7}')

    const [response] = (await once(slow, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
    expect(response.statusCode).toBe(200)
    expect(await ended).toEqual([0, null])
    await expect(fetch(`${origin}/api/status`)).rejects.toThrow()
  })

  test('runs several workers on one port, replaces one that dies, and stops them all', async () => {
    const { databaseUrl } = await startService()
    const { origin, child, ended } = await run({ DATABASE_URL: databaseUrl, WORKERS: '2' })
    const workers = async () => {
      // What was handed to a worker as it died is never answered.
      const ask = { headers: { connection: 'close' }, signal: AbortSignal.timeout(2000) }
      const answers = Array.from({ length: 20 }, () =>
        fetch(`${origin}/api/status`, ask).then((response) => response.json()),
      )
      const seen = (await Promise.all(answers)) as { service: string }[]
      return new Set(seen.map(({ service }) => Number(service.split(':')[1])))
    }
    const first = await workers()
    expect(first.size).toBe(2)
    expect(first).not.toContain(child.pid)

    const [victim = 0, survivor] = first
    process.kill(victim, 'SIGKILL')
    await vi.waitFor(
      async () => {
        expect((await workers()).size).toBe(2)
      },
      { timeout: 20_000, interval: 100 },
    )

    expect(await workers()).toContain(survivor)
    expect(await workers()).not.toContain(victim)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    await expect(fetch(`${origin}/api/status`)).rejects.toThrow()
  })

  test('counts for all its workers at one address, each by its own number', async () => {
    const { databaseUrl } = await startService()
    const METRICS_PORT = String(await freePort())
    const { origin, child, ended } = await run({ DATABASE_URL: databaseUrl, WORKERS: '2', METRICS_PORT })
    const address = `http://127.0.0.1:${METRICS_PORT}/metrics`
    const answered =
      /^tallystick_http_requests_total{operation="status.get",status="200",worker="(\d+)"} (\d+)$/gm

    const ask = () => fetch(`${origin}/api/status`, { headers: { connection: 'close' } })
    await Promise.all(Array.from({ length: 30 }, ask))

    await vi.waitFor(async () => {
      const text = await (await fetch(address)).text()
      const counts = Array.from(
        text.matchAll(answered),
        ([, worker, count]) => [worker, Number(count)] as const,
      )
      expect(counts.map(([worker]) => worker).sort()).toEqual(['1', '2'])
      expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(30)
    })
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    await expect(fetch(address)).rejects.toThrow()
  })

  test('ends, with what is wrong, where its workers cannot start', async () => {
    const { child, ended, output } = await run({
      DATABASE_URL: 'postgres://nobody:x@127.0.0.1:1/nothing',
      WORKERS: '2',
    })
    await ended

    expect(child.exitCode).toBe(1)
    expect(output()).toContain('ECONNREFUSED')
  })

  test('names every mistake in its settings at once, and does not start', async () => {
    const { child, ended, output } = await run({
      NODE_ENV: 'production',
      BASE_URL: 'https://example.com/path',
      AUTH_SECRET: 'short',
      PORT: 'x',
    })
    await ended

    expect(child.exitCode).toBe(1)
    for (const name of ['BASE_URL', 'AUTH_SECRET', 'PORT']) expect(output()).toContain(`  ${name}: `)
  })
})
