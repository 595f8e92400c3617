import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'

const STOP = 'stop'

/**
 * One process uses one core: starts several that share the port, and keeps as many while it runs. Resolves when all
 * listen; `end` is called with the exit code when all have ended. One that cannot even start ends the rest.
 */
export async function startWorkers(count: number, log: Logger, end: (code: number) => void) {
  const listening = new WeakSet<Worker>()
  let stopping = false
  let code = 0
  const living = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const stop = () => {
    stopping = true
    // Told once: whoever does not listen yet is told when they do.
    for (const worker of living()) if (listening.has(worker) && worker.isConnected()) worker.send(STOP)
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
      log.error({ worker: worker.process.pid, code: exitCode, signal }, 'a worker ended and is replaced')
      void start()
    } else {
      code = 1
      stop()
    }
    if (stopping && living().length === 0) end(code)
  })
  await Promise.all(Array.from({ length: count }, start))
  return stop
}

/**
 * What stops this process. A worker is told by the one that started it: signals that reach both, as a terminal's do,
 * would be a first and a second.
 */
export function onStopSignal(stop: () => void) {
  let told = false
  const tell = () => {
    if (told) process.exit(1)
    told = true
    stop()
  }
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, cluster.isWorker ? () => undefined : tell)
  if (cluster.isWorker)
    process.on('message', (message) => {
      if (message === STOP) tell()
    })
}
