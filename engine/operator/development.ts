import type { Command } from 'commander'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { codeOf } from '../db/errors.ts'

/** The entry point `tallystick-dev/commands`. */
interface Development {
  addCommands: (program: Command) => void
  buildProject: () => Promise<void>
  /** Lists what is missing in the migrations of the project, with the command that writes it. */
  listMigrationProblems: () => Promise<string[]>
}

/**
 * Returns the development package of the project in the working folder, or the one beside this package. Undefined in production.
 */
export async function importDevelopment(): Promise<Development | undefined> {
  for (const place of [join(process.cwd(), 'package.json'), import.meta.url])
    try {
      const file = createRequire(place).resolve('tallystick-dev/commands')
      return (await import(pathToFileURL(file).href)) as Development
    } catch (error) {
      if (codeOf(error) !== 'MODULE_NOT_FOUND') throw error
    }
  return undefined
}
