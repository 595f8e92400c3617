import { inspect } from '../db/inspection.ts'
import { open } from '../db/connection/open.ts'
import { wantedMigrations } from '../app/resource.ts'
import { type CommandContext, readCommandSettings } from './command-context.ts'

/** Applies pending migrations, and prints the name of each. */
export async function migrate(context: CommandContext) {
  const { print } = context
  const { databaseUrl } = await readCommandSettings(context)
  const { close } = await open(databaseUrl, {
    ...wantedMigrations(await context.loadApp()),
    onApplied: (name) => {
      print(`Applied ${name}`)
    },
    onMigrated: ({ changed }) => {
      for (const name of changed) print(describeChanged(name))
    },
  })
  await close()
  print('The database is up to date.')
}

/** Prints the names of pending migrations. Throws if migrations are pending or have changed. */
export async function check(context: CommandContext) {
  const app = await context.loadApp()
  const { databaseUrl } = await readCommandSettings(context)
  const { pending, changed } = await inspect(databaseUrl, wantedMigrations(app))
  for (const name of pending) context.print(name)
  for (const name of changed) context.print(describeChanged(name))
  if (pending.length > 0)
    throw new Error('These migrations are missing in the database. Run: tallystick migrate')
  if (changed.length > 0) throw new Error('Files of applied migrations have changed.')
  context.print('The database is up to date.')
}

export const describeChanged = (name: string) =>
  `${name} has changed after the database has applied it. Restore the file, and write changes as a new migration.`
