import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'

const STOP = 'stop'

/**
 * Starts worker processes that listen on the same port, because one process uses only one CPU core. As soon as all
 * workers listen, the promise resolves with a function that stops all workers.
 * - A worker that exits after it listened is replaced.
 * - A worker that exits before it listened causes all other workers to stop.
 * - When all workers have exited, calls `onExit` with the exit code.
 */
export async function startWorkers(count: number, log: Logger, onExit: (code: number) => void) {
  const listening = new WeakSet<Worker>()
  let stopping = false
  let code = 0
  const liveWorkers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const stop = () => {
    stopping = true
    // Skips workers that do not listen yet: `start` sends them the message as soon as they listen. A worker must
    // receive only one stop message, because a second message makes the worker exit immediately.
    for (const worker of liveWorkers()) if (listening.has(worker) && worker.isConnected()) worker.send(STOP)
  }
  const start = async () => {
    const worker = cluster.fork()
    await once(worker, 'listening')
    listening.add(worker)
    if (stopping) worker.send(STOP)
  }
  cluster.on('exit', (worker, exitCode, signal) => {
    if (stopping) code ||= exitCode
    else if (listening.has(worker)) {
      log.error(
        { worker: worker.process.pid, code: exitCode, signal },
        'worker exited; starting a replacement',
      )
      void start()
    } else {
      code = 1
      stop()
    }
    if (stopping && liveWorkers().length === 0) onExit(code)
  })
  await Promise.all(Array.from({ length: count }, start))
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
