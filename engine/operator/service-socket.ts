import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

import { codeOf } from '../db/errors.ts'
import { type CommandContext, readCommandSettings } from './command-context.ts'

/** Maximum length of the path of a Unix socket, in bytes: 104 with the final zero on macOS, 108 on Linux. */
const MAX_PATH = 103

/** The socket is in DATA_DIR, beside the folder of the database. Only the user of the service can open DATA_DIR (0700). */
export const socketOf = (databaseFolder: string) => `${databaseFolder}.sock`

export const isTooLong = (path: string) => Buffer.byteLength(path) > MAX_PATH

/** The name of the command that writes a backup. Its answer is the backup: the command line opens the file. */
export const BACKUP = 'backup'

const STOPPED =
  'The service ended before it answered. Check whether the command took effect, and then run the command again.'

/**
 * Sends a command to the service that uses the embedded database. Returns the answer: the printed lines as JSON, or a
 * backup. Throws `inUse`, the error of the locked database folder, if no service listens.
 */
export async function requestFromService(
  context: CommandContext,
  inUse: unknown,
  command: string,
  input: object = {},
): Promise<Buffer> {
  const { databaseUrl } = await readCommandSettings(context)
  const socketPath = socketOf(databaseUrl)
  if (isTooLong(socketPath)) throw inUse
  const outgoing = request({ socketPath, method: 'POST' })
  outgoing.end(JSON.stringify({ command, input }))
  try {
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    const answer = await buffer(response)
    if (response.statusCode !== 200) throw new Error(answer.toString())
    return answer
  } catch (error) {
    const code = codeOf(error)
    // The other process is not a service, or is a service that starts or stops.
    if (code === 'ENOENT' || code === 'ECONNREFUSED') throw inUse
    if (code === 'ECONNRESET') throw new Error(STOPPED, { cause: error })
    throw error
  }
}
