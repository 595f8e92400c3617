import { findFilledTable, readCatalogue } from '../db/copy/catalogue.ts'
import { CopyError, filledError } from '../db/copy/error.ts'
import { copyData, type CopiedTable } from '../db/copy/index.ts'
import { parseDatabaseUrl } from '../db/connection/database-url.ts'
import type { Connection, Database } from '../db/connection/database.ts'
import { containsDatabase } from '../db/connection/pglite.ts'
import { readMigrationState } from '../db/migrate/migrations.ts'
import { listQueues } from '../db/jobs/install.ts'
import { isServer, migrate, open, openForLongWork } from '../db/connection/open.ts'
import { wantedMigrations } from '../app/resource.ts'
import { type CommandContext, readCommandSettings } from './command-context.ts'

interface CopyCommandOptions {
  to?: string
  from?: string
}

type OpenDatabase = Pick<Connection, 'db' | 'close'>

/** The URL or folder of a database, and the setting or option that has it, for messages. */
interface Place {
  url: string
  setting: string
}

/** Copies all data of the embedded database to an empty database on a server (`to`), or back (`from`). */
export async function copy(context: CommandContext, { to, from }: CopyCommandOptions) {
  const server = to ?? from
  if (server === undefined || (to !== undefined && from !== undefined))
    throw new Error('Name one server: --to postgres://… or --from postgres://…')
  const { embeddedDatabase } = await readCommandSettings(context)
  const embedded: Place = { url: embeddedDatabase, setting: 'DATA_DIR' }
  const remote = readPlace(server, to === undefined ? '--from' : '--to')
  const [source, target] = to === undefined ? [remote, embedded] : [embedded, remote]
  if (!isServer(source.url) && !containsDatabase(source.url))
    throw new Error(`There is no database in ${source.url}.`)

  const tables = await withOpen(openForLongWork(source.url, source.setting), ({ db }) =>
    copyFrom(context, db, target),
  )
  for (const { name, rows } of tables) context.print(`${String(rows).padStart(10)}  ${name}`)
  context.print(
    `Copied ${tables.length} tables. Numbers of rows and checksums are the same on both sides. The source is unchanged.`,
  )
  context.print(
    to === undefined
      ? 'Next: unset DATABASE_URL and start the service. Keep AUTH_SECRET.'
      : `Next: set DATABASE_URL to the address of the server and start the service. Keep AUTH_SECRET, or the DATA_DIR with its secret. Delete ${embedded.url} when it is no longer needed.`,
  )
}

function readPlace(url: string, setting: string): Place {
  if (!isServer(url))
    throw new Error(`${setting}: Must be a URL such as postgres://user:password@host/database`)
  try {
    parseDatabaseUrl(url)
  } catch (error) {
    throw new Error(`${setting}: ${(error as Error).message}`, { cause: error })
  }
  return { url, setting }
}

async function copyFrom(context: CommandContext, source: Database, target: Place): Promise<CopiedTable[]> {
  const wanted = wantedMigrations(await context.loadApp())
  const { pending } = await readMigrationState(source, wanted)
  // Jobs of an earlier release may wait in queues that this release does not declare.
  const queues = [...new Set([...wanted.queues, ...(await listQueues(source))])]
  if (pending.length > 0)
    throw new CopyError(
      `The source lacks the migrations ${pending.join(', ')}. Run tallystick migrate with its DATABASE_URL first.`,
    )
  await requireEmpty(target)
  // If this copy applies the migrations, all rows of the target come from migrations, and the rows of the source replace them.
  let isFresh = false
  const onApplied = () => {
    isFresh = true
  }
  const tables: CopiedTable[] = []
  await withOpen(openMigrated(target, { ...wanted, queues, onApplied }), ({ db }) =>
    copyData(source, db, { isFresh, onCopied: (table) => tables.push(table) }),
  )
  return tables
}

async function requireEmpty({ url, setting }: Place) {
  if (!isServer(url) && !containsDatabase(url)) return
  await withOpen(openForLongWork(url, setting), async ({ db }) => {
    const filled = await findFilledTable(db, (await readCatalogue(db)).tables)
    if (filled !== undefined) throw filledError(filled)
  })
}

/** Opens the target after its migrations. On a server, without the timeouts of a service, because the copy can take long. */
async function openMigrated({ url, setting }: Place, options: Parameters<typeof open>[1]) {
  if (!isServer(url)) return open(url, options)
  await migrate(url, { ...options, setting })
  return openForLongWork(url, setting)
}

/** Runs `work`, and closes the database. */
async function withOpen<Result>(
  opening: Promise<OpenDatabase>,
  work: (opened: OpenDatabase) => Promise<Result>,
) {
  const opened = await opening
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}
