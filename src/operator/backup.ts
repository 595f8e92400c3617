import { open, readFile, rename, rm } from 'node:fs/promises'

import * as embedded from '../../db/embedded.ts'
import { isServer } from '../../db/index.ts'
import { readCommandSettings, type CommandContext } from './command-context.ts'

export async function backup(shell: CommandContext, file: string) {
  const folder = folderOf(shell, 'pg_dump --format=custom')
  await writeWhole(file, await embedded.dump(folder))
  shell.print(`${file} has all of ${folder}, and is as secret.`)
}

export async function restore(shell: CommandContext, file: string, { force = false }: { force?: boolean }) {
  const folder = folderOf(shell, 'pg_restore')
  const before = await embedded.restore(folder, await readFile(file), force)
  shell.print(`${folder} has all of ${file}.`)
  if (before !== undefined) shell.print(`What was there before is in ${before}, until you delete it.`)
}

function folderOf(shell: CommandContext, instead: string) {
  const { databaseUrl } = readCommandSettings(shell)
  if (isServer(databaseUrl))
    throw new Error(`This is for the embedded database. DATABASE_URL is a server: use ${instead}`)
  return databaseUrl
}

/** The file is there with all of it, for its owner alone, or as it was before. */
async function writeWhole(file: string, content: Buffer) {
  const part = `${file}.${process.pid}.part`
  try {
    const handle = await open(part, 'wx', 0o600)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(part, file)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
