import { createInterface } from 'node:readline/promises'

import { sql } from 'drizzle-orm'

import { parseDatabaseUrl } from '../db/connection/database-url.ts'
import type { Database } from '../db/connection/database.ts'
import { removeFolder } from '../db/connection/embedded.ts'
import { connect, isServer } from '../db/connection/open.ts'
import { type CommandContext, readCommandSettings } from './command-context.ts'

interface ResetOptions {
  /** The name of the database on a server. */
  database?: string
  yes?: true
}

/** Deletes all data and tables of a database of development. Refuses in production. */
export async function reset(context: CommandContext, options: ResetOptions) {
  if (context.environment.NODE_ENV === 'production')
    throw new Error('NODE_ENV is production: reset deletes only databases of development.')
  const { databaseUrl } = await readCommandSettings(context)
  if (isServer(databaseUrl)) await resetServer(databaseUrl, options)
  else {
    if (options.database !== undefined)
      throw new Error('--database names a database on a server, and DATABASE_URL is not set.')
    await confirm(`Delete the database in ${databaseUrl} with all data?`, options)
    await removeFolder(databaseUrl)
  }
  context.print('The database is deleted. The next start creates the tables again.')
}

async function resetServer(url: string, options: ResetOptions) {
  const { servers, driver } = parseDatabaseUrl(url)
  // A URL without a database means the database with the name of the user.
  const name = driver.database ?? driver.user ?? ''
  if (options.database !== name)
    throw new Error(
      `DATABASE_URL is a server. To delete all tables of the database ${name}, add: --database ${name}`,
    )
  const hosts = servers.map(({ host, port }) => `${host}:${port}`).join(', ')
  await confirm(`Delete all schemas of the database ${name} on ${hosts} with all data?`, options)
  const { db, close } = await connect(url)
  try {
    await db.transaction(dropSchemas)
  } finally {
    await close()
  }
}

async function dropSchemas(tx: Database) {
  const schemas = await tx
    .select({ name: sql`nspname`.mapWith(String) })
    .from(sql`pg_namespace`)
    .where(sql`nspname !~ '^pg_' and nspname <> 'information_schema'`)
  for (const { name } of schemas) await tx.execute(sql`drop schema ${sql.identifier(name)} cascade`)
  await tx.execute(sql`create schema public`)
}

async function confirm(question: string, { yes }: ResetOptions) {
  if (yes) return
  if (!process.stdin.isTTY) throw new Error(`${question} Without a terminal, add --yes.`)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(`${question} Type yes: `)
  terminal.close()
  if (answer.trim() !== 'yes') throw new Error('Nothing was changed.')
}
