import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { expect, onTestFinished } from 'vitest'

/** A line of the log. */
interface Line {
  msg: string
  label?: string
  attempt?: number
  job?: string
}

/** Serves the application in a process of its own, until the end of the test. */
export function startProcess(environment: Record<string, string>) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'engine/test/jobs/parcels/serve.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      HOST: '127.0.0.1',
      AUTH_SECRET: 'a secret of the tests of jobs, with 32 characters',
      ...environment,
    },
  })
  const lines: Line[] = []
  let isStarted = false
  createInterface(child.stdout).on('line', (line) => {
    isStarted ||= line.includes('listens on')
    if (line.startsWith('{')) lines.push(JSON.parse(line) as Line)
  })
  const ended = once(child, 'exit')
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await ended
  }
  onTestFinished(() => (child.exitCode === null && child.signalCode === null ? kill('SIGKILL') : undefined))
  return {
    pid: child.pid,
    kill,
    /** Waits until the application listens. */
    start: () => expect.poll(() => isStarted, { timeout: 40_000 }).toBe(true),
    /** Waits for a line of the log with these fields. */
    see: (fields: Partial<Line>, timeout = 40_000) =>
      expect.poll(() => lines, { timeout }).toContainEqual(expect.objectContaining(fields)),
  }
}
