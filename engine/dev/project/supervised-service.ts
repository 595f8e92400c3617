import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** Time for the end of the service after SIGTERM, in milliseconds: longer than the service waits for its requests. */
const STOP_TIMEOUT = 15_000

interface Options {
  file: string
  /** Options for Node. */
  flags: readonly string[]
  env: NodeJS.ProcessEnv
  /** Called with each message of the service. */
  onMessage: (message: unknown, service: ChildProcess) => void
  /** Called if the service ends without `stop` and `restart`. `reason` is its exit code or its signal. */
  onEnd: (reason: string) => void
}

/** Runs the service as a process, which ends when its channel to this process closes. */
export function createService({ file, flags, env, onMessage, onEnd }: Options) {
  let child: ChildProcess | undefined
  /** Waits for the end of the process, because only one process can use the embedded database. */
  const stop = async () => {
    // There is no process, or the process has ended.
    if (child?.exitCode !== null || child.signalCode !== null) return
    const stopped = child
    // `onEnd` is only for a process that ends by itself, which is still `child` then.
    child = undefined
    const exit = once(stopped, 'exit')
    stopped.kill('SIGTERM')
    const timer = setTimeout(() => stopped.kill('SIGKILL'), STOP_TIMEOUT)
    await exit
    clearTimeout(timer)
  }
  return {
    stop,
    /** Sends a message to the process, if there is one. */
    send: (message: object) => {
      // An error of a process that ends just now is no error of this process.
      if (child?.connected) child.send(message, () => undefined)
    },
    restart: async () => {
      await stop()
      // The bundle is one file, so that its source map must be enabled before the file is loaded.
      const words = ['--enable-source-maps', ...flags, file]
      const started = spawn(process.execPath, words, { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
      child = started
      started.on('message', (message) => {
        onMessage(message, started)
      })
      started.once('exit', (code, signal) => {
        if (started === child) onEnd(signal ?? `code ${code}`)
      })
    },
  }
}
