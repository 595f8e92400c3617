import { execFileSync } from 'node:child_process'

/** Interval of the checks, in milliseconds. */
const INTERVAL = 500

/**
 * Calls `stop` when npm, npx or another package manager that started this process has ended, or the shell between them. A
 * shell does not forward signals, so that this process would continue without a terminal.
 */
export function onRunnerExit(stop: () => void) {
  // Without a package manager, the parent can end on purpose: `nohup tallystick dev &`.
  const { npm_lifecycle_event: script } = process.env
  if (script === undefined) return
  const parent = process.ppid
  const runner = findRunner(parent)
  const timer = setInterval(() => {
    if (process.ppid === parent && isAlive(runner)) return
    clearInterval(timer)
    stop()
  }, INTERVAL).unref()
}

/** Returns the parent of the shell between a package manager and this process, or the parent itself if it is no shell. */
function findRunner(parent: number) {
  try {
    const output = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(parent)], { encoding: 'utf8' })
    const [grandparent = '', command = ''] = output.trim().split(/\s+/)
    return command.endsWith('sh') ? Number(grandparent) : parent
  } catch {
    // Without `ps`, only the end of the parent is noticed.
    return parent
  }
}

function isAlive(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
