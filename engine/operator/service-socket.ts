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

/**
 * Sends a command to the service that uses the embedded database. Returns the output. Throws `inUse`, with advice, if no
 * service listens.
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
  const [response] = (await once(outgoing, 'response').catch((error: unknown) => {
    // The other process is not a service, or is a service that starts or stops.
    if (/^(ENOENT|ECONNREFUSED)$/.test(codeOf(error))) throw inUse
    throw error
  })) as [IncomingMessage]
  const answer = await buffer(response)
  if (response.statusCode !== 200) throw new Error(answer.toString())
  return answer
}
