import { execFileSync } from 'node:child_process'

/** Whether this system has `taskset`, which pins a process to one CPU core. */
export const canPin = hasTaskset()

function hasTaskset() {
  try {
    execFileSync('taskset', ['-c', '1', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Pins this process to one core, and the child processes that it starts later: PostgreSQL and the load generator. */
export function pinCurrentProcess(core: number) {
  if (canPin)
    execFileSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)], { stdio: 'ignore' })
}
