import { inspect } from '../../db/inspection.ts'
import { onDatabase, settingsOf, type Shell } from './shell.ts'

/** Opening the database is what migrates it. */
export async function migrate(shell: Shell) {
  const { pending } = await inspect(settingsOf(shell).databaseUrl)
  await onDatabase(shell, () => Promise.resolve())
  for (const name of pending) shell.print(`Applied ${name}`)
  shell.print('The database is up to date.')
}

/** Fails where migrations are pending, and names them. */
export async function check(shell: Shell) {
  const { pending } = await inspect(settingsOf(shell).databaseUrl)
  for (const name of pending) shell.print(name)
  if (pending.length > 0) throw new Error('The database lacks these migrations. Run: tallystick migrate')
  shell.print('The database is up to date.')
}
