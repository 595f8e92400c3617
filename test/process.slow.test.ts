import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test as base, vi } from 'vitest'

import { createClient } from '../contract/client.ts'
import { freePort } from '../engine/dev/testing/postgres.ts'
import { pathOf, waitUntilListening } from './fixtures/programs.ts'
import { startProxy } from '../engine/test/fixtures/proxy.ts'
import { createDatabase } from './fixtures/database.ts'
import { signIn as signInByMail } from './trials/service-process.ts'

interface Running {
  child: ChildProcess
  origin: string
  output: () => string
  exit: Promise<unknown[]>
}

interface Fixtures {
  /** The data folder of the test. */
  folder: string
  /** The URL of a migrated PostgreSQL database. A process starts faster with it than with the embedded database. */
  databaseUrl: string
  /** Starts the service as a process with only these settings, and kills the process after the test. */
  start: (settings?: Record<string, string>) => Promise<Running>
}

// The tests run concurrently. Each test has its own folder, database and processes.
const test = base.extend<Fixtures>({
  // eslint-disable-next-line no-empty-pattern -- Vitest requires a destructured parameter.
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'tallystick-'))
    await use(folder)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  },
  // eslint-disable-next-line no-empty-pattern -- Vitest requires a destructured parameter.
  databaseUrl: async ({}, use) => {
    const { url, drop } = await createDatabase()
    await use(url)
    await drop()
  },
  start: async ({ folder }, use) => {
    const children: ChildProcess[] = []
    await use(async (settings = {}) => {
      const port = await freePort()
      const child = spawn(process.execPath, [pathOf('main')], {
        env: { PATH: process.env.PATH, DATA_DIR: folder, PORT: String(port), ...settings },
      })
      children.push(child)
      return { child, origin: `http://127.0.0.1:${port}`, ...(await waitUntilListening(child)) }
    })
    for (const child of children) child.kill('SIGKILL')
  },
})

/** Timeout in milliseconds. The timeout is long, because concurrent tests share the processors. */
const WAIT_OPTIONS = { timeout: 60_000, interval: 100 }

/** Returns the process id of the worker that answers a request on a new connection. */
async function pidOfWorker(origin: string) {
  const response = await fetch(`${origin}/api/status`, { headers: { connection: 'close' } })
  const { service } = (await response.json()) as { service: string }
  return Number(service.split(':')[1])
}

describe.concurrent('main', { timeout: 300_000 }, () => {
  test('prints its address, its pages and where sign-in codes are, and logs requests', async ({
    start,
    databaseUrl,
  }) => {
    const { origin, output, child, exit } = await start({ DATABASE_URL: databaseUrl })

    expect(output()).toContain('Tallystick listens on 127.0.0.1:')
    expect(output()).toMatch(/^ {2}Reference .*\/docs$/m)
    expect(output()).toMatch(/^ {2}Sign-in codes +in this log and in .*outbox, until SMTP_URL is set$/m)
    expect(output()).toMatch(/^ {2}Data +in the PostgreSQL server of DATABASE_URL$/m)
    await fetch(`${origin}/api/health/ready`)
    await fetch(`${origin}/api/counter?secret=1`)
    await vi.waitFor(() => {
      expect(output()).toContain('"operation":"counter.get"')
    }, WAIT_OPTIONS)
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
    expect(await exit).toEqual([0, null])
  })

  test.for(['1', '2'])(
    'prints the real port for PORT=0, with %s processes',
    async (workers, { start, databaseUrl }) => {
      const { output } = await start({ DATABASE_URL: databaseUrl, PORT: '0', WORKERS: workers })

      const [, port, origin = ''] = / listens on 127\.0\.0\.1:(\d+) as (\S+)/.exec(output()) ?? []
      expect(origin).toBe(`http://localhost:${port}`)
      expect((await fetch(`http://127.0.0.1:${port}/api/status`)).status).toBe(200)
    },
  )

  // Node treats a thrown error and an unhandled rejection as an uncaught exception.
  test.for([
    ['thrown', 'throw error'],
    ['rejected', 'void Promise.reject(error)'],
  ] as const)(
    'exits after an uncaught error and logs no value of the error: %s',
    async ([, fail], { start, folder, databaseUrl }) => {
      const error = `Object.assign(new Error('swordfish'), { code: 'EXAMPLE', params: ['swordfish'] })`
      const script = join(folder, 'fail.mjs')
      await writeFile(script, `process.on('SIGUSR2', () => { const error = ${error}; ${fail} })`)
      // Outside of production, the log has the message of an error.
      const { child, output, exit } = await start({
        NODE_ENV: 'production',
        BASE_URL: 'https://example.com',
        AUTH_SECRET: 's'.repeat(32),
        SMTP_URL: 'smtp://127.0.0.1:9',
        MAIL_FROM: 'no-reply@example.com',
        DATABASE_URL: databaseUrl,
        NODE_OPTIONS: `--import ${script}`,
      })

      child.kill('SIGUSR2')

      expect(await exit).toEqual([1, null])
      expect(output()).not.toContain('swordfish')
      expect(JSON.parse(output().trim().split('\n').at(-1) ?? '')).toMatchObject({
        level: 60,
        err: { type: 'Error', code: 'EXAMPLE', stack: expect.stringContaining('fail.mjs') as string },
      })
    },
  )

  test('logs the names of the migrations that it applies', async ({ start }) => {
    const { output } = await start()

    expect(output()).toMatch(/"migrations":\["tallystick\/0000_baseline",.*"msg":"migrations applied"/)
  })

  test('logs positions of the source files', async ({ start, databaseUrl }) => {
    const failure = 'Intl.PluralRules.prototype.select = () => { throw new Error() }'
    const { origin, output } = await start({
      DATABASE_URL: databaseUrl,
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(failure)}`,
    })

    const response = await fetch(`${origin}/api/reservations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Ada', guests: 3 }),
    })

    expect(response.status).toBe(500)
    await vi.waitFor(() => {
      expect(output()).toMatch(/at .*src\/reservations\.ts:\d+/)
    }, WAIT_OPTIONS)
  })

  test('keeps data and sessions after SIGKILL, and locks its folder against other processes', async ({
    start,
    folder,
  }) => {
    const signIn = async ({ origin }: Running, email: string) =>
      createClient(origin, { headers: { cookie: await signInByMail(origin, email, folder) } })
    const first = await start()
    const ada = await signIn(first, 'ada@example.com')
    const task = await ada.tasks.create({ taskTitle: 'Outlive the process' })

    const second = await start()
    await second.exit
    expect(second.output()).toMatch(/Another process uses the embedded database in .*DATA_DIR/)
    expect(second.child.exitCode).toBe(1)

    await ada.counter.set({ inputValue: 41 })
    first.child.kill('SIGKILL')
    await first.exit
    const third = await start()
    const again = await signIn(third, 'ada@example.com')
    expect(await again.tasks.list()).toEqual({ tasks: [task], taskCount: 1 })
    expect(await again.counter.increment()).toEqual({ count: 42 })
    expect((await again.sessions.list()).sessionCount).toBe(2)
    third.child.kill('SIGTERM')
    expect(await third.exit).toEqual([0, null])
  })

  test('exits after SIGTERM beside a connection without a request', async ({ start, databaseUrl }) => {
    const { origin, child, exit } = await start({ DATABASE_URL: databaseUrl })
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    await once(socket, 'connect')
    await fetch(`${origin}/api/status`)

    child.kill('SIGTERM')

    expect(await exit).toEqual([0, null])
    socket.destroy()
  })

  test('completes requests in progress after SIGTERM', async ({ start, databaseUrl }) => {
    const { origin, child, exit } = await start({ DATABASE_URL: databaseUrl })
    const slow = request(`${origin}/api/counter/set`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', expect: '100-continue' },
    })
    const response = once(slow, 'response') as Promise<[{ statusCode: number }]>
    slow.flushHeaders()
    await once(slow, 'continue')
    slow.write('{"inputValue":')

    child.kill('SIGTERM')
    await vi.waitFor(() => expect(fetch(`${origin}/api/status`)).rejects.toThrow(), WAIT_OPTIONS)
    slow.end('7}')

    expect((await response)[0].statusCode).toBe(200)
    expect(await exit).toEqual([0, null])
  })

  test('accepts requests for three seconds after SIGTERM behind a load balancer', async ({
    start,
    databaseUrl,
  }) => {
    const { origin, child, exit } = await start({ DATABASE_URL: databaseUrl, TRUSTED_PROXIES: 'loopback' })
    const stoppedAt = performance.now()

    child.kill('SIGTERM')

    await vi.waitFor(async () => {
      expect((await fetch(`${origin}/api/health/ready`)).status).toBe(503)
    }, WAIT_OPTIONS)
    expect((await fetch(`${origin}/api/status`)).status).toBe(200)
    expect(await exit).toEqual([0, null])
    expect(performance.now() - stoppedAt).toBeGreaterThan(3000)
  })

  test('runs several workers on one port, replaces a worker that exits, and stops all workers', async ({
    start,
    databaseUrl,
  }) => {
    const { origin, child, exit } = await start({ DATABASE_URL: databaseUrl, WORKERS: '2' })
    const workers = async (timeout = WAIT_OPTIONS.timeout) => {
      const options = { headers: { connection: 'close' }, signal: AbortSignal.timeout(timeout) }
      const responses = Array.from({ length: 20 }, () =>
        fetch(`${origin}/api/status`, options).then((response) => response.json()),
      )
      const statuses = (await Promise.all(responses)) as { service: string }[]
      return new Set(statuses.map(({ service }) => Number(service.split(':')[1])))
    }
    const first = await workers()
    expect(first.size).toBe(2)
    expect(first).not.toContain(child.pid)

    const [killed = 0, survivor] = first
    process.kill(killed, 'SIGKILL')
    const second = await vi.waitFor(async () => {
      // The timeout is short, because a request that a worker accepts just before SIGKILL gets no response.
      const found = await workers(2000)
      expect(found.size).toBe(2)
      return found
    }, WAIT_OPTIONS)

    expect(second).toContain(survivor)
    expect(second).not.toContain(killed)
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    await expect(fetch(`${origin}/api/status`)).rejects.toThrow()
  })

  test('serves the metrics of all workers at one address, labeled by worker', async ({
    start,
    databaseUrl,
  }) => {
    const METRICS_PORT = String(await freePort())
    const { origin, child, exit } = await start({ DATABASE_URL: databaseUrl, WORKERS: '2', METRICS_PORT })
    const address = `http://127.0.0.1:${METRICS_PORT}/metrics`
    const requests =
      /^tallystick_http_requests_total{operation="status.get",status="200",worker="(\d+)"} (\d+)$/gm

    const send = () => fetch(`${origin}/api/status`, { headers: { connection: 'close' } })
    const responses = await Promise.all(Array.from({ length: 30 }, send))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))

    await vi.waitFor(async () => {
      const text = await (await fetch(address)).text()
      const counts = Array.from(
        text.matchAll(requests),
        ([, worker, count]) => [worker, Number(count)] as const,
      )
      expect(counts.map(([worker]) => worker).sort()).toEqual(['1', '2'])
      expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(30)
    }, WAIT_OPTIONS)
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    await expect(fetch(address)).rejects.toThrow()
  })

  test('keeps its other workers while a killed worker cannot be replaced, and replaces it later', async ({
    start,
    databaseUrl,
    onTestFinished,
  }) => {
    const proxy = await startProxy(databaseUrl)
    onTestFinished(proxy.close)
    const { origin, output, child, exit } = await start({ DATABASE_URL: proxy.url, WORKERS: '2' })
    const killed = await pidOfWorker(origin)

    proxy.refuse()
    process.kill(killed, 'SIGKILL')
    await vi.waitFor(() => {
      expect(output().match(/worker exited/g)?.length).toBeGreaterThan(1)
    }, WAIT_OPTIONS)
    const answers = await Promise.all(Array.from({ length: 5 }, () => pidOfWorker(origin)))

    expect(new Set(answers).size).toBe(1)
    expect(answers).not.toContain(killed)
    proxy.accept()
    await vi.waitFor(async () => {
      expect(await pidOfWorker(origin)).not.toBe(answers[0])
    }, WAIT_OPTIONS)
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })

  test('exits and prints the cause if its workers cannot start', async ({ start }) => {
    const { child, exit, output } = await start({
      DATABASE_URL: 'postgres://nobody:x@127.0.0.1:1/nothing',
      WORKERS: '2',
    })
    await exit

    expect(child.exitCode).toBe(1)
    expect(output()).toContain('ECONNREFUSED')
  })

  test('names all invalid settings in one message, and does not start', async ({ start }) => {
    const { child, exit, output } = await start({
      NODE_ENV: 'production',
      BASE_URL: 'https://example.com/path',
      AUTH_SECRET: 'short',
      PORT: 'x',
    })
    await exit

    expect(child.exitCode).toBe(1)
    for (const name of ['BASE_URL', 'AUTH_SECRET', 'PORT']) expect(output()).toContain(`  ${name}: `)
  })
})
