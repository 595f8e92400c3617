import type { Database } from '../../db/database.ts'
import { open } from '../../db/index.ts'
import { readSettings, type Settings } from '../settings.ts'

/** Where a command runs: what it is set by, and where its lines go. */
export interface CommandContext {
  environment: NodeJS.ProcessEnv
  print: (line: string) => void
}

/** The settings of a service whose database is kept, and is worked on past any pooler. */
export function readCommandSettings({ environment }: CommandContext): Settings {
  const settings = readSettings(environment)
  if (settings.databaseUrl === 'memory:')
    throw new Error('A database in memory ends with the command. Set DATABASE_URL to another, or to none.')
  return { ...settings, databaseUrl: settings.directUrl ?? settings.databaseUrl }
}

/** Works on the service's database, brought up to date, and lets go of it. */
export async function withDatabase(
  shell: CommandContext,
  work: (db: Database, settings: Settings) => Promise<void>,
) {
  const settings = readCommandSettings(shell)
  const { db, close } = await open(settings.databaseUrl)
  try {
    await work(db, settings)
  } finally {
    await close()
  }
}
