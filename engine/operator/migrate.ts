import { inspect } from '../db/inspection.ts'
import { withDatabase, readCommandSettings, type CommandContext } from './command-context.ts'

/** Applies pending migrations (through `withDatabase`), and prints their names. */
export async function migrate(context: CommandContext) {
  const { pending } = await inspectDatabase(context)
  await withDatabase(context, () => Promise.resolve())
  for (const name of pending) context.print(`Applied ${name}`)
  context.print('The database is up to date.')
}

/** Prints the names of pending migrations. Throws if there are pending migrations. */
export async function check(context: CommandContext) {
  const { pending } = await inspectDatabase(context)
  for (const name of pending) context.print(name)
  if (pending.length > 0)
    throw new Error('These migrations are missing in the database. Run: tallystick migrate')
  context.print('The database is up to date.')
}

async function inspectDatabase(context: CommandContext) {
  const { migrationsFolder } = await context.loadApp()
  return inspect((await readCommandSettings(context)).databaseUrl, migrationsFolder)
}
