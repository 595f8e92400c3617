import { once } from 'node:events'
import type { Server } from 'node:net'

/** Maps the error code of a failed `listen` to the advice. `setting` is the setting of the port. */
const ADVICE: Record<string, (setting: string) => string> = {
  EADDRINUSE: (setting) =>
    `another program uses this port. Stop the other program, or set ${setting} to another port`,
  EACCES: (setting) => `this user may not use this port. Set ${setting} to 1024 or higher`,
  EADDRNOTAVAIL: (setting) =>
    `this machine does not have this address. Set ${setting.replace('PORT', 'HOST')} to an address of this machine`,
  ENOTFOUND: (setting) =>
    `the host name cannot be resolved. Set ${setting.replace('PORT', 'HOST')} to an address of this machine`,
}

/** Listens on an address. The message of an error names the setting to change. */
export async function listen<Listening extends Server>(
  server: Listening,
  { host, port }: { host: string; port: number | undefined },
  setting: 'PORT' | 'METRICS_PORT',
): Promise<Listening> {
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const advice = ADVICE[code]?.(setting)
    if (advice === undefined) throw error
    throw new Error(`${host}:${port}: ${advice}.`, { cause: error })
  }
  return server
}
