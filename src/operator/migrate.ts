import { inspect } from '../../db/inspection.ts'
import { withDatabase, readCommandSettings, type CommandContext } from './command-context.ts'

/** Opening the database is what migrates it. */
export async function migrate(shell: CommandContext) {
  const { pending } = await inspect(readCommandSettings(shell).databaseUrl)
  await withDatabase(shell, () => Promise.resolve())
  for (const name of pending) shell.print(`Applied ${name}`)
  shell.print('The database is up to date.')
}

/** Fails where migrations are pending, and names them. */
export async function check(shell: CommandContext) {
  const { pending } = await inspect(readCommandSettings(shell).databaseUrl)
  for (const name of pending) shell.print(name)
  if (pending.length > 0) throw new Error('The database lacks these migrations. Run: tallystick migrate')
  shell.print('The database is up to date.')
}
