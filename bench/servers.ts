import { buildSync } from 'esbuild'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'

import { freePort } from '../test/postgres.ts'
import { pins } from './cpu-affinity.ts'

const Usage = z.object({ at: z.number(), cpu: z.number(), memory: z.number() })

/** Of a server so far: when (epoch ms), CPU (µs, user and system), resident bytes. */
export type Usage = z.infer<typeof Usage>

export interface Server {
  name: string
  origin: string
  usage: () => Promise<Usage>
  stop: (signal?: NodeJS.Signals) => Promise<void>
}

/** One column of the tables: a server, and the protocol it is asked in. */
export interface Contender {
  name: string
  server: Server
  rpc: boolean
}

export const SECRET = 'a secret of the benchmark, of no use elsewhere'

export const peers = ['raw', 'fastify', 'fastify-better-auth', 'hono'] as const

const children: ChildProcess[] = []
// Whatever becomes of the run, nothing of it stays behind.
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

const BUILT = 'node_modules/.cache/tallystick-bench'

/** Compiles the peers, as ours is: what tsx adds to every function would weigh on them. */
export function buildPeers() {
  buildSync({
    entryPoints: ['bench/usage.ts', ...peers.map((name) => `bench/peers/${name}.ts`)],
    entryNames: '[name]',
    outdir: BUILT,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
  })
}

export const startPeer = (name: (typeof peers)[number], databaseUrl: string) =>
  start(name, join(BUILT, `${name}.mjs`), { DATABASE_URL: databaseUrl })

export const startOurs = (settings: Record<string, string>, cores?: string) =>
  start(
    'tallystick',
    'dist/start/main.js',
    {
      LOG_LEVEL: 'silent',
      RATE_LIMITS: 'off',
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'bench@example.com',
      ...settings,
    },
    cores,
  )

async function start(
  name: string,
  program: string,
  settings: Record<string, string>,
  cores = '0',
): Promise<Server> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const usage = pathToFileURL(join(BUILT, 'usage.mjs')).href
  const command = [...(pins ? ['taskset', '-c', cores] : []), process.execPath, '--import', usage, program]
  const child = spawn(command[0] ?? '', command.slice(1), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: String(port),
      BASE_URL: origin,
      AUTH_SECRET: SECRET,
      SERVICE: 'bench',
      RELEASE: 'bench',
      ...settings,
    },
  })
  children.push(child)
  await answers(child, `${origin}/api/status`)
  return {
    name,
    origin,
    usage: async () => {
      const told = once(child, 'message')
      child.send('usage')
      return Usage.parse((await told)[0])
    },
    stop: async (signal = 'SIGKILL') => {
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}

async function answers(child: ChildProcess, url: string) {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}`)
    const { ok } = await fetch(url).catch(() => ({ ok: false }))
    if (ok) return
    await sleep(20)
  }
}
