import { closeSync, existsSync, openSync } from 'node:fs'
import { rename, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

import { PGlite } from '@electric-sql/pglite'
import { tryLock } from 'fs-native-extensions'

import { readEmptyDatabase, unpackArchive } from './empty-database.ts'
import { containsDatabase, findPGlite, openClient } from './pglite.ts'
import { makeContentsPrivate, makeFolderPrivate, makePrivate } from './private.ts'

/**
 * Free space below which the database refuses writes, in bytes. PostgreSQL needs 16 MiB for the next file of its WAL. If
 * PGlite cannot create this file, the commit never returns, and blocks the process.
 */
const MIN_FREE_SPACE = 64 * 1024 * 1024
/** Interval between checks of the free space, in milliseconds. */
const SPACE_INTERVAL = 1000

async function isAlmostFull(folder: string) {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize < MIN_FREE_SPACE
}

/** Makes the database read-only while its disk is almost full. Returns the function that ends the checks. */
function protectFromFullDisk(client: PGlite, folder: string) {
  let isReadOnly = false
  const check = async () => {
    const isFull = await isAlmostFull(folder)
    if (isFull === isReadOnly) return
    await client.exec(`set default_transaction_read_only = ${isFull ? 'on' : 'off'}`)
    isReadOnly = isFull
  }
  const timer = setInterval(() => void check().catch(() => undefined), SPACE_INTERVAL).unref()
  return () => {
    clearInterval(timer)
  }
}

/** Thrown if another process uses the data folder. */
export class FolderInUse extends Error {}

/** Starts the embedded PostgreSQL with a data folder, or in memory (`memory:`). Applies no migrations. Throws FolderInUse. */
export async function start(folder: string) {
  const inMemory = folder === 'memory:'
  const release = inMemory ? () => undefined : lockFolder(folder)
  const client = await (inMemory ? openInMemory() : openFolder(folder)).catch(async (error: unknown) => {
    release()
    if (inMemory || !(await isAlmostFull(existsSync(folder) ? folder : dirname(folder)))) throw error
    throw new Error(
      `${folder}: the disk is almost full, so the embedded database cannot start. Free space.`,
      { cause: error },
    )
  })
  const endChecks = inMemory ? () => undefined : protectFromFullDisk(client, folder)
  return {
    client,
    /** Returns a compressed archive of the whole folder. Statements wait until PGlite has read all files. */
    dump: async () => {
      const files = await client.dumpDataDir('none')
      return promisify(gzip)(await files.arrayBuffer())
    },
    close: async () => {
      endChecks()
      await client.close()
      release()
    },
  }
}

const openInMemory = async () => openClient(PGlite, { dataDir: 'memory://', ...(await readEmptyDatabase()) })

async function openFolder(folder: string) {
  if (!containsDatabase(folder)) await createDatabase(folder)
  const Base = findPGlite(folder)
  makeContentsPrivate(folder)
  const client = await openClient(Base, { dataDir: folder })
  // Makes the files private that PostgreSQL created during the start. While PostgreSQL runs, it creates more files with
  // mode 0644. Until the next start, only the mode of the folder protects these files.
  makeContentsPrivate(folder)
  return client
}

/**
 * Creates a database beside its folder, so that a process that is killed leaves no part of a database. If the folder exists, for
 * example as the mount point of a volume, creates the database in it.
 */
async function createDatabase(folder: string) {
  const fresh = existsSync(folder) ? folder : `${folder}.new`
  if (fresh !== folder) await rm(fresh, { recursive: true, force: true })
  makeFolderPrivate(fresh)
  const client = await openClient(PGlite, { dataDir: fresh, ...(await readEmptyDatabase()) })
  await client.close()
  if (fresh !== folder) await rename(fresh, folder)
}

/**
 * Locks a folder, because writes would be lost if two processes used the same folder. Returns a function that
 * releases the lock. The operating system also releases the lock when the process ends.
 */
function lockFolder(folder: string) {
  makeFolderPrivate(dirname(folder))
  const file = openSync(`${folder}.lock`, 'a', 0o600)
  makePrivate(`${folder}.lock`, 0o600)
  if (!tryLock(file)) {
    closeSync(file)
    throw new FolderInUse(
      `Another process uses the embedded database in ${folder}. Stop it, or set DATA_DIR to another folder, or set DATABASE_URL to a PostgreSQL server, which several processes can share.`,
    )
  }
  return () => {
    closeSync(file)
  }
}

/** Returns a compressed archive of a folder that no process uses. Throws FolderInUse while the service runs. */
export async function dumpFolder(folder: string): Promise<Buffer> {
  if (!containsDatabase(folder)) throw new Error(`There is no database in ${folder}.`)
  const { dump, close } = await start(folder)
  try {
    return await dump()
  } finally {
    await close()
  }
}

/**
 * Replaces the database in a folder with a dump. Before the replacement, opens the dump in a separate folder, so that
 * an invalid dump changes nothing. Renames the previous folder instead of deleting it. Returns the new name of the
 * previous folder, or undefined if there was no previous folder.
 */
export async function restore(folder: string, dumped: Buffer, replace: boolean) {
  const release = lockFolder(folder)
  const fresh = `${folder}.new`
  try {
    if (containsDatabase(folder) && !replace)
      throw new Error(`${folder} already contains a database. To replace it by the backup, add --force.`)
    await rm(fresh, { recursive: true, force: true })
    makeFolderPrivate(fresh)
    await unpack(dumped, fresh)
    return await replaceFolder(folder, fresh)
  } finally {
    await rm(fresh, { recursive: true, force: true })
    release()
  }
}

/** Deletes the database in a folder. Throws FolderInUse while the service runs. */
export async function removeFolder(folder: string) {
  if (!containsDatabase(folder)) throw new Error(`There is no database in ${folder}.`)
  const release = lockFolder(folder)
  try {
    await rm(folder, { recursive: true })
  } finally {
    release()
  }
}

async function unpack(dumped: Buffer, folder: string) {
  try {
    const client = await PGlite.create(folder, { loadDataDir: await unpackArchive(dumped) })
    await client.query('select from drizzle.__drizzle_migrations')
    await client.close()
    makeContentsPrivate(folder)
  } catch (cause) {
    // Throws OtherVersion, with the next step, for a backup of another version of PostgreSQL.
    findPGlite(folder)
    throw new Error('This is no whole backup of a Tallystick database. Nothing was changed.', { cause })
  }
}

async function replaceFolder(folder: string, fresh: string) {
  const before = existsSync(folder)
    ? `${folder}.before-${new Date().toISOString().replaceAll(':', '-')}`
    : undefined
  if (before !== undefined) await rename(folder, before)
  await rename(fresh, folder)
  return before
}
