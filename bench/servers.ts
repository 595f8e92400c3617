import { buildSync } from 'esbuild'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'

import { freePort } from '../engine/dev/testing/postgres.ts'
import { canPin } from './machine/cpu-affinity.ts'

const Usage = z.object({ at: z.number(), cpu: z.number(), memory: z.number(), heap: z.number() })

/**
 * The resource usage of a server: the time of the measurement in ms since the Unix epoch (`at`), the CPU time since
 * the start of the process in µs (user and system), the resident memory in bytes, and the
 * part of it that the objects use.
 */
export type Usage = z.infer<typeof Usage>

export interface Server {
  origin: string
  /** `collect` causes a garbage collection before the measurement. */
  usage: (kind?: 'now' | 'collect') => Promise<Usage>
  stop: (signal?: NodeJS.Signals) => Promise<void>
}

const SECRET = 'a secret of the benchmark, of no use elsewhere'

const peers = ['fastify', 'fastify-better-auth', 'hono', 'mcp'] as const
type Peer = (typeof peers)[number]
/** The peer for streams (`npm run bench:streams`). */
const STREAM_PEER = 'orpc-redis'

const children: ChildProcess[] = []
// Kills the servers when this process exits, even if the run fails.
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

const BUILD_FOLDER = 'node_modules/.cache/tallystick-bench'

/**
 * Compiles the peers, because Tallystick is compiled too. With tsx, the peers would be slower, because tsx adds code
 * to every function.
 */
export function buildPeers() {
  buildSync({
    entryPoints: ['bench/usage.ts', ...[...peers, STREAM_PEER].map((name) => `bench/peers/${name}.ts`)],
    entryNames: '[name]',
    outdir: BUILD_FOLDER,
    bundle: true,
    packages: 'external',
    // The parts of the engine that the peers share with the service: Node.js 20 does not load sources of packages.
    alias: {
      tallystick: './engine/texts/translation.ts',
      'tallystick/db': './engine/db/index.ts',
      'tallystick-contract': './engine/contract/index.ts',
      'tallystick-contract/internal': './engine/contract/internal.ts',
    },
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
  })
}

/** Starts a peer. Like Tallystick, the peer keeps its compiled code during the slices of other servers. */
export const startPeer = (name: Peer, node: string, databaseUrl: string) =>
  start([node, '--no-memory-reducer', join(BUILD_FOLDER, `${name}.mjs`)], { DATABASE_URL: databaseUrl })

export const startStreamPeer = (node: string, redisUrl: string) =>
  start([node, join(BUILD_FOLDER, `${STREAM_PEER}.mjs`)], { REDIS_URL: redisUrl })

const Package = z.object({ scripts: z.object({ start: z.string() }) })
/** The command of `npm start`. */
const [, ...startArguments] = Package.parse(
  JSON.parse(readFileSync('package.json', 'utf8')),
).scripts.start.split(' ')

/** Starts Tallystick with the command of `npm start`, in production unless `settings` say otherwise. */
export const startTallystick = (node: string, settings: Record<string, string>, cores?: string) =>
  start(
    [node, ...startArguments],
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
  [node = '', ...program]: string[],
  settings: Record<string, string>,
  cores = '0',
): Promise<Server> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const usage = pathToFileURL(join(BUILD_FOLDER, 'usage.mjs')).href
  const [command = '', ...parameters] = [
    ...(canPin ? ['taskset', '-c', cores] : []),
    ...[node, '--import', usage, ...program],
  ]
  const child = spawn(command, parameters, {
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
  await waitUntilReady(child, `${origin}/api/status`)
  return {
    origin,
    usage: async (kind = 'now') => {
      const reply = once(child, 'message')
      child.send(kind)
      return Usage.parse((await reply)[0])
    },
    stop: async (signal = 'SIGKILL') => {
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
    },
  }
}

async function waitUntilReady(child: ChildProcess, url: string) {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}`)
    const { ok } = await fetch(url).catch(() => ({ ok: false }))
    if (ok) return
    await sleep(20)
  }
}
