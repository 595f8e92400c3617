import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'

const STOP = 'stop'

/**
 * Starts worker processes that share the port, because one process uses only one CPU core. Resolves with a stop function when
 * all workers listen.
 * - A worker that exits after it listened is replaced.
 * - A worker that exits before it listens stops all other workers.
 * - When all workers have exited, calls `onExit` with the exit code.
 */
export async function startWorkers(count: number, log: Logger, onExit: (code: number) => void) {
  const listening = new WeakSet<Worker>()
  let stopping = false
  let code = 0
  const liveWorkers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const stop = () => {
    stopping = true
    // `start` sends the message to workers that do not listen yet. Each worker must receive exactly one message: a second
    // message would end the worker immediately.
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
 * Calls `stop` on the first SIGTERM or SIGINT, and exits immediately on the second one. A worker ignores signals, and stops on
 * a message from the primary process: Ctrl+C in a terminal sends the signal to all processes, so that a worker would
 * otherwise receive two stop requests.
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
