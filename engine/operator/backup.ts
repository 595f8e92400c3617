import { fstatSync, type Stats } from 'node:fs'
import { open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'

import * as embedded from '../db/connection/embedded.ts'
import { isServer } from '../db/connection/open.ts'
import { BACKUP, requestFromService } from './service-socket.ts'
import { readCommandSettings, type CommandContext } from './command-context.ts'

/**
 * Writes a backup to standard output (`-`), or to a file. Writes directly to a pipe or a device, and replaces only regular files.
 */
export async function backup(context: CommandContext, file: string) {
  const folder = await requireEmbeddedDatabase(context, 'pg_dump --format=custom')
  const content = await embedded.dumpFolder(folder).catch((error: unknown) => {
    if (!(error instanceof embedded.FolderInUse)) throw error
    return requestFromService(context, error, BACKUP)
  })
  const existing = await stat(file).catch(() => undefined)
  if (file === '-' || isStandardOutput(existing)) {
    await writeToStandardOutput(content)
    return
  }
  if (existing && !existing.isFile()) await writeFile(file, content)
  // A symbolic link stays a link to the new file.
  else await writeAtomically(existing ? await realpath(file) : file, content)
  context.print(
    `Wrote a backup of ${folder} to ${file}. The backup contains secrets: protect it like the database.`,
  )
}

export async function restore(context: CommandContext, file: string, { force = false }: { force?: boolean }) {
  const folder = await requireEmbeddedDatabase(context, 'pg_restore')
  const previous = await embedded.restore(folder, await readFile(file), force)
  context.print(`Restored ${folder} from ${file}.`)
  if (previous !== undefined) context.print(`The previous database is in ${previous}, until you delete it.`)
}

/** Resolves when the reader has accepted everything. Rejects if the reader has gone before. */
const writeToStandardOutput = (content: Buffer) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.once('error', reject)
    process.stdout.write(content, (error) => {
      if (error) reject(error)
      else resolve()
    })
  })

/** Whether a file is what standard output is connected to, for example /dev/stdout. */
function isStandardOutput(file: Stats | undefined) {
  const output = fstatSync(process.stdout.fd)
  return file?.dev === output.dev && file.ino === output.ino
}

async function requireEmbeddedDatabase(context: CommandContext, alternative: string) {
  const { databaseUrl } = await readCommandSettings(context)
  if (isServer(databaseUrl))
    throw new Error(
      `This command supports only the embedded database. DATABASE_URL is a PostgreSQL server: use ${alternative}.`,
    )
  return databaseUrl
}

/** Replaces a file atomically: writes a temporary file, and renames it to the final name. Only the owner can read the file. */
async function writeAtomically(file: string, content: Buffer) {
  const temporary = `${file}.${process.pid}.part`
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
