import { randomUUID } from 'node:crypto'
import { createWriteStream, type Dir } from 'node:fs'
import { mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { type Files, isKey, requireKey, toWebStream } from './storage.ts'

/** The end of the name of a file that is not complete. */
const PARTIAL = '.partial'

/** Opens a folder as storage. The first file creates the folder, which only the account of the process can read. */
export function openFolder(folder: string): Files {
  const pathOf = (key: string) => join(folder, requireKey(key))
  return {
    async put(body) {
      const key = randomUUID()
      const path = pathOf(key)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = createWriteStream(path + PARTIAL, { flags: 'wx', mode: 0o600, flush: true })
      try {
        await pipeline(Readable.fromWeb(body), file)
        await rename(path + PARTIAL, path)
      } catch (error) {
        await rm(path + PARTIAL, { force: true })
        throw error
      }
      await syncFolder(folder)
      return { key, size: file.bytesWritten }
    },

    async get(key, range) {
      const file = await ifFound(open(pathOf(key)))
      return file && toWebStream(file.createReadStream(range))
    },

    async remove(key) {
      const path = pathOf(key)
      await Promise.all([path, path + PARTIAL].map((each) => rm(each, { force: true })))
    },

    // Also lists incomplete files, so that the sweep removes what a killed process has left.
    async *list() {
      const entries: Iterable<never> | Dir = (await ifFound(opendir(folder))) ?? []
      for await (const { name } of entries) {
        const key = name.endsWith(PARTIAL) ? name.slice(0, -PARTIAL.length) : name
        const found = isKey(key) && (await ifFound(stat(join(folder, name))))
        if (found) yield { key, storedAt: found.mtime }
      }
    },
  }
}

/** Another process may remove a file at any time. */
const ifFound = <Value>(value: Promise<Value>) =>
  value.catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })

/** Makes the name of a new file durable, before a row refers to the file. Windows cannot open folders. */
async function syncFolder(folder: string) {
  if (process.platform === 'win32') return
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
