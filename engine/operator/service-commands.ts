import { FolderInUse } from '../db/connection/embedded.ts'
import type { CommandContext } from './command-context.ts'
import { CommandInput } from './command-input.ts'

/**
 * The commands that need the database while the service runs. Only one process can open an embedded database, so the
 * service runs these commands on behalf of the command line (engine/operator/command-server.ts).
 */
export const serviceCommands: Record<
  string,
  (context: CommandContext, input: CommandInput) => Promise<void>
> = {
  'admin grant': async (context, { email }) => (await import('./people/admin.ts')).grant(context, email),
  'admin revoke': async (context, { email }) => (await import('./people/admin.ts')).revoke(context, email),
  'admin list': async (context) => (await import('./people/admin.ts')).list(context),
  'sessions list': async (context, { email }) => (await import('./people/sessions.ts')).list(context, email),
  'sessions revoke': async (context, { email, ...selection }) =>
    (await import('./people/sessions.ts')).revoke(context, email, selection),
  'jobs list': async (context, options) => (await import('./jobs.ts')).list(context, options),
  'jobs retry': async (context, options) => (await import('./jobs.ts')).retry(context, options),
  audit: async (context, options) => (await import('./people/audit.ts')).list(context, options),
}

/** Runs a command in this process, or in the service that uses the embedded database. */
export async function runServiceCommand(context: CommandContext, command: string, input: object = {}) {
  try {
    await serviceCommands[command]?.(context, CommandInput.parse(input))
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    const { requestFromService } = await import('./service-socket.ts')
    const output = await requestFromService(context, error, command, input)
    for (const line of JSON.parse(output.toString()) as string[]) context.print(line)
  }
}
