import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Logger } from 'pino'
import { z } from 'zod'

import type { Settings } from '../settings/settings.ts'
import type { Connection } from '../db/connection/database.ts'
import { toErrorMessage } from '../db/errors.ts'
import { isServer } from '../db/connection/open.ts'
import { makePrivate } from '../db/connection/private.ts'
import type { App } from '../app/resource.ts'
import { CommandInput } from './command-input.ts'
import { serviceCommands } from './service-commands.ts'
import { BACKUP, isTooLong, socketOf } from './service-socket.ts'

const Request = z.object({ command: z.string(), input: CommandInput })

interface CommandParts extends Pick<Connection, 'db' | 'notifications' | 'dump'> {
  settings: Settings
  log: Logger
}

/**
 * Runs commands for operators while the service uses the embedded database: the command line sends the commands to a
 * Unix socket. Call only while this process has the lock of the folder, because a socket of an earlier process is
 * removed. Without an embedded database in a folder, returns undefined.
 */
export async function listenForCommands(app: App, parts: CommandParts): Promise<Server | undefined> {
  const { log, settings } = parts
  const path = socketOf(settings.databaseUrl)
  if (isServer(settings.databaseUrl) || settings.databaseUrl === 'memory:' || process.platform === 'win32')
    return undefined
  if (isTooLong(path)) {
    log.warn({ path }, 'commands cannot reach this service: the path of DATA_DIR is too long for a socket')
    return undefined
  }
  const server = createServer((incoming, response) => {
    runFor(incoming, app, parts).then(
      (answer) => response.end(answer),
      (error: unknown) => {
        refuse(response, error)
      },
    )
  })
  try {
    rmSync(path, { force: true })
    await once(server.listen(path), 'listening')
    makePrivate(path, 0o600)
    return server
  } catch (error) {
    // For example, the file system does not support sockets. The service itself does not need the socket.
    server.close()
    log.warn({ path, err: error }, 'commands cannot reach this service: the socket cannot be opened')
    return undefined
  }
}

/** Maximum size of a command, in bytes. */
const MAX_COMMAND = 65_536

async function runFor(
  incoming: IncomingMessage,
  app: App,
  { db, notifications, dump, settings, log }: CommandParts,
) {
  // Also refuses a request without a length, which is NaN.
  if (!(Number(incoming.headers['content-length']) <= MAX_COMMAND))
    throw new Error('The command is too large')
  const { command, input } = Request.parse(await json(incoming))
  log.info({ command }, 'runs a command for operators')
  if (command === BACKUP && dump) return dump()
  const run = Object.hasOwn(serviceCommands, command) ? serviceCommands[command] : undefined
  if (!run) throw new Error(`The running service has no command ${command}. Stop the service first.`)
  const lines: string[] = []
  const print = (line: string) => lines.push(line)
  const service = { db, notifications, settings }
  await run({ loadApp: () => Promise.resolve(app), environment: {}, print, service }, input)
  // A line may contain line breaks, for example in the name of an account. The command line replaces them when it prints.
  return JSON.stringify(lines)
}

function refuse(response: ServerResponse, error: unknown) {
  response.statusCode = 400
  response.end(toErrorMessage(error))
}
