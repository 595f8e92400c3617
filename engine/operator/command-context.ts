import type { Connection, Database } from '../db/connection/database.ts'
import { open } from '../db/connection/open.ts'
import { type App, wantedMigrations } from '../app/resource.ts'
import { readSettings, type Settings } from '../settings/settings.ts'

export interface CommandContext {
  /** Imports the application on demand, because calls of a remote service do not need it. */
  loadApp: () => Promise<App>
  environment: NodeJS.ProcessEnv
  print: (line: string) => void
  /** Set if this process is the running service, which already has the database open. */
  service?: ServiceOfCommand
}

interface ServiceOfCommand extends Pick<Connection, 'notifications'> {
  db: Database
  settings: Settings
}

/**
 * Returns the settings for a command that uses the database. If DATABASE_URL is the URL of a connection pooler, the command
 * connects directly to PostgreSQL. Rejects `memory:`, because the data of such a database is lost when the command ends.
 */
export async function readCommandSettings({ environment, loadApp }: CommandContext): Promise<Settings> {
  const settings = readSettings(environment, await loadApp())
  if (settings.databaseUrl === 'memory:')
    throw new Error(
      'DATABASE_URL is memory:, and a database in memory does not outlive this command. Set DATABASE_URL to a PostgreSQL server, or unset it to use the embedded database.',
    )
  return { ...settings, databaseUrl: settings.directUrl ?? settings.databaseUrl }
}

/**
 * Opens the database (which applies pending migrations), runs `work`, and closes the database. In the service, runs
 * `work` with the open database.
 */
export async function withDatabase(
  context: CommandContext,
  work: (db: Database, settings: Settings, notifications: Connection['notifications']) => Promise<void>,
) {
  if (context.service) {
    const { db, settings, notifications } = context.service
    await work(db, settings, notifications)
    return
  }
  const settings = await readCommandSettings(context)
  const app = await context.loadApp()
  const { db, notifications, close } = await open(settings.databaseUrl, wantedMigrations(app))
  try {
    await work(db, settings, notifications)
  } finally {
    await close()
  }
}
