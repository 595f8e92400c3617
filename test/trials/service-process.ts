import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { cookieOf } from '../../src/testing.ts'
import { freePort } from '../postgres.ts'

interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** The service as an operator runs it: a process of its own. */
export interface Service {
  origin: string
  pid: number
  dataDir: string
  /** What it has written so far. */
  log: () => string
  kill: (signal: NodeJS.Signals) => Promise<Exit>
  /** Resolves when the process has ended, whatever ended it. */
  ended: Promise<Exit>
  /** Memory in use, in bytes, and the most that ever was. */
  resident: () => number
  peak: () => number
  /** Files and sockets that are open. */
  descriptors: () => number
}

const cleanups: (() => void)[] = []
// Whatever becomes of the trial, nothing of it stays behind.
process.once('exit', () => {
  for (const end of cleanups) end()
})

/** A folder that goes with this process. */
export async function createTemporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-trial-'))
  cleanups.push(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return folder
}

/** Starts what `npm run build` has made, on a free port and in a folder of its own unless told, and waits until it is ready. */
export async function startService(environment: Record<string, string> = {}): Promise<Service> {
  const port = environment.PORT ?? String(await freePort())
  const dataDir = environment.DATA_DIR ?? (await createTemporaryFolder())
  const origin = `http://127.0.0.1:${port}`
  const file = join(await createTemporaryFolder(), 'log')
  const output = openSync(file, 'a')
  const child = spawn(process.execPath, ['--enable-source-maps', 'dist/start/main.js'], {
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

/** Waits until a service, or the balancer before it, says that it is ready. `check` throws where it never will be. */
export async function waitUntilReady(origin: string, check: () => void) {
  for (;;) {
    check()
    const { ok } = await fetch(`${origin}/api/health/ready`).catch(() => ({ ok: false }))
    if (ok) return
    await sleep(20)
  }
}

/** Signs in as a user does: asks for a code, reads the letter in the outbox, answers it. Answers the cookie. */
export async function signIn(origin: string, email: string, dataDir: string, headers = {}) {
  const post = (path: string, body: object) =>
    fetch(`${origin}/api/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  await post('email-otp/send-verification-otp', { email, type: 'sign-in' })
  const otp = await readCode(email, dataDir)
  const answer = await post('sign-in/email-otp', { email, otp })
  if (!answer.ok) throw new Error(`${email} could not sign in: ${answer.status}`)
  return cookieOf(answer.headers)
}

/** The code in the last letter to somebody. */
export async function readCode(email: string, dataDir: string) {
  const outbox = join(dataDir, 'outbox')
  const names = (await readdir(outbox)).sort()
  const letters = await Promise.all(names.map((name) => readFile(join(outbox, name), 'utf8')))
  const letter = letters.findLast((text) => text.includes(`To: ${email}`)) ?? ''
  return /^Subject: (\d{6})/m.exec(letter)?.[1]
}
