import { fork } from 'node:child_process'
import { once } from 'node:events'

import { type Command, ReaderReport } from './reader-process.ts'

/** Starts a process that reads streams. The function sends a command, and returns the report after this command. */
export function startReaders() {
  const child = fork('bench/streams/reader-process.ts', { serialization: 'advanced' })
  return {
    send: async (command: Command) => {
      const reply = once(child, 'message')
      child.send(command)
      return ReaderReport.parse((await reply)[0])
    },
    stop: () => child.kill(),
  }
}
