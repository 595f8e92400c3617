import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { cookieOf } from '../../engine/dev/testing/index.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'

interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** The built service in a separate process. */
export interface Service {
  origin: string
  pid: number
  dataDir: string
  /** Returns the output so far. */
  log: () => string
  kill: (signal: NodeJS.Signals) => Promise<Exit>
  /** Resolves when the process has ended for any reason. */
  ended: Promise<Exit>
  /** Resident memory in bytes: current and maximum. */
  resident: () => number
  peak: () => number
  /** Number of open file descriptors. */
  descriptors: () => number
}

const cleanups: (() => void)[] = []
// The cleanups run at the exit of this process, so that they also run if the trial fails.
process.once('exit', () => {
  for (const cleanup of cleanups) cleanup()
})

/** Creates a folder that is removed when this process exits. */
export async function createTemporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-trial-'))
  cleanups.push(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return folder
}

/**
 * Starts the built service, or another program, and waits until it is ready. By default, uses a free port and a new data folder.
 */
export async function startService(
  environment: Record<string, string> = {},
  program: readonly string[] = ['dist/start/main.js'],
): Promise<Service> {
  const port = environment.PORT ?? String(await freePort())
  const dataDir = environment.DATA_DIR ?? (await createTemporaryFolder())
  const origin = `http://127.0.0.1:${port}`
  const file = join(await createTemporaryFolder(), 'log')
  const output = openSync(file, 'a')
  const child = spawn(process.execPath, program, {
    stdio: ['ignore', output, output],
    env: { PATH: process.env.PATH, BASE_URL: origin, ...environment, PORT: port, DATA_DIR: dataDir },
  })
  closeSync(output)
  cleanups.unshift(() => child.kill('SIGKILL'))
  const { pid = 0 } = child
  const ended = once(child, 'exit').then(() => ({ code: child.exitCode, signal: child.signalCode }))
  const log = () => readFileSync(file, 'utf8')
  await waitUntilReady(origin, () => {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}:\n${log()}`)
  })
  return {
    origin,
    pid,
    dataDir,
    log,
    kill: async (signal) => {
      child.kill(signal)
      return ended
    },
    ended,
    resident: () => memoryOf(pid, 'VmRSS'),
    peak: () => memoryOf(pid, 'VmHWM'),
    descriptors: () => readdirSync(`/proc/${pid}/fd`).length,
  }
}

function memoryOf(pid: number, name: 'VmRSS' | 'VmHWM') {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return 1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
}

/** Waits until a service, or a load balancer, is ready. If the process has ended, `check` throws and ends the wait. */
export async function waitUntilReady(origin: string, check: () => void) {
  for (;;) {
    check()
    const { ok } = await fetch(`${origin}/api/health/ready`).catch(() => ({ ok: false }))
    if (ok) return
    await sleep(20)
  }
}

/** Signs in: requests a code, reads the code from the outbox, and enters the code. Returns the cookie. */
export async function signIn(origin: string, email: string, dataDir: string, headers = {}) {
  const post = (path: string, body: object) =>
    fetch(`${origin}/api/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  await post('email-otp/send-verification-otp', { email, type: 'sign-in' })
  const otp = await readCode(email, dataDir)
  const response = await post('sign-in/email-otp', { email, otp })
  if (!response.ok) throw new Error(`${email} could not sign in: ${response.status}`)
  return cookieOf(response.headers)
}

/** Returns the code in the last message to an address. */
export async function readCode(email: string, dataDir: string) {
  const outbox = join(dataDir, 'outbox')
  const names = (await readdir(outbox)).filter((name) => name.endsWith('.eml')).sort()
  const messages = await Promise.all(names.map((name) => readFile(join(outbox, name), 'utf8')))
  const message = messages.findLast((text) => text.includes(`To: ${email}`)) ?? ''
  return /^Subject: (\d{6})/m.exec(message)?.[1]
}
