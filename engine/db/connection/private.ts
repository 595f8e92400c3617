import { chmodSync, mkdirSync, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

import { codeOf } from '../errors.ts'

/** Thrown if all users of the machine have access to a file or folder, and this process cannot remove the access. */
export class ExposedError extends Error {}

const GROUP = 0o070
const OTHERS = 0o007

/**
 * Creates a folder with mode 0700, or changes the mode of an existing folder. On Windows, only creates the folder.
 * Throws ExposedError.
 */
export function makeFolderPrivate(folder: string) {
  try {
    createFolder(resolve(folder))
  } catch (error) {
    throw new Error(`DATA_DIR: the folder ${folder} cannot be created (${codeOf(error)})`, { cause: error })
  }
  makePrivate(folder, 0o700)
}

/**
 * Creates a folder and its missing parents. Node.js has an option for this purpose, which never returns if a parent
 * exists and the folder cannot be created in it (ENOENT in /proc).
 */
function createFolder(folder: string) {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(folder) !== folder) createFolder(dirname(folder))
  try {
    mkdirSync(folder, 0o700)
  } catch (error) {
    // Another process can create the folder at the same time.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/**
 * Makes a folder and its contents private. If a group still has access, warns about the folder, but not about each
 * file in the folder. Does not follow symbolic links. Throws ExposedError.
 */
export function makeContentsPrivate(folder: string) {
  makeFolderPrivate(folder)
  restrictContents(folder)
}

function restrictContents(folder: string) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isFile()) restrict(path, 0o600)
    if (!entry.isDirectory()) continue
    restrict(path, 0o700)
    restrictContents(path)
  }
}

/**
 * Changes the mode of a file or folder if this process owns it and other users have access. If a group still has
 * access, warns. If all users still have access, throws ExposedError.
 */
export function makePrivate(path: string, mode: 0o600 | 0o700) {
  const stats = restrict(path, mode)
  if (stats && isExposed(stats, GROUP))
    process.emitWarning(`The group ${stats.gid} has access to ${path}, which this process does not own.`)
}

function restrict(path: string, mode: 0o600 | 0o700) {
  const { geteuid } = process
  if (!geteuid) return undefined
  let stats = statSync(path)
  if (isExposed(stats, GROUP | OTHERS) && stats.uid === geteuid()) {
    tryChmod(path, mode)
    stats = statSync(path)
  }
  // This process cannot change the mode of a path that another user owns, such as a mounted volume.
  if (isExposed(stats, OTHERS)) throw new ExposedError(describeExposure(path, stats.uid, geteuid()))
  return stats
}

const describeExposure = (path: string, owner: number, user: number) =>
  owner === user
    ? `Every user of this machine has access to ${path}, and its file system does not support permissions. Set DATA_DIR to a folder on another file system.`
    : `Every user of this machine has access to ${path}, which belongs to user ${owner}, and the service runs as user ${user}. As user ${owner} or as root, run chmod o-rwx ${path}, or set DATA_DIR to a folder that belongs to user ${user}.`

const isExposed = ({ mode }: Stats, users: number) => (mode & users) !== 0

/** Ignores errors, because some file systems do not support modes. The caller checks the mode afterwards. */
function tryChmod(path: string, mode: number) {
  try {
    chmodSync(path, mode)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}
