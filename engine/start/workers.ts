import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import inspector from 'node:inspector'
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
 *
 * `environment` has the variables that differ from those of this process.
 */
export async function startWorkers(
  count: number,
  log: Logger,
  onExit: (code: number) => void,
  environment: NodeJS.ProcessEnv,
) {
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
    const worker = cluster.fork(environment)
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

/** Whether `tallystick dev` runs this process. */
let hasParent = false

/** Stops this process when `tallystick dev` has ended, also after SIGKILL, so that the port and the database are free. */
export function stopWithParent() {
  const stop = () => process.kill(process.pid, 'SIGTERM')
  // Without a channel, the process runs alone.
  if (process.send === undefined) return
  hasParent = true
  // With a connected debugger, Node would not exit, and the parent could not start the service again.
  process.once('exit', () => {
    inspector.close()
  })
  // Without a connection, the parent has ended before this line.
  if (process.connected) process.once('disconnect', stop)
  else stop()
}

/**
 * Calls `stop` on the first SIGTERM or SIGINT, and exits immediately on the second signal. A worker process ignores the
 * signals, and stops on a message from the primary process. Reason: Ctrl+C in a terminal sends SIGINT to all processes,
 * so a worker would count the signal and the message as two stop requests, and exit immediately. The service of
 * `tallystick dev` ignores SIGINT for the same reason.
 */
export function onStopSignal(stop: () => void) {
  let stopping = false
  const requestStop = () => {
    if (stopping) process.exit(1)
    stopping = true
    stop()
  }
  const ignore = () => undefined
  process.on('SIGTERM', cluster.isWorker ? ignore : requestStop)
  process.on('SIGINT', cluster.isWorker || hasParent ? ignore : requestStop)
  if (cluster.isWorker)
    process.on('message', (message) => {
      if (message === STOP) requestStop()
    })
}
