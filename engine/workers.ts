import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'

const STOP = 'stop'

/** Limits of the time before a worker that did not start is started again, in milliseconds. The time doubles. */
const RESTART_DELAY = { min: 1000, max: 30_000 }

/**
 * Starts worker processes that listen on the same port, because one process uses only one CPU core. As soon as all
 * workers listen, the promise resolves with a function that stops all workers.
 * - A worker that exits before all workers have listened once causes all other workers to stop, unless it has listened.
 * - Later, each worker that exits is replaced, after a growing delay while replacements do not start, for example during
 *   a database outage. The other workers continue.
 * - When all workers have exited after `stop`, calls `onExit` with the exit code.
 */
export async function startWorkers(count: number, log: Logger, onExit: (code: number) => void) {
  const listening = new WeakSet<Worker>()
  let hasStarted = false
  let stopping = false
  let code = 0
  /** The number of replacements that have failed since the last worker started to listen. */
  let failures = 0
  const liveWorkers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const exitIfStopped = () => {
    if (stopping && liveWorkers().length === 0) onExit(code)
  }
  const stop = () => {
    stopping = true
    // Skips workers that do not listen yet: `start` sends them the message as soon as they listen. A worker must
    // receive only one stop message, because a second message makes the worker exit immediately.
    for (const worker of liveWorkers()) if (listening.has(worker) && worker.isConnected()) worker.send(STOP)
    exitIfStopped()
  }
  const start = async () => {
    const worker = cluster.fork()
    await once(worker, 'listening')
    listening.add(worker)
    failures = 0
    if (stopping) worker.send(STOP)
  }
  const restart = () => {
    const delay = failures === 0 ? 0 : Math.min(RESTART_DELAY.min * 2 ** (failures - 1), RESTART_DELAY.max)
    setTimeout(() => {
      if (!stopping) void start()
    }, delay)
    return delay
  }
  cluster.on('exit', (worker, exitCode, signal) => {
    const hasListened = listening.has(worker)
    if (stopping) code ||= exitCode
    else if (hasListened || hasStarted) {
      if (!hasListened) failures++
      const delay = restart()
      log.error(
        { worker: worker.process.pid, code: exitCode, signal, delay },
        'worker exited; starting a replacement',
      )
    } else {
      code = 1
      stop()
    }
    exitIfStopped()
  })
  await Promise.all(Array.from({ length: count }, start))
  hasStarted = true
  return stop
}

/**
 * Calls `stop` on the first SIGTERM or SIGINT, and exits immediately on the second signal. A worker process ignores the
 * signals, and stops on a message from the primary process. Reason: Ctrl+C in a terminal sends SIGINT to all processes,
 * so a worker would count the signal and the message as two stop requests, and exit immediately.
 */
export function onStopSignal(stop: () => void) {
  let stopping = false
  const requestStop = () => {
    if (stopping) process.exit(1)
    stopping = true
    stop()
  }
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, cluster.isWorker ? () => undefined : requestStop)
  if (cluster.isWorker)
    process.on('message', (message) => {
      if (message === STOP) requestStop()
    })
}
