import { execFileSync } from 'node:child_process'

/** Whether processes can be kept to one core here. */
export const pins = canPin()

function canPin() {
  try {
    execFileSync('taskset', ['-c', '1', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Keeps this process, and all that it starts from now on, to one core: PostgreSQL and the load generator. */
export function pinSelf(core: number) {
  if (pins)
    execFileSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)], { stdio: 'ignore' })
}
