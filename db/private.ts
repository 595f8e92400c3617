import { chmodSync, mkdirSync, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'

/** Other users have access that this process cannot take away. */
export class ExposedError extends Error {}

const GROUP = 0o070
const OTHERS = 0o007

/**
 * Creates a folder where there is none, and makes a folder that exists already private: 0700. Windows has no such modes.
 * Throws ExposedError.
 */
export function makeFolderPrivate(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  makePrivate(folder, 0o700)
}

/** Makes the files and folders of a folder private too, with one warning for all. Does not follow symbolic links. */
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

/** Restricts a file or folder to its owner, where this process is the owner. Warns where a group keeps its access. */
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
  // A mounted volume: its modes are decided elsewhere.
  if (isExposed(stats, OTHERS))
    throw new ExposedError(
      `Every user of this machine has access to ${path}. Run chmod o-rwx ${path}, or set DATA_DIR to another folder.`,
    )
  return stats
}

const isExposed = ({ mode }: Stats, to: number) => (mode & to) !== 0

/** Some file systems keep no modes. What is left exposed is found afterwards. */
function tryChmod(path: string, mode: number) {
  try {
    chmodSync(path, mode)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}
