import { inspect } from '../../db/inspection.ts'
import { withDatabase, readCommandSettings, type CommandContext } from './command-context.ts'

/** Applies pending migrations (through `withDatabase`), and prints their names. */
export async function migrate(context: CommandContext) {
  const { pending } = await inspect((await readCommandSettings(context)).databaseUrl)
  await withDatabase(context, () => Promise.resolve())
  for (const name of pending) context.print(`Applied ${name}`)
  context.print('The database is up to date.')
}

/** Prints the names of pending migrations. Throws if there are pending migrations. */
export async function check(context: CommandContext) {
  const { pending } = await inspect((await readCommandSettings(context)).databaseUrl)
  for (const name of pending) context.print(name)
  if (pending.length > 0)
    throw new Error('These migrations are missing in the database. Run: tallystick migrate')
  context.print('The database is up to date.')
}
