import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { rename, rm, statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { gunzip, gzip } from 'node:zlib'

import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { tryLock } from 'fs-native-extensions'

import { codeOf } from './errors.ts'
import { makeContentsPrivate, makeFolderPrivate, makePrivate } from './private.ts'

// Sets a V8 flag to the default value of Node 24. With the default value of Node 20, V8 spends a third of the CPU time
// of the start on optimizing the WebAssembly code of PostgreSQL.
setFlagsFromString('--wasm-tiering-budget=13000000')

const { TextDecoder } = globalThis

class DecoderWithByteOrderMark extends TextDecoder {
  constructor(label?: string, options?: ConstructorParameters<typeof TextDecoder>[1]) {
    super(label, { ...options, ignoreBOM: true })
  }
}

/** Replaces the global TextDecoder. Returns the function that restores TextDecoder. */
function replaceDecoder() {
  globalThis.TextDecoder = DecoderWithByteOrderMark
  return () => {
    globalThis.TextDecoder = TextDecoder
  }
}

/**
 * PGlite decodes texts with `new TextDecoder('utf-8')`, which removes U+FEFF at the start of a text. PGlite creates the
 * decoder in its constructor, and again in `execProtocol` after a failed statement. In both cases, this class replaces
 * TextDecoder only while PGlite creates the decoder. The class can be deleted when a release of PGlite passes
 * engine/test/db/texts.slow.test.ts without the class.
 */
const keepByteOrderMarks = (Base: typeof PGlite) =>
  class extends Base {
    override async execProtocolRaw(...parameters: Parameters<PGlite['execProtocolRaw']>) {
      const bytes = await super.execProtocolRaw(...parameters)
      const restoreDecoder = replaceDecoder()
      // The first microtask runs before `execProtocol` continues, and the second after `execProtocol` has created its decoder.
      queueMicrotask(() => {
        queueMicrotask(restoreDecoder)
      })
      return bytes
    }
  }

async function openClient(Base: typeof PGlite, options: PGliteOptions) {
  const client = createClient(keepByteOrderMarks(Base), options)
  await client.waitReady
  return client
}

function createClient(Client: typeof PGlite, options: PGliteOptions) {
  const restoreDecoder = replaceDecoder()
  try {
    return new Client(options)
  } finally {
    restoreDecoder()
  }
}

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

/** The major version of PostgreSQL of the installed PGlite. */
const POSTGRES_VERSION = '18'

/** The latest release of PGlite that reads the data of a major version of PostgreSQL. */
const PGLITE_RELEASES = new Map([
  ['16', '0.2.17'],
  ['17', '0.4.6'],
])

/** Thrown if another major version of PostgreSQL has written the data folder. */
export class OtherVersion extends Error {}

/**
 * Returns the PGlite that reads a folder: the installed release, or for the data of PostgreSQL 17 the package `pglite-17` of
 * the working folder, an older release under this name. Throws OtherVersion.
 */
function findPGlite(folder: string): typeof PGlite {
  if (!containsDatabase(folder)) return PGlite
  const version = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()
  if (version === POSTGRES_VERSION) return PGlite
  const require = createRequire(join(process.cwd(), 'package.json'))
  const name = `pglite-${version}`
  try {
    return (require(name) as { PGlite: typeof PGlite }).PGlite
  } catch (error) {
    if (codeOf(error) !== 'MODULE_NOT_FOUND') throw error
  }
  const release = PGLITE_RELEASES.get(version)
  const reader =
    release === undefined
      ? ''
      : ` To read it, run: npm install --no-save ${name}@npm:@electric-sql/pglite@${release}`
  throw new OtherVersion(
    `${folder} has data of PostgreSQL ${version}, and this release reads PostgreSQL ${POSTGRES_VERSION}. See "Another version of the embedded database" in docs/operation.md.${reader}`,
  )
}

/**
 * Starts the embedded PostgreSQL with a data folder, or in memory (`memory:`). Applies no migrations. Throws
 * FolderInUse.
 */
export async function start(folder: string) {
  const inMemory = folder === 'memory:'
  const release = inMemory ? () => undefined : lockFolder(folder)
  const keepPrivate = () => {
    if (!inMemory) makeContentsPrivate(folder)
  }
  let Base: typeof PGlite
  try {
    Base = findPGlite(folder)
  } catch (error) {
    release()
    throw error
  }
  keepPrivate()
  const client = await openClient(Base, { dataDir: inMemory ? 'memory://' : folder }).catch(
    async (error: unknown) => {
      release()
      if (inMemory || !(await isAlmostFull(folder))) throw error
      throw new Error(
        `${folder}: the disk is almost full, so the embedded database cannot start. Free space.`,
        {
          cause: error,
        },
      )
    },
  )
  // Makes the files private that PostgreSQL created during the start. While PostgreSQL runs, it creates more files with
  // mode 0644. Until the next start, only the mode of the folder protects these files.
  keepPrivate()
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

export const containsDatabase = (folder: string) => existsSync(join(folder, 'PG_VERSION'))

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
    // Decompresses the dump before PGlite reads it, because PGlite ends the process if decompression fails.
    const loadDataDir = new Blob([await promisify(gunzip)(dumped)])
    const client = await PGlite.create(folder, { loadDataDir })
    await client.query('select from drizzle.__drizzle_migrations')
    await client.close()
    makeContentsPrivate(folder)
  } catch (cause) {
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
