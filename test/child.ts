import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'

/** Waits until a process says that it listens, or has ended. Answers all that it says, as it goes on, and how it ends. */
export async function listening(child: ChildProcessWithoutNullStreams) {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)))
  const ended = once(child, 'exit')
  while (!text.includes('listens on') && child.exitCode === null && child.signalCode === null)
    await Promise.race([once(child.stdout, 'data'), ended])
  return { output: () => text, ended }
}
