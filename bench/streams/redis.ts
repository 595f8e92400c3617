import { Redis } from 'ioredis'
import { spawn } from 'node:child_process'

import { freePort } from '../../engine/dev/testing/postgres.ts'

/** Starts a Redis server that stores nothing. */
export async function startRedis() {
  const port = await freePort()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', settings, { stdio: 'ignore' })
  server.once('error', () => {
    throw new Error('Install Redis: there is no redis-server on PATH')
  })
  process.once('exit', () => server.kill('SIGKILL'))
  const url = `redis://127.0.0.1:${port}`
  // Connects again until the server is ready.
  const redis = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null })
  redis.on('error', () => undefined)
  await redis.ping()
  return { url, publish: (channel: string, message: string) => redis.publish(channel, message) }
}
